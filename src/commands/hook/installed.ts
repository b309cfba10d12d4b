import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { hooksIn, sharedCommand, Unfit, withHooks } from '../../act/hooks/settings-edit.ts';
import { readSettings } from '../../act/hooks/settings-file.ts';
import { homeDirectory } from '../../collect/config.ts';
import type { InstalledHooks } from '../../model/health.ts';
import { HOOK_EVENTS, type HookSettings } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';
import { SCOPES, settingsPath } from './install.ts';
import { isReaptop, ownHookCommand, wantedHooks } from './wanted.ts';

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
  buildTools: readonly string[],
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
        command => withHooks(text, wantedHooks(command, buildTools, events), isReaptop(script)) === text,
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
  { buildTools }: HookSettings,
  env: NodeJS.ProcessEnv,
  cwd: string,
): readonly InstalledHooks[] => {
  const ground = { env, cwd };
  const isHomeless = homeDirectory(env) === null && !env.CLAUDE_CONFIG_DIR;
  const scopes = SCOPES.filter(scope => scope !== 'user' || !isHomeless);
  return [...new Set(scopes.map(scope => settingsPath(ground, scope)))].flatMap(
    path => installedHooks(path, process.argv[1] ?? '', buildTools, env) ?? [],
  );
};
