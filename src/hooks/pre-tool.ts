import { dirname, join, resolve } from 'node:path';
import { ownerOf } from '../act/record/file-lock.ts';
import { LAKE_COMMS } from '../agents/lean.ts';
import { starMatcher } from '../model/glob.ts';
import {
  broadKillsOf,
  type HeldLock,
  type HookAnswer,
  type HookSession,
  NO_ANSWER,
  SHELL_TOOL,
} from '../model/hook.ts';
import { nameAndPid } from '../model/snapshot.ts';
import { processesNamed } from '../observe/command-lines.ts';
import { projectOfDirectory, specsRoot } from '../observe/files/project.ts';
import { freshSession, type HookContext, taskOf } from './context.ts';
import { ask, deny, quoted, warnUser } from './decide/answers.ts';
import { type BuildDecision, type Busy, decideBuild } from './decide/build.ts';
import { broadKillsIn } from './decide/kill-command.ts';
import { DIAGNOSTIC_LOCK, foreignLock, makeDiagnosticLock } from './diagnostic-lock.ts';
import { type BuildHolder, buildHolder, takeBuildLock } from './exclusive-lock.ts';
import type { RunningBuild } from './running-builds.ts';
import { beaten, beatTask } from './session-heartbeat.ts';
import { readSession, updateSession } from './session-state.ts';

/** Builds everything; the other tools check one file. */
const BUILDS_ALL = /build/i;

/** The project that a tool call works on: the one it names, else that of its file, else that of the session. */
const projectFor = ({ input: { cwd, toolProject, toolFile } }: HookContext): string => {
  if (toolProject !== null) return projectOfDirectory(resolve(cwd, toolProject));
  return projectOfDirectory(toolFile?.startsWith('/') === true ? dirname(toolFile) : cwd);
};

const described = ({ by, session, what, since, pid }: BuildHolder, now: number): Busy => ({
  who:
    by === 'exclusive'
      ? `${quoted(what)} (${pid}, reaptop exclusive)`
      : `${quoted(what)} of session ${quoted(session ?? '?')}`,
  sinceSeconds: (now - since) / 1000,
});

/** What distinguishes one lake from another is loaded only when there is one. */
const runningBuilds = async (project: string): Promise<readonly RunningBuild[]> => {
  if (processesNamed(LAKE_COMMS).length === 0) return [];
  const { buildsOf } = await import('./running-builds.ts');
  return buildsOf(project);
};

/** Who is in the way: the lock's holder, another build, or a lock of the seeds' scripts. */
const inTheWay = async (context: HookContext, project: string): Promise<Busy | null> => {
  const { directory, input, now } = context;
  const holder = directory === null ? null : buildHolder(directory, project, now);
  if (holder !== null) return described(holder, now);
  const [build] = await runningBuilds(project);
  if (build !== undefined) return { who: nameAndPid(build.name, build.pid), sinceSeconds: build.ageSeconds };
  const own = directory === null ? [] : (readSession(directory, input.sessionId)?.locks ?? []);
  const ours = new Set(
    own.flatMap(({ beside }) => (beside === null ? [] : [join(beside.directory, DIAGNOSTIC_LOCK)])),
  );
  const roots = [project, specsRoot(input.cwd)].filter(root => root !== null);
  const foreign = foreignLock(roots, ours, now);
  return foreign === null
    ? null
    : { who: 'another program with a lock file', theirs: foreign.path, sinceSeconds: foreign.sinceSeconds };
};

interface Decided {
  readonly decision: BuildDecision;
  readonly after: HookSession;
}

type Remembering = HookContext & { readonly directory: string };

/** May it build now? If so, the project's lock is taken, unless another was quicker. */
const attempt = (
  context: Remembering,
  project: string,
  inTheWayBefore: Busy | null,
  before: HookSession,
): { readonly decision: BuildDecision; readonly taken: readonly HeldLock[] } => {
  const { input, config, directory, agent, now } = context;
  const tool = input.toolName ?? '';
  const decide = (busy: Busy | null): BuildDecision =>
    decideBuild({
      busy,
      denials: before.denials,
      isCheck: !BUILDS_ALL.test(tool),
      throttled: config.throttle,
      throttle: before.throttle,
    });
  const decision = decide(inTheWayBefore);
  if (decision.what !== 'take') return { decision, taken: [] };
  const mine: BuildHolder = {
    ...ownerOf(agent ?? { pid: process.ppid, start: '' }),
    by: 'hook',
    key: project,
    session: input.sessionId,
    toolUseId: input.toolUseId,
    what: tool,
    since: now,
  };
  const lock = takeBuildLock(directory, mine, now);
  if (lock.status === 'taken') return { decision, taken: [held(context, project, before)] };
  // Two came at once, and the other was quicker.
  if (lock.status === 'held') return { decision: decide(described(lock.holder, now)), taken: [] };
  context.log(`no build lock: ${lock.why}`);
  return { decision, taken: [] };
};

