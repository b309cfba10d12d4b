import { closeSync, constants, fchmodSync, fstatSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { userConfigPath } from '../engine/load-config.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import {
  BROAD_KILLS,
  type HookCaller,
  type HookInput,
  type HookSession,
  type HookSettings,
} from '../model/hook.ts';
import type { Identity } from '../model/identity.ts';
import type { JsonObject } from '../model/json.ts';
import { visible } from '../model/text.ts';
import {
  isDirectory,
  ownFileAt,
  realDirectory,
  specsRoot,
  taskDirectories,
} from '../observe/files/project.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { ageSeconds, ancestors } from '../observe/one-process.ts';
import { openOwn, writeWhole } from '../observe/state/own-file.ts';
import { makeStateDirectory, stateDirectory } from '../observe/state/state-directory.ts';
import { taskNumberIn, tasksNamedIn } from './decide/input.ts';
import { MOST_TASKS, newSession } from './session-state.ts';

/** Everything an event is answered from. */
export interface HookContext {
  readonly input: HookInput;
  readonly env: NodeJS.ProcessEnv;
  readonly config: HookConfig;
  /** Null: there is no place to remember anything. */
  readonly directory: string | null;
  /** The agent whose hook this is; null where that is unknown. */
  readonly agent: Identity | null;
  readonly now: number;
  /** Milliseconds that may still be waited: the rest of the hook's time is for its work. */
  readonly left: () => number;
  readonly timeIsUp: () => Promise<void>;
  readonly log: (what: string) => void;
}

/** What stands between an agent and its hook. */
const BETWEEN = new Set(['sh', 'dash', 'bash', 'zsh', 'fish', 'ksh', 'env', 'timeout', 'nice', 'setsid']);

/** The agent that started us: the one it says itself, if that is above us, else the first that is no shell. */
const agentAbove = (env: NodeJS.ProcessEnv, caller: HookCaller): Identity | null => {
  const above = ancestors(process.ppid);
  // A Codex below a Claude has the mark of that one.
  const said = caller === 'codex' ? undefined : above.find(({ pid }) => String(pid) === env.CLAUDE_PID);
  const found = said ?? above.find(({ comm }) => !BETWEEN.has(comm));
  return found === undefined ? null : { pid: found.pid, start: found.start };
};

/** However long anything takes, a hook answers in this time. */
export const hookLimitMs = (event: string): number => (event === 'SessionEnd' ? 1000 : 2000);
/** Of which this is kept for what follows a wait. */
const WORK_MS = 600;

export const hookContext = (
  input: HookInput,
  env: NodeJS.ProcessEnv,
  startedAt = Date.now(),
): HookContext => {
  const directory = stateDirectory(env);
  const until = startedAt + hookLimitMs(input.event) - WORK_MS;
  const left = (): number => Math.max(0, until - Date.now());
  return {
    input,
    env,
    config: hookConfig(env),
    directory,
    agent: agentAbove(env, input.caller),
    now: Date.now(),
    left,
    timeIsUp: () => new Promise(resolve => setTimeout(resolve, left()).unref()),
    log: what => logHook(directory, input.event, input.sessionId, what),
  };
};

export const claudeDirectory = (env: NodeJS.ProcessEnv): string | null =>
  env.CLAUDE_CONFIG_DIR || (env.HOME ? join(env.HOME, '.claude') : null);

/** Below Claude's own directory: a plugin that is loaded from where it lies. */
export const PLUGIN_PLACE = join('skills', 'reaptop');
export const PLUGIN_MANIFEST = join('.claude-plugin', 'plugin.json');

/** Claude Code loads our plugin: from the skills directory unless it is switched off there, or from a marketplace. */
export const hasPlugin = (env: NodeJS.ProcessEnv): boolean => {
  const claude = claudeDirectory(env);
  if (claude === null) return false;
  const read = readHead(join(claude, 'settings.json'), 1024 ** 2, { ours: true });
  const settings = read.ok ? read.text : '';
  return (
    (ownFileAt(join(claude, PLUGIN_PLACE, PLUGIN_MANIFEST)) !== null &&
      !/"reaptop@skills-dir"\s*:\s*false/.test(settings)) ||
    /"reaptop@[\w.-]+"\s*:\s*true/.test(settings)
  );
};

/** A session whose start is unknown is as old as its process. */
export const freshSession = ({ input, agent, now }: HookContext): HookSession => {
  const age = input.event === 'SessionStart' || agent === null ? 0 : (ageSeconds(agent) ?? 0);
  return newSession(input.sessionId, input.cwd, agent, now - age * 1000);
};

/**
 * The directory of a task of this project that a path names or lies in; null: it is another project's, or reached
 * through a link.
 */
const taskAt = (path: string, root: string): string | null => {
  const full = resolve(root, path);
  for (const { index } of full.matchAll(/\/specs(?=\/|$)/g)) {
    if (realDirectory(full.slice(0, index) || '/', root) !== root) continue;
    const name = full.slice(index + '/specs/'.length).split('/')[0] ?? '';
    const directory = join(root, 'specs', name);
    if (name !== '' && isDirectory(directory)) return directory;
    return name === '' || name.startsWith('.postflight-') ? join(root, 'specs') : null;
  }
  return null;
};

