import { formatOf } from '../../agents/files/formats.ts';
import { type FileFinding, fileThreshold } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import { directoryOf, orchestratedTaskDirectory } from '../../model/path.ts';
import { EMPTY_PLAN, type EndPolicy, type Plan } from '../../model/plan.ts';
import { isZombie, pidForItself } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, nameAndPid } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { JudgedFile } from '../heartbeats/judge-files.ts';
import type { OrchestratedAgent } from '../heartbeats/orchestrated.ts';
import { sweepPolicy } from './compose.ts';
import { planEnd } from './end.ts';
import { type PlanFamily, planFamily } from './refuse.ts';
import {
  type ArchivedFile,
  type FileAct,
  type SessionAct,
  type SweepFacts,
  type SweepPlan,
  type SweepRefusal,
  type SweepRequest,
  sweepBytes,
} from './sweep-plan.ts';

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

/** Why what is said of this agent is no context for anything; null: it is. */
const whyNotBelieved = (agent: OrchestratedAgent, { facts, files }: SweepRequest): string | null => {
  // Files whose word ends an agent: they must be ours.
  const evidence = agent.files.filter(file => formatOf(file.reading).evidenceFor === 'agent');
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
const whyNot = (agent: OrchestratedAgent, family: PlanFamily, request: SweepRequest): string | null => {
  const { facts } = request;
  const disbelieved = whyNotBelieved(agent, request);
  if (disbelieved !== null) return disbelieved;
  if (agent.sessionUnknown) return 'a tmux server did not answer: whether its session lives is unknown';
  if (agent.panes.some(pane => pane.attached))
    return `a client is attached to its session ${agent.sessionName}`;
  const growing = agent.files.find(file => facts.growing.has(file.reading.path));
  if (growing !== undefined) return `${growing.reading.path} still grows`;
  const stream = agent.files.find(file => file.reading.format === 'stream-log');
  const fresh =
    stream !== undefined && !stream.reading.terminal && (stream.ageSeconds ?? 0) < SILENCE_SECONDS;
  if (fresh && agent.panes.length + agent.processes.length > 0)
    return `its stream log changed ${formatAge(stream.ageSeconds)} ago and has no result yet`;
  const outside = agent.processes.find(p => p.tmux?.session !== agent.sessionName);
  if (outside !== undefined) return `${label(outside)} still works for it outside its session`;
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

/** What finished agents left: their sessions, their files, and what nothing else will ever clear. Pure. */
export const planSweep = (request: SweepRequest): SweepPlan => {
  const family = planFamily(request.snapshot);
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

/** Where a file of this kind is archived: beside the task's other directories, or beside itself. */
export const archiveOf = ({ path }: Pick<Reading, 'path'>): string =>
  `${orchestratedTaskDirectory(path) ?? directoryOf(path)}/archive`;

/** What becomes of a file that is not needed any more; null: nothing, or not what it was when it was read. */
export const fileAct = (
  reading: Reading,
  facts: SweepFacts,
  { why, agent }: Pick<FileAct, 'why' | 'agent'>,
): FileAct | null => {
  const act = formatOf(reading).sweepAction;
  const seen = facts.seen.get(reading.path);
  if (act === null || seen === undefined) return null;
  if (seen.mtimeMs !== reading.mtime || seen.size !== reading.size) return null;
  const to = act === 'archive' ? archiveOf(reading) : null;
  const toWithin = to === null ? null : (facts.directories.get(directoryOf(to)) ?? null);
  if (to !== null && toWithin === null) return null;
  return { act, path: reading.path, to, toWithin, root: reading.root, bytes: reading.size, why, agent, seen };
};

const DAY_SECONDS = 86_400;

type Useless = (file: JudgedFile, age: number, isOld: boolean) => string | null;

/** What is of no use to anybody when no agent is there, by the finding that speaks of it. */
const USELESS = {
  'heartbeat-stale': () => null,
  'heartbeat-missing': () => null,
  'lock-stale': ({ state, reason }) => (state === 'warn' ? reason : null),
  'marker-age': ({ reason }, age, isOld) =>
    isOld ? (reason ?? `no agent is running, and it is ${formatAge(age)} old`) : null,
  // A hook writes the guard again at every stop; one that rested as long as a dead marker is dead too.
  'loop-guard': (_file, age, isOld) =>
    isOld ? `no agent is running; counter unchanged for ${formatAge(age)}` : null,
} satisfies Record<FileFinding, Useless>;

/** Why a file that belongs to no orchestrated agent is of no use to anybody any more; null: it may be. */
const whyUseless = (file: JudgedFile, { files }: SweepRequest): string | null => {
  const { reading, state, reason, candidates, ageSeconds } = file;
  if (state === 'leftover') return reason;
  const { thresholds } = formatOf(reading);
  // A lock, marker or guard of an agent that lives is that agent's business, however stale it looks.
  if (candidates.length > 0 || thresholds === null) return null;
  if (thresholds === 'lock-stale') return USELESS[thresholds](file);
  if (ageSeconds === null) return null;
  const old = ageSeconds >= fileThreshold(files.config, 'marker-age', reading.root).criticalSeconds;
  return USELESS[thresholds](file, ageSeconds, old);
};

const expire = ({ path, root, archivedAt, seen }: ArchivedFile, request: SweepRequest): FileAct[] => {
  const age = (request.files.now - archivedAt) / 1000;
  if (age < request.retentionDays * DAY_SECONDS) return [];
  const why = `archived ${formatAge(age)} ago, to be kept for ${request.retentionDays} days`;
  return [{ act: 'expire', path, to: null, toWithin: null, root, bytes: seen.size, why, agent: null, seen }];
};

/** Leftovers of single tasks, and archives that were kept long enough. */
const planLooseFiles = (request: SweepRequest): FileAct[] => {
  const { files, facts } = request;
  const loose = files.joined.flatMap((file): FileAct[] => {
    const { reading } = file;
    if (reading.agentId !== null || facts.growing.has(reading.path)) return [];
    const why = whyUseless(file, request);
    const act = why === null ? null : fileAct(reading, facts, { why, agent: null });
    return act === null ? [] : [act];
  });
  return [...loose, ...facts.archives.flatMap(archived => expire(archived, request))];
};

/** An agent that is not seen to move for this long, and that says it is done, is done. */
const STILL_SECONDS = 600;

/** Words of Claude's session file that mean nothing is being done; a word we do not know may mean work. */
const AT_REST: ReadonlySet<string | null> = new Set(['idle', 'waiting', null]);

/** What stands beside an agent in the pipeline that the orchestrator starts. */
const PIPELINE: ReadonlySet<string> = new Set(['tee', 'cat']);

/** Everything that runs in the panes of one session. */
interface Inside {
  readonly members: readonly JudgedProcess[];
  readonly agents: readonly JudgedProcess[];
  /** How many of the agents are below no other. */
  readonly outermost: number;
  /** The agents and all that is below them. */
  readonly ofAgents: ReadonlySet<JudgedProcess | null>;
  readonly aboveAgents: ReadonlySet<JudgedProcess>;
}

const lookInside = (roots: readonly JudgedProcess[], family: PlanFamily): Inside => {
  const members = roots.flatMap(root => family.subtreeOf(root)).filter(p => !isZombie(p.facts));
  const agents = members.filter(p => p.kind === 'agent');
  const ofAgents = new Set<JudgedProcess | null>(agents.flatMap(agent => family.subtreeOf(agent)));
  const aboveAgents = new Set(agents.flatMap(agent => family.ancestorsOf(agent)));
  const outermost = agents.filter(agent => !ofAgents.has(family.parentOf(agent)));
  return { members, agents, outermost: outermost.length, ofAgents, aboveAgents };
};

/** A shell that runs a command or a script; one that waits for input belongs to a user. */
const runsCommand = ({ facts }: JudgedProcess): boolean => {
  const [first, ...more] = facts.argv?.slice(1) ?? [];
  return first !== undefined && (!first.startsWith('-') || [first, ...more].some(w => /^-\w*c$/.test(w)));
};

/** The shells and wrappers around an agent, and the rest of its pipeline. */
const isAround = (p: JudgedProcess, { aboveAgents }: Inside): boolean => {
  if (PIPELINE.has(p.facts.comm)) return true;
  if (p.kind === 'wrapper') return true;
  return p.kind === 'shell' && (aboveAgents.has(p) || runsCommand(p));
};

/** Why an agent that still runs, or the prompt it left, is not to be ended; null: everything about it has been still. */
const whyAgentKept = (agent: OrchestratedAgent, inside: Inside, request: SweepRequest): string | null => {
  const { files, stillSeconds = STILL_SECONDS } = request;
  const stream = agent.files.find(file => file.reading.format === 'stream-log');
  if (stream?.reading.terminal !== true && agent.member?.terminal !== true)
    return 'neither its registry nor its stream log says that it is done, and its session is still there';
  const moving = inside.members.find(p => p.facts.cpu === null || p.facts.cpu > 0);
  if (moving !== undefined)
    return moving.facts.cpu === null
      ? `whether ${label(moving)} uses CPU is not known`
      : `${label(moving)} used CPU while we looked`;
  const still = agent.panes.map(pane => (pane.activity === null ? 0 : files.now / 1000 - pane.activity));
  const quiet = Math.min(...still);
  if (quiet < stillSeconds) return `its pane showed something ${formatAge(Math.max(quiet, 0))} ago`;
  const transcripts = files.joined.filter(
    ({ reading, candidates }) =>
      reading.format === 'transcript' && candidates.some(one => inside.agents.includes(one)),
  );
  const fresh = [...transcripts, stream].find(
    file => file !== undefined && (file.ageSeconds === null || file.ageSeconds < stillSeconds),
  );
  if (fresh !== undefined)
    return `its ${fresh === stream ? 'stream log' : 'transcript'} changed ${formatAge(fresh.ageSeconds)} ago`;
  const records = files.sessions.filter(({ pid, procStart }) =>
    inside.agents.some(
      p => pidForItself(p.facts) === pid && (procStart === null || procStart === p.facts.start),
    ),
  );
  const busy = records.find(record => !AT_REST.has(record.status));
  if (busy !== undefined) return `Claude's own session file says ${busy.status}`;
  const told = stream?.reading.sessionId ?? null;
  return told !== null && records.length > 0 && records.every(record => record.sessionId !== told)
    ? 'the agent in its session works for another Claude session than its stream log'
    : null;
};

/** Nothing but prompts: what `claude … | tee log` leaves in its pane. Anything that a shell runs is its child. */
const isIdle = ({ members, agents }: Inside, roots: readonly (JudgedProcess | undefined)[]): boolean =>
  agents.length === 0 &&
  members.every(p => p.kind === 'shell' && roots.includes(p)) &&
  !members.every(runsCommand);

/** Why the session of a finished agent is left alone; null: nothing in it is anybody else's, and nothing moves. */
const whySessionKept = (
  agent: OrchestratedAgent,
  family: PlanFamily,
  request: SweepRequest,
): string | null => {
  const { panes } = agent;
  if (new Set(panes.map(pane => `${pane.socket} ${pane.sessionId}`)).size > 1)
    return `more than one session is called ${agent.sessionName}`;
  const roots = panes.map(pane => request.snapshot.processes.find(p => p.facts.pid === pane.pid));
  if (roots.includes(undefined)) return `what runs in its session ${agent.sessionName} is not known`;
  const inside = lookInside(roots as JudgedProcess[], family);
  if (isIdle(inside, roots)) return whyAgentKept(agent, inside, request);
  const stranger = inside.members.find(p => !inside.ofAgents.has(p) && !isAround(p, inside));
  if (stranger !== undefined)
    return `${label(stranger)} runs in its session ${agent.sessionName} and does not belong to its agent`;
  if (inside.outermost > 1)
    return `${inside.outermost} agents run in its session ${agent.sessionName}: it is not known which one has finished`;
  return inside.agents.length === 0 ? null : whyAgentKept(agent, inside, request);
};
