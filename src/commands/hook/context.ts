import { basename, dirname, join } from 'node:path';
import { logHook } from '../../act/hooks/hook-log.ts';
import { newSession } from '../../act/hooks/session-state.ts';
import { type HookConfig, hookConfig } from '../../collect/hook-settings.ts';
import { tasksNamedIn } from '../../judge/hooks/input.ts';
import type { HookInput, HookSession } from '../../model/hook.ts';
import type { Identity } from '../../model/identity.ts';
import { ownFileAt, realDirectory, specsRoot } from '../../observe/files/project.ts';
import { ageSeconds, ancestors } from '../../observe/procfs/kin.ts';
import { stateDirectory } from '../../observe/state/state-directory.ts';

/** Everything an event is answered from. */
export interface HookContext {
  readonly input: HookInput;
  readonly env: NodeJS.ProcessEnv;
  readonly config: HookConfig;
  /** Null: there is no place to remember anything. */
  readonly directory: string | null;
  /** The agent whose hook this is; null where that cannot be told. */
  readonly agent: Identity | null;
  readonly now: number;
  /** Milliseconds that may still be waited: the rest of the hook's time is for its work. */
  readonly left: () => number;
  readonly log: (what: string) => void;
}

/** What stands between an agent and its hook. */
const BETWEEN = new Set(['sh', 'dash', 'bash', 'zsh', 'fish', 'ksh', 'env', 'timeout', 'nice', 'setsid']);

/** The agent that started us: the one it says itself, if that is above us, else the first that is no shell. */
const agentAbove = (env: NodeJS.ProcessEnv): Identity | null => {
  const above = ancestors(process.ppid);
  const said = above.find(({ pid }) => String(pid) === env.CLAUDE_PID);
  const found = said ?? above.find(({ comm }) => !BETWEEN.has(comm));
  return found === undefined ? null : { pid: found.pid, start: found.start };
};

/** However long anything takes, a hook answers in this time. */
export const hookLimitMs = (event: string): number => (event === 'SessionEnd' ? 1000 : 2000);
/** Of which this is kept for what follows a wait. */
const WORK_MS = 600;

export const contextOf = (input: HookInput, env: NodeJS.ProcessEnv, startedAt = Date.now()): HookContext => {
  const directory = stateDirectory(env);
  const until = startedAt + hookLimitMs(input.event) - WORK_MS;
  return {
    input,
    env,
    config: hookConfig(env),
    directory,
    agent: agentAbove(env),
    now: Date.now(),
    left: () => Math.max(0, until - Date.now()),
    log: what => logHook(directory, input.event, input.sessionId, what),
  };
};

/** A session whose start nobody told us is as old as its process. */
export const freshSession = ({ input, agent, now }: HookContext): HookSession => {
  const age = input.event === 'SessionStart' || agent === null ? 0 : (ageSeconds(agent) ?? 0);
  return newSession(input.sessionId, input.cwd, agent, now - age * 1000);
};

const MOST_TASKS = 16;

/** Task directories that this tool call names, behind those that earlier ones named. */
export const namedTasks = ({ input }: HookContext, before: readonly string[]): readonly string[] => {
  const named = tasksNamedIn(input.toolTexts);
  if (named.length === 0) return before;
  const base = specsRoot(input.cwd) ?? input.cwd;
  const found = named
    .map(path => realDirectory(path, base))
    .filter(path => path !== null)
    .filter(path => basename(path) === 'specs' || basename(dirname(path)) === 'specs');
  return [...new Set([...before.filter(task => !found.includes(task)), ...found])].slice(-MOST_TASKS);
};

const rootOf = (task: string): string =>
  basename(task) === 'specs' ? dirname(task) : dirname(dirname(task));

export interface TaskPlace {
  readonly root: string;
  readonly directory: string;
}

export const placeOf = (task: string): TaskPlace => ({ root: rootOf(task), directory: task });

export const MARKER = '.postflight-pending';
export const GUARD = '.postflight-loop-guard';

/** Where the seeds' way of working is in use; other directories called specs are left alone. */
const SIGNS = ['.agent-progress.json', MARKER, GUARD, '.return-meta.json'];

export const isSeedsTask = (directory: string): boolean =>
  SIGNS.some(name => ownFileAt(join(directory, name)) !== null);

/** The task that this session works on, as far as its tool calls tell. */
export const taskOf = (session: Pick<HookSession, 'tasks'>): TaskPlace | null => {
  const task = session.tasks.findLast(isSeedsTask);
  return task === undefined ? null : placeOf(task);
};
