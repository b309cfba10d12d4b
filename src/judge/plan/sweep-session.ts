import { formatAge } from '../../model/format.ts';
import { isZombie, pidForItself } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import type { OrchestratedAgent } from '../heartbeats/orchestrated.ts';
import type { Family } from './family.ts';
import type { SweepRequest } from './sweep-facts.ts';

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

const lookInside = (roots: readonly JudgedProcess[], family: Family): Inside => {
  const members = roots.flatMap(root => family.subtreeOf(root)).filter(p => !isZombie(p.facts));
  const agents = members.filter(p => p.kind === 'agent');
  const ofAgents = new Set<JudgedProcess | null>(agents.flatMap(agent => family.subtreeOf(agent)));
  const aboveAgents = new Set(agents.flatMap(agent => family.ancestorsOf(agent)));
  const outermost = agents.filter(agent => !ofAgents.has(family.parentOf(agent)));
  return { members, agents, outermost: outermost.length, ofAgents, aboveAgents };
};

/** A shell that runs a command or a script; one that waits for somebody to type is somebody's. */
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
      ? `whether ${calls(moving)} uses CPU is not known`
      : `${calls(moving)} used CPU while we looked`;
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
export const whySessionKept = (
  agent: OrchestratedAgent,
  family: Family,
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
    return `${calls(stranger)} runs in its session ${agent.sessionName} and is none of its agent's`;
  if (inside.outermost > 1)
    return `${inside.outermost} agents run in its session ${agent.sessionName}: it is not known which one has finished`;
  return inside.agents.length === 0 ? null : whyAgentKept(agent, inside, request);
};
