import { join } from 'node:path';
import { hooksIn, Unfit, withHooks, withoutHooks } from '../../act/hooks/settings-edit.ts';
import { beforeInstall, install, readSettings, uninstall } from '../../act/hooks/settings-file.ts';
import { homeDirectory, loadConfig, UsageError } from '../../collect/config.ts';
import { plural } from '../../model/format.ts';
import type { HookEvent } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';
import { statePlace } from '../../observe/state/state-directory.ts';
import { EXIT_FAILURE } from '../exit-codes.ts';
import { lineDifference } from '../line-difference.ts';
import { ownCommand, wantedHooks } from './wanted.ts';

export interface InstallOptions {
  /** `--project`: the settings of the directory we are in; else the user's. */
  readonly project: boolean;
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

/** `~/.claude/settings.json` (or where Claude keeps it), or the project's. */
export const settingsPath = ({ env, cwd }: Pick<InstallGround, 'env' | 'cwd'>, project: boolean): string => {
  if (project) return join(cwd, '.claude', 'settings.json');
  const home = homeDirectory(env);
  const directory = env.CLAUDE_CONFIG_DIR || (home === null ? null : join(home, '.claude'));
  if (directory === null) throw new UsageError('HOME is not set: name the settings with --project.');
  return join(directory, 'settings.json');
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

export const installHooks = async (ground: InstallGround, options: InstallOptions): Promise<number> => {
  const { env, script, out } = ground;
  const path = settingsPath(ground, options.project);
  const { hooks } = await loadConfig(env);
  const wanted = wantedHooks(ownCommand(script, env), hooks.buildTools, options.only);
  const before = orRefuse(path, () => readSettings(path));
  const after = orRefuse(path, () => withHooks(before ?? '', wanted));
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
    `${plural(wanted.length, 'hook')} in ${visible(path)}${kept}.\nSessions that start from now on use them. Take them out with: reaptop hook uninstall${options.project ? ' --project' : ''}\n`,
  );
  return 0;
};

export const uninstallHooks = async (
  ground: InstallGround,
  { project, dryRun }: Pick<InstallOptions, 'project' | 'dryRun'>,
): Promise<number> => {
  const { env, out } = ground;
  const path = settingsPath(ground, project);
  const { directory } = statePlace(env);
  const now = orRefuse(path, () => readSettings(path));
  const found = now === null ? [] : orRefuse(path, () => hooksIn(now));
  if (now === null || found.length === 0) {
    out.write(`There are no hooks of reaptop in ${visible(path)}.\n`);
    return 0;
  }
  const exact = beforeInstall(path, now, directory);
  const after = exact === undefined ? withoutHooks(now) : exact;
  if (dryRun) {
    out.write(`Would change ${visible(path)}:\n${visibleLines(lineDifference(now, after ?? ''))}`);
    return 0;
  }
  const why = uninstall(path, after, directory);
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
