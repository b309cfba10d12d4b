import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { homeDirectory, loadConfig, UsageError } from '../engine/load-config.ts';
import { broadKillsOf, HOOK_EVENTS, type HookEvent, type HookSettings, SHELL_TOOL } from '../model/hook.ts';
import { singleQuoted } from '../model/shell.ts';
import { visible } from '../model/text.ts';
import { plural } from '../model/units.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE } from '../output.ts';
import { hasPlugin } from './context.ts';
import {
  FOR_CODEX,
  hooksIn,
  type IsReaptop,
  isCalledReaptop,
  sharedCommand,
  Unfit,
  type WantedHook,
  withHooks,
  withoutHooks,
} from './settings-edit.ts';
import { addHooks, beforeInstall, Changed, readSettings, removeHooks } from './settings-file.ts';

/** Which settings: the user's, one's own for this project, or those that everybody who works on it has. */
export const SCOPES = ['user', 'project', 'shared'] as const;
export type HookScope = (typeof SCOPES)[number];

export interface HookInstallOptions {
  readonly scope: HookScope;
  readonly only?: readonly HookEvent[] | undefined;
  readonly dryRun: boolean;
  /** In the hooks of Codex instead of Claude Code's settings. */
  readonly codex?: boolean | undefined;
}

export interface InstallGround {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The program that a hook is to start. */
  readonly script: string;
  readonly out: { write(text: string): void };
  readonly err: { write(text: string): void };
}

const PROJECT_FILES = { project: 'settings.local.json', shared: 'settings.json' } as const;

/** `~/.claude/settings.json` (or where Claude keeps it), or one of the project's. */
export const settingsPath = ({ env, cwd }: Pick<InstallGround, 'env' | 'cwd'>, scope: HookScope): string => {
  if (scope !== 'user') return join(cwd, '.claude', PROJECT_FILES[scope]);
  const home = homeDirectory(env);
  const directory = env.CLAUDE_CONFIG_DIR || (home === null ? null : join(home, '.claude'));
  if (directory === null) throw new UsageError('HOME is not set: name the settings with --project.');
  return join(directory, 'settings.json');
};

/** `~/.codex/hooks.json`, or the project's. */
export const codexHooksPath = (
  { env, cwd }: Pick<InstallGround, 'env' | 'cwd'>,
  scope: HookScope,
): string => {
  if (scope !== 'user') return join(cwd, '.codex', 'hooks.json');
  const home = homeDirectory(env);
  const directory = env.CODEX_HOME || (home === null ? null : join(home, '.codex'));
  if (directory === null) throw new UsageError('HOME is not set: name the hooks with --project.');
  return join(directory, 'hooks.json');
};

const pathOf = (
  ground: InstallGround,
  { scope, codex }: Pick<HookInstallOptions, 'scope' | 'codex'>,
): string => (codex === true ? codexHooksPath(ground, scope) : settingsPath(ground, scope));

const flagsOf = ({ scope, codex }: Pick<HookInstallOptions, 'scope' | 'codex'>): string =>
  `${codex === true ? ' --codex' : ''}${scope === 'user' ? '' : ` --${scope}`}`;

/** Another program wrote the file between our look and our change: both are done again. */
const MOST_TRIES = 5;

export const again = async (
  ground: InstallGround,
  path: string,
  work: () => Promise<number>,
): Promise<number> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
    }
  }
  return failed(ground, path, 'another program keeps changing it');
};

/** What cannot be edited is left alone, with a sentence. */
export const orRefuse = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unfit) throw new UsageError(`${visible(path)} was not changed: ${error.message}.`);
    throw error;
  }
};

export const failed = ({ err }: InstallGround, path: string, why: string): number => {
  err.write(`reaptop: ${visible(path)} could not be written: ${why}\n`);
  return EXIT_FAILURE;
};

export const installHooks = (ground: InstallGround, options: HookInstallOptions): Promise<number> =>
  again(ground, pathOf(ground, options), () => installOnce(ground, options));

