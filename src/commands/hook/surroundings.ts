import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSession, SESSIONS } from '../../act/hooks/session-state.ts';
import type { HookSession } from '../../model/hook.ts';
import { readClaudeSessions } from '../../observe/files/claude-sessions.ts';
import { readHead } from '../../observe/files/read-bounded.ts';
import { isRunning, statAt } from '../../observe/procfs/kin.ts';
import type { HookContext } from './context.ts';

/** Who else is at work where a session stops. */

const claudeDirectory = (env: NodeJS.ProcessEnv): string | null =>
  env.CLAUDE_CONFIG_DIR || (env.HOME ? join(env.HOME, '.claude') : null);

type Fields = Readonly<Record<string, unknown>>;

const listAt = (value: unknown, name: string): readonly unknown[] => {
  const inner = (value as Fields | null | undefined)?.[name];
  return Array.isArray(inner) ? inner : [];
};

/** The name of the seeds' hook, in whatever way it is called. */
const SEEDS_HOOK = 'subagent-postflight';

const namesSeedsHook = (text: string): boolean => {
  if (!text.includes(SEEDS_HOOK)) return false;
  let hooks: Fields | undefined;
  try {
    hooks = (JSON.parse(text) as Fields | null)?.hooks as Fields | undefined;
  } catch {
    return true; // with comments, perhaps: better stand down than decide twice
  }
  return ['SubagentStop', 'Stop'].some(event =>
    listAt(hooks, event)
      .flatMap(group => listAt(group, 'hooks'))
      .some(hook => String((hook as Fields | null)?.command).includes(SEEDS_HOOK)),
  );
};

/** The seeds' own postflight hook is installed: it and we must not both decide. */
export const hasSeedsHook = ({ env }: HookContext, root: string): boolean => {
  const user = claudeDirectory(env);
  const files = [
    join(root, '.claude', 'settings.json'),
    join(root, '.claude', 'settings.local.json'),
    ...(user === null ? [] : [join(user, 'settings.json')]),
  ];
  return files.some(path => {
    const read = readHead(path, 1024 ** 2, { ours: true });
    return read.ok && namesSeedsHook(read.text);
  });
};

const isInside = (cwd: string | null, root: string): boolean =>
  cwd !== null && (cwd === root || cwd.startsWith(`${root}/`) || root.startsWith(`${cwd}/`));

/** Sessions that hooks of ours know of, besides this one, whose agent may still run. */
const othersWithHooks = ({ directory, input }: HookContext): readonly HookSession[] => {
  if (directory === null) return [];
  let names: string[];
  try {
    names = readdirSync(join(directory, SESSIONS));
  } catch {
    return []; // no session has hooks
  }
  return names
    .filter(name => name.endsWith('.json') && name !== `${input.sessionId}.json`)
    .slice(0, 1000)
    .flatMap(name => readSession(directory, name.slice(0, -'.json'.length)) ?? [])
    .filter(({ agent }) => agent !== null && isRunning(agent) !== false);
};

/** Another session that may still run works on this task. */
export const isSharedTask = (context: HookContext, task: string): boolean =>
  othersWithHooks(context).some(({ works }) => works.includes(task));

/** No other live session is in this project, as far as Claude's own files and ours tell. */
export const isAlone = (context: HookContext, root: string): boolean => {
  const { env, input } = context;
  if (othersWithHooks(context).some(({ cwd }) => isInside(cwd, root))) return false;
  const claude = claudeDirectory(env);
  if (claude === null) return false;
  const { sessions, strange } = readClaudeSessions([claude]);
  // A file that we do not understand may be somebody's.
  if (strange.some(({ pid }) => pid === null || statAt(pid) !== null)) return false;
  return !sessions.some(
    ({ pid, procStart, sessionId, cwd }) =>
      sessionId !== input.sessionId &&
      isInside(cwd, root) &&
      (procStart === null || isRunning({ pid, start: procStart }) !== false),
  );
};
