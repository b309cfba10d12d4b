import { formatBytes } from '../../model/format.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import type { Outcome, Plan, Refusal, SignalName, Step } from '../../model/plan.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import type { ActRequest } from '../live.ts';

/** Plans over the invented machine, shaped like the planner's but with none of its care: nothing here is ever signalled. */
const rootsOf = (request: ActRequest, snapshot: Snapshot): readonly JudgedProcess[] => {
  const byPid = new Map(snapshot.processes.map(p => [p.facts.pid, p]));
  if (request.act === 'clean')
    return snapshot.processes.filter(
      p => p.verdict === 'leak' && byPid.get(p.facts.ppid ?? 0)?.verdict !== 'leak',
    );
  if (request.act === 'zombies') return snapshot.processes.filter(p => p.zombies > 0 && p.verdict !== 'leak');
  const wanted = new Set(request.targets.map(keyOf));
  return snapshot.processes.filter(p => wanted.has(keyOf(identityOf(p))));
};

const leavesFirst = (root: JudgedProcess, snapshot: Snapshot): readonly JudgedProcess[] => [
  ...snapshot.processes
    .filter(p => p.facts.ppid === root.facts.pid && !isZombie(p.facts))
    .flatMap(child => leavesFirst(child, snapshot)),
  root,
];

const signalOf = (request: ActRequest): SignalName => {
  if (request.act === 'zombies') return 'SIGCHLD';
  if (request.act === 'signal') return request.signal;
  return request.act === 'end' && request.force ? 'SIGKILL' : 'SIGTERM';
};

/** Nothing on this machine is shared. */
const heldBy = (p: JudgedProcess, signal: SignalName): Pick<Step, 'rss' | 'pss'> => {
  const rss = signal === 'SIGTERM' || signal === 'SIGKILL' ? memoryOf(p.facts) : 0;
  return { rss, pss: rss };
};

const step = (p: JudgedProcess, root: Identity, signal: SignalName, why: string): Step => ({
  ...identityOf(p),
  name: p.name,
  command: p.command,
  signal,
  ...heldBy(p, signal),
  ageSeconds: p.ageSeconds,
  why,
  root,
  stopped: p.facts.state === 'T',
  confirm: p.protection === 'soft',
});

const reason = (p: JudgedProcess, request: ActRequest): string => {
  if (request.act === 'zombies') return `nudge: it owes the wait for ${p.zombies} zombies`;
  if (p.verdict === 'leak' || p.verdict === 'suspect' || p.protection) return p.why[0] ?? p.verdict;
  return 'you asked for it';
};

export const demoPlan = (request: ActRequest, snapshot: Snapshot): Plan => {
  const steps: Step[] = [];
  const refused: Refusal[] = [];
  const taken = new Set<string>();
  for (const root of rootsOf(request, snapshot)) {
    const members =
      request.act === 'zombies' || request.act === 'signal' ? [root] : leavesFirst(root, snapshot);
    const hard = members.find(p => p.protection === 'hard');
    if (hard) {
      refused.push({ ...identityOf(root), name: root.name, why: hard.protectedBecause ?? 'protected' });
      continue;
    }
    for (const p of members) {
      if (taken.has(keyOf(identityOf(p)))) continue;
      taken.add(keyOf(identityOf(p)));
      steps.push(step(p, identityOf(root), signalOf(request), reason(p, request)));
    }
  }
  return { steps, refused, files: [], bytes: steps.reduce((sum, s) => sum + s.rss, 0) };
};

/** Leaked lean workers ignore TERM in this demo, so that a kill is seen as well. */
export const demoOutcome = (s: Step): Outcome => {
  const base = { pid: s.pid, start: s.start, name: s.name };
  if (s.signal === 'SIGCHLD') return { ...base, outcome: 'ended', why: 'it reaped its zombies', freed: 0 };
  const stubborn = s.signal === 'SIGKILL' || (s.name === 'lean --worker' && s.rss > 2e9);
  const why = stubborn ? 'with SIGKILL, 5 s after SIGTERM' : 'with SIGTERM';
  return { ...base, outcome: stubborn ? 'killed' : 'ended', why, freed: s.rss };
};

export const demoSummary = (outcomes: readonly Outcome[]): string => {
  const ended = outcomes.filter(o => o.outcome === 'ended').length;
  const killed = outcomes.filter(o => o.outcome === 'killed').length;
  const freed = outcomes.reduce((sum, o) => sum + o.freed, 0);
  const parts = [ended > 0 ? `${ended} ended` : '', killed > 0 ? `${killed} killed` : ''].filter(Boolean);
  return `${parts.join(', ')}, ${formatBytes(freed)} back`;
};
