import { formatAge } from '../../model/format.ts';
import { EMPTY_PLAN, type Plan } from '../../model/plan.ts';
import { identityOf } from '../../model/snapshot.ts';
import type { OrchestratedAgent } from '../heartbeats/orchestrated.ts';
import { planEnd } from './end.ts';
import { type EndPolicy, sweepPolicy } from './policy.ts';
import type { SweepRequest } from './sweep-facts.ts';
import { SWEPT_FORMATS } from './sweep-formats.ts';
import { planLooseFiles } from './sweep-loose-files.ts';
import {
  type FileAct,
  type SessionAct,
  type SweepPlan,
  type SweepRefusal,
  sweepBytes,
} from './sweep-plan.ts';

/**
 * The orchestrator's own watchdog gives an agent this long. An agent may report `completed` and still be
 * waiting for its last answer; only a stream log that ends with a result is the end itself.
 */
const SILENCE_SECONDS = 120;

/** Why everything of this agent is left alone; null: it may be swept. */
const whyNot = (agent: OrchestratedAgent, { facts }: SweepRequest): string | null => {
  if (agent.sessionUnknown) return 'a tmux server did not answer: whether its session lives is unknown';
  if (agent.panes.some(pane => pane.attached))
    return `somebody is attached to its session ${agent.sessionName}`;
  const growing = agent.files.find(file => facts.growing.has(file.reading.path));
  if (growing !== undefined) return `${growing.reading.path} still grows`;
  const stream = agent.files.find(file => file.reading.format === 'stream-log');
  const fresh =
    stream !== undefined && !stream.reading.terminal && (stream.ageSeconds ?? 0) < SILENCE_SECONDS;
  if (fresh && agent.panes.length + agent.processes.length > 0)
    return `its stream log changed ${formatAge(stream.ageSeconds)} ago and has no result yet`;
  const outside = agent.processes.find(p => p.tmux?.session !== agent.sessionName);
  if (outside !== undefined)
    return `${outside.name} (${outside.facts.pid}) still works for it outside its session`;
  return null;
};

const isOver = (agent: OrchestratedAgent, { files }: SweepRequest): boolean =>
  agent.finished !== null ||
  (agent.files.length > 0 &&
    files.joined.some(f => f.state === 'leftover' && f.reading.path === agent.files[0]?.reading.path));

/** What runs in the session of a finished agent may have nothing of an agent left: a shell, a tee, a sleep. */
const SESSION_POLICY: EndPolicy = { ...sweepPolicy(), verdicts: [...sweepPolicy().verdicts, 'unknown'] };

const planProcesses = (agent: OrchestratedAgent, { snapshot, lineageMembers }: SweepRequest): Plan => {
  const pids = new Set(agent.panes.map(pane => pane.pid));
  const targets = snapshot.processes.filter(p => pids.has(p.facts.pid)).map(identityOf);
  return targets.length === 0
    ? EMPTY_PLAN
    : planEnd({ snapshot, lineageMembers, targets, policy: SESSION_POLICY });
};

const fileActs = (agent: OrchestratedAgent): FileAct[] =>
  agent.files.flatMap(({ reading }) => {
    const act = SWEPT_FORMATS.get(reading.format);
    if (act === undefined) return [];
    return [
      {
        act,
        path: reading.path,
        to: act === 'archive' ? `${agent.taskDirectory}/archive` : null,
        root: reading.root,
        bytes: reading.size,
        why: agent.finished ?? 'its agent is gone',
        agent: agent.id,
        seen: { mtimeMs: reading.mtime, size: reading.size },
      },
    ];
  });

const sessionActs = (agent: OrchestratedAgent): SessionAct[] => {
  const unique = new Map(agent.panes.map(pane => [`${pane.socket} ${pane.sessionId}`, pane]));
  return [...unique.values()].map(({ socket, sessionId, session }) => ({
    socket,
    sessionId,
    session,
    agent: agent.id,
    why: agent.finished ?? 'its agent is gone',
  }));
};

const mergePlans = (plans: readonly Plan[]): Plan => ({
  steps: plans.flatMap(plan => plan.steps),
  refused: plans.flatMap(plan => plan.refused),
  files: [],
  bytes: plans.reduce((sum, plan) => sum + plan.bytes, 0),
});

/** What finished agents left: their sessions, their files, and what nobody will ever clear. Pure. */
export const planSweep = (request: SweepRequest): SweepPlan => {
  const refused: SweepRefusal[] = [];
  const plans: Plan[] = [];
  const sessions: SessionAct[] = [];
  const files: FileAct[] = [];
  for (const agent of request.files.orchestrated) {
    if (!isOver(agent, request)) continue;
    const why = whyNot(agent, request);
    const ending = why === null ? planProcesses(agent, request) : EMPTY_PLAN;
    const stopper = ending.refused[0];
    if (why !== null || stopper !== undefined) {
      refused.push({
        what: `agent ${agent.id}`,
        why: why ?? `${stopper?.name} (${stopper?.pid}): ${stopper?.why}`,
      });
      continue;
    }
    plans.push(ending);
    sessions.push(...sessionActs(agent));
    files.push(...fileActs(agent));
  }
  files.push(...planLooseFiles(request));
  const safe = files.filter(({ path }) => {
    const why = request.facts.unsafe.get(path);
    if (why !== undefined) refused.push({ what: path, why });
    return why === undefined;
  });
  return { ending: mergePlans(plans), sessions, files: safe, refused, ...sweepBytes(safe) };
};