const installOnce = async (ground: InstallGround, options: HookInstallOptions): Promise<number> => {
  const { env, cwd, script, out } = ground;
  const { scope, codex = false } = options;
  const path = pathOf(ground, options);
  const { hooks } = await loadConfig(env);
  const command = scope === 'shared' ? sharedCommand : ownHookCommand(script, env);
  if (scope !== 'shared' && !codex && hasPlugin(env))
    throw new UsageError(
      'The plugin brings the hooks already. To have them in settings: reaptop plugin uninstall',
    );
  const wanted = (codex ? codexHooks : wantedHooks)(command, hooks, options.only);
  const before = orRefuse(path, () => readSettings(path, scope === 'user' ? null : cwd));
  const after = orRefuse(path, () => withHooks(before ?? '', wanted, isReaptop(script)));
  if (after === before) {
    out.write(`The hooks are in ${visible(path)} already; nothing was changed.\n`);
    return 0;
  }
  if (options.dryRun) {
    out.write(`Would change ${visible(path)}:\n${visibleLines(lineDifference(before ?? '', after))}`);
    return 0;
  }
  const why = addHooks(path, before, after, statePlace(env).directory);
  if (why !== null) return failed(ground, path, why);
  const kept = before === null ? '' : `; what was there before is in ${visible(path)}.reaptop-backup`;
  out.write(
    `${plural(eventsOf(wanted), 'hook')} in ${visible(path)}${kept}.\n${codex ? TRUST_ONCE : ''}Sessions that start from now on use them. Take them out with: reaptop hook uninstall${flagsOf(options)}\n`,
  );
  return 0;
};

export const uninstallHooks = (
  ground: InstallGround,
  options: Omit<HookInstallOptions, 'only'>,
): Promise<number> => again(ground, pathOf(ground, options), () => uninstallOnce(ground, options));

const uninstallOnce = async (
  ground: InstallGround,
  { scope, dryRun, codex }: Omit<HookInstallOptions, 'only'>,
): Promise<number> => {
  const { env, cwd, script, out } = ground;
  const path = pathOf(ground, { scope, codex });
  const { directory } = statePlace(env);
  const now = orRefuse(path, () => readSettings(path, scope === 'user' ? null : cwd));
  const found = now === null ? [] : orRefuse(path, () => hooksIn(now, isReaptop(script)));
  if (now === null || found.length === 0) {
    out.write(`There are no hooks of reaptop in ${visible(path)}.\n`);
    return 0;
  }
  const exact = beforeInstall(path, now, directory);
  const after = exact === undefined ? withoutHooks(now, isReaptop(script)) : exact;
  if (dryRun) {
    out.write(`Would change ${visible(path)}:\n${visibleLines(lineDifference(now, after ?? ''))}`);
    return 0;
  }
  const why = removeHooks(path, now, after, directory);
  if (why !== null) return failed(ground, path, why);
  const how =
    exact === undefined
      ? ''
      : after === null
        ? ', and the file, which was ours alone'
        : ', which is now what it was before';
  out.write(`${plural(eventsOf(found), 'hook')} taken out of ${visible(path)}${how}.\n`);
  return 0;
};

const eventsOf = (hooks: readonly { readonly event: HookEvent }[]): number =>
  new Set(hooks.map(({ event }) => event)).size;

export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

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
export const ownWords = (script: string, env: NodeJS.ProcessEnv): readonly string[] => {
  const self = real(script) ?? script;
  const inPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map(directory => real(join(directory, 'reaptop')))
    .find(path => path !== null);
  return inPath === self ? ['reaptop'] : [process.execPath, self];
};

