import { formatOf } from '../../agents/files/formats.ts';
import { formatAge } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { directoryOf } from '../../model/path.ts';
import { EMPTY_PLAN, type Plan } from '../../model/plan.ts';
import { identityOf } from '../../model/snapshot.ts';
import { calls, nameAndPid } from '../../words/process.ts';
import type { OrchestratedAgent } from '../heartbeats/orchestrated.ts';
import { planEnd } from './end.ts';
import { type Family, familyOf } from './family.ts';
import { type EndPolicy, sweepPolicy } from './policy.ts';
import type { SweepRequest } from './sweep-facts.ts';
import { fileAct } from './sweep-file-act.ts';
import { planLooseFiles } from './sweep-loose-files.ts';
import {
  type FileAct,
  type SessionAct,
  type SweepPlan,
  type SweepRefusal,
  sweepBytes,
} from './sweep-plan.ts';
import { whySessionKept } from './sweep-session.ts';

/**
 * The orchestrator's own watchdog gives an agent this long. An agent may report `completed` and still be
 * waiting for its last answer; only a stream log that ends with a result is the end itself.
 */
const SILENCE_SECONDS = 120;

/** Where an orchestrator keeps what it knows of all its tasks. */
const databaseOf = ({ taskDirectory }: OrchestratedAgent): string =>
  `${directoryOf(taskDirectory)}/registry/state.sqlite3`;

/** tmux allows neither in a name. */
const sessionNameOf = (id: string): string => `agent_${id.replace(/[.:]/g, '_')}`;

/** Why what is said of this agent is no ground for anything; null: it is. */
const whyNotBelieved = (agent: OrchestratedAgent, { facts, files }: SweepRequest): string | null => {
  // Files whose word ends an agent: they must be ours.
  const evidence = agent.files.filter(file => formatOf(file.reading).evidence === 'agent');
  const told = agent.registry === null ? evidence : [agent.registry, ...evidence];
  for (const path of [...told.map(({ reading }) => reading.path), databaseOf(agent)]) {
    const why = facts.unsafe.get(path);
    if (why !== undefined) return `${path} is not acted on: ${why}`;
  }
  if (agent.sessionName !== sessionNameOf(agent.id))
    return `its registry calls its session ${agent.sessionName}, which is not the session of an agent of that name`;
  if (agent.panes.length === 0) return null;
  const other = files.orchestrated.find(one => one !== agent && one.sessionName === agent.sessionName);
  return other === undefined ? null : `${other.taskDirectory} claims the session ${agent.sessionName} too`;
};

/** Why everything of this agent is left alone; null: it may be swept. */
const whyNot = (agent: OrchestratedAgent, family: Family, request: SweepRequest): string | null => {
  const { facts } = request;
  const disbelieved = whyNotBelieved(agent, request);
  if (disbelieved !== null) return disbelieved;
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
  if (outside !== undefined) return `${calls(outside)} still works for it outside its session`;
  return whySessionKept(agent, family, request);
};

const isOver = (agent: OrchestratedAgent, leftover: ReadonlySet<string>): boolean =>
  agent.finished !== null || leftover.has(agent.files[0]?.reading.path ?? '');

/** What runs in the session of a finished agent may have nothing of an agent left: a shell, a tee. */
const SESSION_POLICY: EndPolicy = { ...sweepPolicy(), verdicts: [...sweepPolicy().verdicts, 'unknown'] };

const planProcesses = (agent: OrchestratedAgent, { snapshot, lineageMembers }: SweepRequest): Plan => {
  const pids = new Set(agent.panes.map(pane => pane.pid));
  const targets = snapshot.processes.filter(p => pids.has(p.facts.pid)).map(identityOf);
  return targets.length === 0
    ? EMPTY_PLAN
    : planEnd({ snapshot, lineageMembers, targets, policy: SESSION_POLICY });
};

const fileActs = (agent: OrchestratedAgent, { facts }: SweepRequest): FileAct[] =>
  agent.files.flatMap(({ reading }) => {
    const why = agent.finished ?? 'its agent is gone';
    const act = fileAct(reading, facts, { why, agent: agent.id });
    return act === null ? [] : [act];
  });

/** All panes are of one session: a second one of that name is a reason to leave both. */
const sessionActs = (agent: OrchestratedAgent, ending: Plan): SessionAct[] =>
  agent.panes.slice(0, 1).map(({ socket, sessionId, session }) => ({
    socket,
    sessionId,
    session,
    agent: agent.id,
    processes: ending.steps.map(step => keyOf(step)),
    why: agent.finished ?? 'its agent is gone',
  }));

/** Of agents of which nothing was refused. */
const mergePlans = (plans: readonly Plan[]): Plan => ({
  ...EMPTY_PLAN,
  steps: plans.flatMap(plan => plan.steps),
  bytes: plans.reduce((sum, plan) => sum + plan.bytes, 0),
});

/** Files that may not be touched are named, not silently left out. */
const refusedFiles = ({ facts, files }: SweepRequest): SweepRefusal[] =>
  files.joined.flatMap(({ reading, state }) => {
    const why = facts.unsafe.get(reading.path);
    return why !== undefined && state === 'leftover' ? [{ what: reading.path, why }] : [];
  });

/** What finished agents left: their sessions, their files, and what nobody will ever clear. Pure. */
export const planSweep = (request: SweepRequest): SweepPlan => {
  const family = familyOf(request.snapshot);
  const refused: SweepRefusal[] = [];
  const plans: Plan[] = [];
  const sessions: SessionAct[] = [];
  const files: FileAct[] = [];
  const leftover = new Set(
    request.files.joined.filter(file => file.state === 'leftover').map(file => file.reading.path),
  );
  for (const agent of request.files.orchestrated) {
    if (!isOver(agent, leftover)) continue;
    const why = whyNot(agent, family, request);
    const ending = why === null ? planProcesses(agent, request) : EMPTY_PLAN;
    const [stopper] = ending.refused;
    const kept =
      why ?? (stopper === undefined ? null : `${nameAndPid(stopper.name, stopper.pid)}: ${stopper.why}`);
    if (kept !== null) {
      refused.push({ what: `agent ${agent.id}`, why: kept });
      continue;
    }
    plans.push(ending);
    sessions.push(...sessionActs(agent, ending));
    files.push(...fileActs(agent, request));
  }
  files.push(...planLooseFiles(request));
  refused.push(...refusedFiles(request));
  return { ending: mergePlans(plans), sessions, files, refused, ...sweepBytes(files) };
};
