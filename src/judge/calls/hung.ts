import { callLogOf } from '../../agents/call-logs.ts';
import type { Call } from '../../model/call.ts';
import type { Config } from '../../model/config.ts';
import type { Severity } from '../../model/finding.ts';
import { type Forest, forestOf } from '../../model/forest.ts';
import { keyOf } from '../../model/identity.ts';
import type { Observation } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import { type JudgedProcess, label } from '../../model/snapshot.ts';
import { plural } from '../../model/units.ts';
import type { Past } from '../history.ts';
import { sessionsByProcess } from '../rules/agent-records.ts';

interface CallContext {
  readonly observation: Observation;
  readonly config: Config;
  readonly past: Past;
}

type Limits = Config['thresholds']['call-hung'];

const isShell = (call: Call, agent: JudgedProcess): boolean =>
  call.server === null && (callLogOf(agent.agent)?.shells.includes(call.tool) ?? false);

/** null: a tool of the agent itself, which takes as long as it takes. */
const limitOf = (call: Call, agent: JudgedProcess, { tools, warnSeconds }: Limits): number | null => {
  if (isShell(call, agent)) return tools[call.tool] ?? tools.Bash ?? null;
  return call.server === null ? null : (tools[call.tool] ?? warnSeconds);
};

/** Critical as much later than its own limit as other calls are later than theirs. A command never is. */
const severityOf = (call: Call, limit: number, { warnSeconds, criticalSeconds }: Limits): Severity =>
  call.server !== null && call.seconds! >= Math.max(criticalSeconds, limit * (criticalSeconds / warnSeconds))
    ? 'critical'
    : 'warn';

/** So many samples in a row without work. */
const IDLE_SAMPLES = 3;
/** More bytes than this between two samples are work; less is a conversation about nothing. */
const MOVED_BYTES = 64 * 1024;
const STOPPED = /^[Tt]$/;

/** yes, no, or unknown: whether a process has done nothing for three samples. */
const isIdle = ({ facts }: JudgedProcess, { past, observation }: CallContext): boolean | null => {
  if ((facts.activity?.bytes ?? 0) > MOVED_BYTES) return false;
  const samples = past.idleSamples({
    key: keyOf(facts),
    cpuSeconds: facts.cpuSeconds,
    at: observation.takenAt,
  });
  return samples === null || (samples > 0 && samples < IDLE_SAMPLES) ? null : samples >= IDLE_SAMPLES;
};

/** A tree works when one of it does, and is idle when all of it is. */
const treeIsIdle = (members: readonly JudgedProcess[], context: CallContext): boolean | null => {
  const idle = members.filter(({ facts }) => !isZombie(facts)).map(p => isIdle(p, context));
  return idle.includes(false) ? false : idle.includes(null) ? null : true;
};

/** Whatever a command still writes is older than this. */
const STILL_SECONDS = 60;

/** A command whose output cannot be seen may be writing. */
const outputIsStill = (members: readonly JudgedProcess[], { observation }: CallContext): boolean => {
  const written = members.flatMap(({ facts }) => facts.details?.outputAt ?? []);
  return written.length > 0 && written.every(at => observation.takenAt - at >= STILL_SECONDS * 1000);
};

interface Verdict {
  readonly hung: boolean;
  readonly why: string;
}

/** What the process that should work on a call does; null: nothing that is worth saying. */
const workOf = (
  call: Call,
  agent: JudgedProcess,
  forest: () => Forest<JudgedProcess>,
  context: CallContext,
): Verdict | 'unsampled' | null => {
  if (call.join === 'gone') return { hung: true, why: `its server ${call.server} is not running` };
  if (call.process === null) {
    if (call.server === null) return null;
    const which =
      call.candidates === undefined
        ? 'no process of its server is seen'
        : `which of ${call.candidates} processes is its server is not known`;
    return { hung: false, why: which };
  }
  const server = forest().at(call.process.pid);
  if (server === null || server.facts.start !== call.process.start) return null;
  const members = forest().subtreeOf(server);
  const zombies = members.filter(({ facts }) => isZombie(facts)).length;
  const idle = treeIsIdle(members, context);
  const stopped = STOPPED.test(server.facts.state);
  if (isShell(call, agent) && idle === null) return 'unsampled';
  if (isShell(call, agent))
    return idle === true && outputIsStill(members, context)
      ? { hung: true, why: `${label(server)} is idle and writes nothing` }
      : null;
  if (idle === false && !stopped) return { hung: false, why: `${label(server)} is at work` };
  // After a single sample nothing is known of its work: then only what can be seen at once counts.
  const signs = [
    stopped ? 'is stopped' : idle === true ? 'is idle' : '',
    zombies > 0 ? `has ${plural(zombies, 'zombie child', 'zombie children')}` : '',
  ].filter(Boolean);
  return signs.length === 0 ? 'unsampled' : { hung: true, why: `${label(server)} ${signs.join(' and ')}` };
};

/** What Claude writes while a session works; any other word, or none, may mean that it waits for its user. */
const AT_WORK: ReadonlySet<string | null | undefined> = new Set(['busy', 'working']);

/** The same processes, with what is known of calls that have taken longer than their limit. */
export const withLateCalls = (
  processes: readonly JudgedProcess[],
  context: CallContext,
): readonly JudgedProcess[] => {
  const limits = context.config.thresholds['call-hung'];
  const isLate = (call: Call, agent: JudgedProcess): boolean => {
    const limit = limitOf(call, agent, limits);
    return limit !== null && call.seconds !== null && call.seconds >= limit;
  };
  // One that waits for its user, or is idle, waits for no server.
  const hasLate = (agent: JudgedProcess): boolean =>
    agent.session?.doing === 'busy' && agent.session.calls?.some(call => isLate(call, agent)) === true;
  if (!processes.some(hasLate)) return processes;
  const sessionOf = sessionsByProcess(context.observation);
  let known: Forest<JudgedProcess> | null = null;
  const forest = (): Forest<JudgedProcess> => (known ??= forestOf(processes, p => p.facts));
  return processes.map(agent => {
    if (!hasLate(agent)) return agent;
    const session = agent.session!;
    const saysBusy = AT_WORK.has(sessionOf(agent)?.status);
    const calls = session.calls!.map(call => {
      const work = isLate(call, agent) ? workOf(call, agent, forest, context) : null;
      if (work === null) return call;
      if (work === 'unsampled') return { ...call, unsampled: true } as const;
      const limit = limitOf(call, agent, limits)!;
      const severity = work.hung ? severityOf(call, limit, limits) : 'info';
      // Nothing tells whether it waits for its user, or that this is its server: nothing is done about that by itself.
      const doubts = work.hung
        ? [
            saysBusy ? '' : 'or it waits for your approval',
            call.join === 'only' && call.server !== null ? 'no other process can be its server' : '',
          ].filter(Boolean)
        : [];
      const late = {
        severity: doubts.length === 0 ? severity : 'warn',
        why: [work.why, ...doubts].join('; '),
      } as const;
      return { ...call, hung: work.hung, late };
    });
    return { ...agent, session: { ...session, calls } };
  });
};