/** The same for a shell. */
export const ownCommand = (script: string, env: NodeJS.ProcessEnv): string => {
  const words = ownWords(script, env);
  return words.length === 1 ? 'reaptop' : words.map(singleQuoted).join(' ');
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

/** A pattern of the config as a matcher has it. */
const asMatcher = (patterns: readonly string[]): string =>
  patterns.map(pattern => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')).join('|');

/**
 * After a tool Claude goes on at once: five hooks at a time took as long as the tools. Only what builds is waited for,
 * because its lock must be free before the next one starts.
 */
const afterTools = (builds: readonly string[]): readonly Pick<WantedHook, 'matcher' | 'async'>[] =>
  builds.length === 0
    ? [{ matcher: '*', async: true }]
    : [{ matcher: `^(?:${asMatcher(builds)})$` }, { matcher: `^(?!(?:${asMatcher(builds)})$)`, async: true }];

export const wantedHooks = (
  command: (event: HookEvent) => string,
  settings: Pick<HookSettings, 'buildTools' | 'broadKills'>,
  only: readonly HookEvent[] = HOOK_EVENTS,
): readonly WantedHook[] => {
  const { buildTools } = settings;
  const before = broadKillsOf(settings, 'settings') === 'off' ? buildTools : [...buildTools, SHELL_TOOL];
  const groups: Partial<Record<HookEvent, readonly Pick<WantedHook, 'matcher' | 'async'>[]>> = {
    PreToolUse: before.length === 0 ? [] : [{ matcher: asMatcher(before) }],
    PostToolUse: afterTools(buildTools),
    PostToolUseFailure: buildTools.length === 0 ? [] : [{ matcher: asMatcher(buildTools) }],
  };
  return HOOK_EVENTS.filter(event => only.includes(event)).flatMap(event =>
    (groups[event] ?? [{ matcher: null }]).map(group => ({
      ...group,
      event,
      command: command(event),
      timeout: TIMEOUTS[event],
    })),
  );
};

/** Codex reads hooks of others only after its user has agreed. */
const TRUST_ONCE =
  'Codex asks once: choose "Trust all and continue" when it starts next, or type /hooks in it.\n';

/** What Codex calls: it knows no failed tool, waits for every hook, and gives a session\'s end three seconds. */
const codexHooks = (
  command: (event: HookEvent) => string,
  settings: Pick<HookSettings, 'buildTools' | 'broadKills'>,
  only: readonly HookEvent[] = HOOK_EVENTS,
): readonly WantedHook[] =>
  wantedHooks(command, settings, only)
    .filter(
      ({ event, async }) => event !== 'PostToolUseFailure' && (event !== 'PostToolUse' || async === true),
    )
    .map(({ async: _, ...hook }) => ({
      ...hook,
      command: `${hook.command}${FOR_CODEX}`,
      ...(hook.event === 'PostToolUse' ? { matcher: null } : {}),
      ...(hook.event === 'SessionEnd' ? { timeout: 3 } : {}),
    }));

/** Lines that go and come, with one line of what stays around them; for a dry run. */
export const lineDifference = (before: string, after: string): string => {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end += 1;
  const [gone, come] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const shown = [...walk(gone, come)];
  return [
    ...(start > 0 ? [`  ${a[start - 1]}`] : []),
    ...shown.map(([sign, line]) => `${sign} ${line}`),
    ...(end > 0 ? [`  ${a[a.length - end]}`] : []),
    '',
  ].join('\n');
};

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** More than this is shown as gone and come as a whole. */
const MOST_PAIRS = 4_000_000;

/** The longest common lines stay. */
function* walk(
  gone: readonly string[],
  come: readonly string[],
): Generator<readonly [' ' | '-' | '+', string]> {
  const width = come.length + 1;
  const pairs = (gone.length + 1) * width;
  const lengths = pairs > MOST_PAIRS ? null : new Uint32Array(pairs);
  if (lengths !== null)
    for (let i = gone.length - 1; i >= 0; i -= 1)
      for (let j = come.length - 1; j >= 0; j -= 1)
        lengths[i * width + j] =
          gone[i] === come[j]
            ? lengths[(i + 1) * width + j + 1]! + 1
            : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  let [i, j] = [0, 0];
  while (i < gone.length || j < come.length) {
    if (lengths !== null && i < gone.length && j < come.length && gone[i] === come[j]) {
      yield [' ', gone[i]!];
      i += 1;
      j += 1;
    } else if (
      i < gone.length &&
      (j === come.length || lengths === null || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    ) {
      yield ['-', gone[i]!];
      i += 1;
    } else {
      yield ['+', come[j]!];
      j += 1;
    }
  }
}