/** Decides, and remembers what was decided. */
const decided = (context: Remembering, project: string, busy: Busy | null): Decided | null =>
  updateSession(
    context.directory,
    context.input.sessionId,
    () => freshSession(context),
    before => {
      const { decision, taken } = attempt(context, project, busy, before);
      const denied = decision.what === 'deny';
      const after: HookSession = {
        ...beaten(context, before),
        diagnosticCalls: before.diagnosticCalls + (denied ? 0 : 1),
        skippedDiagnostics: before.skippedDiagnostics + (denied ? 1 : 0),
        denials: decision.denials,
        throttle: decision.throttle,
        locks: [...before.locks, ...taken],
      };
      return { after, result: { decision, after } };
    },
    { owed: { what: 'call' }, waitMs: context.left() },
  );

/** A broad kill may cost this much work on top of a hook, and this much waiting for a core on a busy machine. */
const LOOK_CPU_MS = 50;
const LOOK_WALL_MS = 500;
const LOOK_TICK_MS = 5;

/** Resolves when the time for a look is over. */
const lookIsOver = (): Promise<void> => {
  const [startedAt, before] = [Date.now(), process.cpuUsage()];
  return new Promise(resolve => {
    const timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1000 < LOOK_CPU_MS && Date.now() - startedAt < LOOK_WALL_MS) return;
      clearInterval(timer);
      resolve();
    }, LOOK_TICK_MS);
  });
};

const NOT_LOOKED =
  'it may end processes of others, and which those are could not be read in time. End your own by pid: reaptop --once --mine lists them.';

/** A command that kills by name, by port or everything, and would hit others; null: it goes through. */
const broadKill = async (context: HookContext): Promise<HookAnswer | null> => {
  const { input, config } = context;
  const choice = broadKillsOf(config, input.caller);
  const kills = choice === 'off' || input.command === null ? [] : broadKillsIn(input.command);
  if (kills.length === 0) return null;
  const { whoIsHit } = await import('./kill-targets.ts');
  const said = await Promise.race([whoIsHit(context, kills), lookIsOver().then(() => NOT_LOOKED)]);
  if (said === null) return null;
  const reason = `reaptop: ${quoted(kills[0]!.words)}: ${said}`;
  context.log(`${choice}: ${reason}`);
  // Codex cannot ask.
  return choice === 'deny' || input.caller === 'codex' ? deny(reason) : ask(reason);
};

/** PreToolUse: one build of a project at a time, and no broad kill. Every other tool goes through without a look. */
export const preTool = async (context: HookContext): Promise<HookAnswer> => {
  const { input, config, directory } = context;
  const tool = input.toolName ?? '';
  const kill = tool === SHELL_TOOL ? await broadKill(context) : null;
  if (kill !== null) return kill;
  if (!config.buildTools.some(pattern => starMatcher(pattern)(tool)) || directory === null) return NO_ANSWER;
  const project = projectFor(context);
  const done = decided({ ...context, directory }, project, await inTheWay(context, project));
  // What cannot be remembered must not block a session forever.
  if (done === null) return NO_ANSWER;
  const { decision, after } = done;
  const denied = decision.what === 'deny';
  beatTask(context, taskOf(after), {
    sessionIfNone: input.sessionId,
    operation: after.operation,
    calls: denied ? 0 : 1,
    skipped: denied ? 1 : 0,
  });
  if (decision.say === null) return NO_ANSWER;
  context.log(`${decision.what}: ${decision.say}`);
  return denied ? deny(decision.say) : warnUser('PreToolUse', decision.say);
};

/** The lock as the session remembers it, with the seeds' empty one beside it where their scripts look. */
const held = ({ input, now }: HookContext, key: string, session: HookSession): HeldLock => {
  const place = taskOf(session);
  const made = place !== null && makeDiagnosticLock(place.root, place.directory, now);
  return { key, toolUseId: input.toolUseId, agentId: input.agentId, beside: made ? place : null };
};
