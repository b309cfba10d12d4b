import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { type IsReaptop, isCalledReaptop, type WantedHook } from '../../act/hooks/settings-edit.ts';
import { HOOK_EVENTS, type HookEvent } from '../../model/hook.ts';
import { readHead } from '../../observe/files/read-bounded.ts';

/** Which tools an event is asked for; null: all of them, or the event has none. */
const MATCHERS: Readonly<Record<HookEvent, 'builds' | 'all' | null>> = {
  SessionStart: null,
  UserPromptSubmit: null,
  PreToolUse: 'builds',
  PostToolUse: 'all',
  PostToolUseFailure: 'builds',
  SubagentStop: null,
  Stop: null,
  SessionEnd: null,
};

/** Seconds. Nothing takes as long; without one Claude waits ten minutes, and gives a session's end a second and a half. */
const TIMEOUTS: Readonly<Record<HookEvent, number>> = {
  SessionStart: 10,
  UserPromptSubmit: 10,
  PreToolUse: 10,
  PostToolUse: 10,
  PostToolUseFailure: 10,
  SubagentStop: 15,
  Stop: 15,
  SessionEnd: 5,
};

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const real = (path: string): string | null => {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
};

/**
 * How a hook starts us. By name when that name in PATH is this very program: it then outlives an upgrade of Node or of
 * reaptop. Else by node and script, with their full paths.
 */
export const ownCommand = (script: string, env: NodeJS.ProcessEnv): string => {
  const self = real(script) ?? script;
  const inPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map(directory => real(join(directory, 'reaptop')))
    .find(path => path !== null);
  return inPath === self ? 'reaptop' : `${quoted(process.execPath)} ${quoted(self)}`;
};

/** The command of each hook that starts this very program. */
export const ownHookCommand = (script: string, env: NodeJS.ProcessEnv): ((event: HookEvent) => string) => {
  const command = ownCommand(script, env);
  return event => `${command} hook ${event}`;
};

/** Whether a script in a settings file is this program: the one that runs now, or another installation of it. */
export const isReaptop =
  (own: string): IsReaptop =>
  script => {
    if (isCalledReaptop(script) || script === own) return true;
    const found = real(script) ?? script;
    if (found === (real(own) ?? own)) return true;
    const read = readHead(join(dirname(dirname(found)), 'package.json'));
    try {
      return read.ok && (JSON.parse(read.text) as { name?: unknown } | null)?.name === 'reaptop';
    } catch {
      return false;
    }
  };

/** A pattern of the config as Claude's matcher has it. */
const asMatcher = (patterns: readonly string[]): string =>
  patterns.map(pattern => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')).join('|');

export const wantedHooks = (
  command: (event: HookEvent) => string,
  buildTools: readonly string[],
  only: readonly HookEvent[] = HOOK_EVENTS,
): readonly WantedHook[] =>
  HOOK_EVENTS.filter(event => only.includes(event)).map(event => ({
    event,
    matcher: MATCHERS[event] === 'builds' ? asMatcher(buildTools) : MATCHERS[event] === 'all' ? '*' : null,
    command: command(event),
    timeout: TIMEOUTS[event],
  }));