const added = (before: readonly string[], found: readonly string[]): readonly string[] =>
  found.length === 0
    ? before
    : [...new Set([...before.filter(task => !found.includes(task)), ...found])].slice(-MOST_TASKS);

/** The tasks of its own project that a session has named, and those that it was started for or wrote to. */
export const tasksAfter = (
  { input }: HookContext,
  before: Pick<HookSession, 'tasks' | 'works'>,
): Pick<HookSession, 'tasks' | 'works'> => {
  const texts = [...input.toolTexts, input.prompt ?? ''];
  const number = input.prompt === null ? null : taskNumberIn(input.prompt);
  const isSilent =
    number === null && !texts.some(text => text.includes('specs')) && !input.cwd.includes('/specs/');
  const root = isSilent ? null : specsRoot(input.cwd);
  if (root === null) return { tasks: before.tasks, works: before.works };
  const at = (paths: readonly string[]): readonly string[] =>
    paths.map(path => taskAt(path, root)).filter(task => task !== null);
  const numbered = number === null ? [] : taskDirectories(root).filter(task => numberOf(task) === number);
  const works = [
    ...at([input.cwd]),
    ...at(input.written),
    ...at(tasksNamedIn([input.prompt ?? ''])),
    ...(numbered.length === 1 ? numbered : []),
  ];
  return {
    tasks: added(before.tasks, [...at(tasksNamedIn(texts)), ...works]),
    works: added(before.works, works),
  };
};

const numberOf = (task: string): string | null => /^0*(\d+)_/.exec(basename(task))?.[1] ?? null;

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

/** The task that this session works on: the last that it was started for or wrote to. */
export const taskOf = (session: Pick<HookSession, 'works'>): TaskPlace | null => {
  const task = session.works.findLast(isSeedsTask);
  return task === undefined ? null : placeOf(task);
};

/** Why a hook did what it did: one line each, for people. */
const HOOK_LOG = 'hook.log';

const MOST_BYTES = 1024 ** 2;

/** Not pino: loading it takes as long as the whole hook. What cannot be written is not missed. */
export const logHook = (
  directory: string | null,
  event: string,
  session: string | null,
  what: string,
): void => {
  if (directory === null) return;
  const path = join(directory, HOOK_LOG);
  try {
    makeStateDirectory(directory);
    const fd = openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    try {
      fchmodSync(fd, 0o600);
      if (fstatSync(fd).size >= MOST_BYTES) renameSync(path, `${path}.1`);
      const line = { time: new Date().toISOString(), event, session, what: visible(what).slice(0, 500) };
      writeWhole(fd, `${JSON.stringify(line)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // A full or read-only disk: the answer matters, not the line about it.
  }
};

/** What hooks need of the user's config. */
export interface HookConfig extends HookSettings {
  readonly limitBytes: number;
  readonly deadlockSeconds: number;
}

const DEFAULTS: HookConfig = {
  ...DEFAULT_CONFIG.hooks,
  limitBytes: DEFAULT_CONFIG.thresholds['over-memory'].limitBytes,
  deadlockSeconds: DEFAULT_CONFIG.thresholds['marker-age'].criticalSeconds,
};

const objectAt = (value: unknown, name: string): JsonObject => {
  const inner = (value as JsonObject | null)?.[name];
  return typeof inner === 'object' && inner !== null ? (inner as JsonObject) : {};
};

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;

/**
 * The few settings of hooks, picked without the schema: loading that takes longer than a hook may. What is wrong there
 * is said by every other command; here the default stands in.
 */
const hookConfig = (env: NodeJS.ProcessEnv): HookConfig => {
  const path = userConfigPath(env);
  const read = path === null ? null : readHead(path);
  if (read === null || !read.ok) return DEFAULTS;
  let parsed: unknown;
  try {
    parsed = JSON.parse(read.text);
  } catch {
    return DEFAULTS; // every other command says so, and exits
  }
  const hooks = objectAt(parsed, 'hooks');
  const thresholds = objectAt(parsed, 'thresholds');
  const { limit } = objectAt(hooks, 'turns');
  const tools = hooks.buildTools;
  return {
    prebuild: hooks.prebuild === true,
    throttle: hooks.throttle === true,
    turns: { limit: Number.isInteger(limit) && Number(limit) > 0 ? Number(limit) : DEFAULTS.turns.limit },
    buildTools: Array.isArray(tools) ? tools.filter(tool => typeof tool === 'string') : DEFAULTS.buildTools,
    broadKills: BROAD_KILLS.find(choice => choice === hooks.broadKills) ?? DEFAULTS.broadKills,
    limitBytes: positive(objectAt(thresholds, 'over-memory').limitBytes, DEFAULTS.limitBytes),
    deadlockSeconds: positive(objectAt(thresholds, 'marker-age').criticalSeconds, DEFAULTS.deadlockSeconds),
  };
};
