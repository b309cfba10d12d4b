import { join } from 'node:path';
import { hooksIn, sharedCommand, Unfit, withHooks, withoutHooks } from '../../act/hooks/settings-edit.ts';
import { beforeInstall, Changed, install, readSettings, uninstall } from '../../act/hooks/settings-file.ts';
import { homeDirectory, loadConfig, UsageError } from '../../collect/config.ts';
import { plural } from '../../model/format.ts';
import type { HookEvent } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';
import { statePlace } from '../../observe/state/state-directory.ts';
import { EXIT_FAILURE } from '../exit-codes.ts';
import { lineDifference } from '../line-difference.ts';
import { isReaptop, ownHookCommand, wantedHooks } from './wanted.ts';

/** Which settings: the user's, one's own for this project, or those that everybody who works on it has. */
export const SCOPES = ['user', 'project', 'shared'] as const;
export type Scope = (typeof SCOPES)[number];

export interface InstallOptions {
  readonly scope: Scope;
  readonly only?: readonly HookEvent[] | undefined;
  readonly dryRun: boolean;
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
export const settingsPath = ({ env, cwd }: Pick<InstallGround, 'env' | 'cwd'>, scope: Scope): string => {
  if (scope !== 'user') return join(cwd, '.claude', PROJECT_FILES[scope]);
  const home = homeDirectory(env);
  const directory = env.CLAUDE_CONFIG_DIR || (home === null ? null : join(home, '.claude'));
  if (directory === null) throw new UsageError('HOME is not set: name the settings with --project.');
  return join(directory, 'settings.json');
};

const flagOf = (scope: Scope): string => (scope === 'user' ? '' : ` --${scope}`);

/** Another program wrote the file between our look and our change: both are done again. */
const MOST_TRIES = 5;

const again = async (ground: InstallGround, scope: Scope, work: () => Promise<number>): Promise<number> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
    }
  }
  return failed(ground, settingsPath(ground, scope), 'another program keeps changing it');
};

/** What cannot be edited is left alone, with a sentence. */
const orRefuse = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unfit) throw new UsageError(`${visible(path)} is left as it is: ${error.message}.`);
    throw error;
  }
};

const failed = ({ err }: InstallGround, path: string, why: string): number => {
  err.write(`reaptop: ${visible(path)} could not be written: ${why}\n`);
  return EXIT_FAILURE;
};

export const installHooks = (ground: InstallGround, options: InstallOptions): Promise<number> =>
  again(ground, options.scope, () => installOnce(ground, options));

const installOnce = async (ground: InstallGround, options: InstallOptions): Promise<number> => {
  const { env, cwd, script, out } = ground;
  const { scope } = options;
  const path = settingsPath(ground, scope);
  const { hooks } = await loadConfig(env);
  const command = scope === 'shared' ? sharedCommand : ownHookCommand(script, env);
  const wanted = wantedHooks(command, hooks.buildTools, options.only);
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
  const why = install(path, before, after, statePlace(env).directory);
  if (why !== null) return failed(ground, path, why);
  const kept = before === null ? '' : `; what was there before is in ${visible(path)}.reaptop-backup`;
  out.write(
    `${plural(wanted.length, 'hook')} in ${visible(path)}${kept}.\nSessions that start from now on use them. Take them out with: reaptop hook uninstall${flagOf(scope)}\n`,
  );
  return 0;
};

export const uninstallHooks = (
  ground: InstallGround,
  options: Pick<InstallOptions, 'scope' | 'dryRun'>,
): Promise<number> => again(ground, options.scope, () => uninstallOnce(ground, options));

const uninstallOnce = async (
  ground: InstallGround,
  { scope, dryRun }: Pick<InstallOptions, 'scope' | 'dryRun'>,
): Promise<number> => {
  const { env, cwd, script, out } = ground;
  const path = settingsPath(ground, scope);
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
  const why = uninstall(path, now, after, directory);
  if (why !== null) return failed(ground, path, why);
  const how =
    exact === undefined
      ? ''
      : after === null
        ? ', and the file, which was ours alone'
        : ', which is now what it was before';
  out.write(`${plural(found.length, 'hook')} taken out of ${visible(path)}${how}.\n`);
  return 0;
};

const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');
