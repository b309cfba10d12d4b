import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { homeDirectory } from '../engine/load-config.ts';
import type { InstalledHooks } from '../model/health.ts';
import { HOOK_EVENTS, type HookEvent, type HookSettings } from '../model/hook.ts';
import { visible } from '../model/text.ts';
import { formatAge, plural } from '../model/units.ts';
import { isRunning } from '../observe/one-process.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import {
  codexHooksPath,
  type InstallGround,
  isReaptop,
  ownHookCommand,
  SCOPES,
  settingsPath,
  wantedHooks,
} from './install.ts';
import { readSession, SESSIONS } from './session-state.ts';
import { FOR_CODEX, hooksIn, sharedCommand, Unfit, withHooks } from './settings-edit.ts';
import { readSettings } from './settings-file.ts';

const MOST_SESSIONS = 20;

const settingsLine = (path: string, { script, env }: InstallGround): string => {
  const command = ownHookCommand(script, env);
  try {
    const found = hooksIn(readSettings(path) ?? '', isReaptop(script));
    if (found.length === 0) return 'no hooks of reaptop';
    const events = new Set(found.map(({ event }) => event));
    const isCodex = found[0]!.command.endsWith(FOR_CODEX);
    // Codex has no such event.
    const all = HOOK_EVENTS.filter(event => !isCodex || event !== 'PostToolUseFailure');
    const missing = all.filter(event => !events.has(event));
    const ours = (event: HookEvent): readonly string[] =>
      isCodex ? [`${command(event)}${FOR_CODEX}`] : [command(event), sharedCommand(event)];
    const others = found.filter(({ command: theirs, event }) => !ours(event).includes(theirs));
    return [
      missing.length === 0
        ? `all ${all.length} hooks`
        : `${plural(events.size, 'hook')} (not ${missing.join(', ')})`,
      ...(others.length === 0
        ? []
        : [`${others.length} start another program: ${visible(others[0]!.command)}`]),
    ].join('; ');
  } catch (error) {
    if (error instanceof Unfit) return `cannot be read: ${error.message}`;
    throw error;
  }
};

const sessionLines = (directory: string | null, now: number): readonly string[] => {
  if (directory === null) return [];
  let names: string[];
  try {
    names = readdirSync(join(directory, SESSIONS)).filter(name => name.endsWith('.json'));
  } catch {
    return []; // no session has had hooks yet
  }
  return names
    .slice(0, 1000)
    .map(name => readSession(directory, name.slice(0, -'.json'.length)))
    .filter(session => session !== null)
    .filter(({ agent }) => agent === null || isRunning(agent) !== false)
    .sort((a, b) => b.beatAt - a.beatAt)
    .slice(0, MOST_SESSIONS)
    .map(
      session =>
        `  ${visible(session.session)}  ${formatAge(Math.max(0, (now - session.beatAt) / 1000))} ago  ${visible(session.operation)}  ${visible(session.cwd)}`,
    );
};

/** Where hooks are installed, and which sessions beat. */
export const hookStatus = (ground: InstallGround): number => {
  const { env, out } = ground;
  const places = [
    ...SCOPES.map(scope => settingsPath(ground, scope)),
    ...(['user', 'project'] as const)
      .map(scope => codexHooksPath(ground, scope))
      .filter(path => existsSync(path)),
  ];
  for (const path of new Set(places)) out.write(`${visible(path)}: ${settingsLine(path, ground)}\n`);
  const sessions = sessionLines(stateDirectory(env), Date.now());
  out.write(
    sessions.length === 0
      ? 'No running session has sent a heartbeat.\n'
      : `Running sessions, the latest heartbeat first:\n${sessions.join('\n')}\n`,
  );
  return 0;
};

const isThere = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

/** As `ownCommand` writes them: a name in PATH, or node and script in quotes. */
const wordsOf = (command: string): readonly string[] =>
  [...command.replace(/^.*; exec /, '').matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)]
    .map(([, quoted, bare]) => quoted?.replaceAll("'\\''", "'") ?? bare ?? '')
    .slice(0, -2);

/** What of a hook's command is not there (any more); null: everything is. */
const missingIn = (command: string, env: NodeJS.ProcessEnv): string | null => {
  const [program = '', ...files] = wordsOf(command);
  const inPath = (env.PATH ?? '')
    .split(delimiter)
    .some(directory => isAbsolute(directory) && isThere(join(directory, program), constants.X_OK));
  if (isAbsolute(program) ? !isThere(program, constants.X_OK) : !inPath) return program;
  return files.find(file => isAbsolute(file) && !isThere(file, constants.R_OK)) ?? null;
};

/** The hooks of ours in one settings file; null when it has none. */
const installedHooks = (
  path: string,
  script: string,
  settings: HookSettings,
  env: NodeJS.ProcessEnv,
): InstalledHooks | null => {
  const shown = visible(path);
  try {
    const text = readSettings(path) ?? '';
    const found = hooksIn(text, isReaptop(script));
    if (found.length === 0) return null;
    const events = HOOK_EVENTS.filter(event => found.some(hook => hook.event === event));
    const broken = found.map(hook => missingIn(hook.command, env)).find(missing => missing !== null);
    return {
      path: shown,
      events: events.length,
      missing: HOOK_EVENTS.filter(event => !events.includes(event)),
      broken: broken === undefined ? null : visible(broken),
      current: [ownHookCommand(script, env), sharedCommand].some(
        command => withHooks(text, wantedHooks(command, settings, events), isReaptop(script)) === text,
      ),
      unreadable: null,
    };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { path: shown, events: 0, missing: [], broken: null, current: false, unreadable: error.message };
  }
};

/** The user's settings and this project's. */
export const hookFacts = (
  settings: HookSettings,
  env: NodeJS.ProcessEnv,
  cwd: string,
): readonly InstalledHooks[] => {
  const ground = { env, cwd };
  const isHomeless = homeDirectory(env) === null && !env.CLAUDE_CONFIG_DIR;
  const scopes = SCOPES.filter(scope => scope !== 'user' || !isHomeless);
  return [...new Set(scopes.map(scope => settingsPath(ground, scope)))].flatMap(
    path => installedHooks(path, process.argv[1] ?? '', settings, env) ?? [],
  );
};
