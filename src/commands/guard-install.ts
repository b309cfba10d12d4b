import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { elsewhereText } from '../guard/install/elsewhere.ts';
import { LABEL, plistPath, plistText } from '../guard/install/launchd.ts';
import { UNIT, unitPath, unitText } from '../guard/install/systemd.ts';
import { visible } from '../model/text.ts';
import { type CommandResult, runCommand } from '../observe/run-command.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { liesWithUs } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE } from './exit-codes.ts';
import type { Output } from './output.ts';

export interface InstallOptions {
  readonly dryRun: boolean;
  /** Words after `guard` in the unit: `--metrics 9101`. */
  readonly extra: readonly string[];
}

export interface InstallDependencies {
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  readonly err: Output;
  readonly platform?: NodeJS.Platform;
  /** Whether systemd is what runs this machine. */
  readonly hasSystemd?: boolean;
  readonly run?: (program: string, args: readonly string[]) => Promise<CommandResult>;
}

const COMMAND_MS = 20_000;
const MOST_BYTES = 64 * 1024;

/** A file that a keeper of programs reads, and how it is told. */
interface Keeper {
  readonly path: string;
  readonly text: string;
  readonly start: readonly (readonly string[])[];
  readonly stop: readonly (readonly string[])[];
  /** What to know besides. */
  readonly hint: string;
}

/** node and script by absolute path: a service has no PATH to speak of. */
const ownCommand = (): string[] => [process.execPath, process.argv[1] ?? 'reaptop', 'guard'];

const systemdKeeper = (command: readonly string[], env: NodeJS.ProcessEnv, home: string): Keeper => ({
  path: unitPath(env.XDG_CONFIG_HOME || join(home, '.config')),
  text: unitText(command),
  start: [
    ['systemctl', '--user', 'daemon-reload'],
    ['systemctl', '--user', 'enable', UNIT],
    ['systemctl', '--user', 'restart', UNIT],
  ],
  stop: [['systemctl', '--user', 'disable', '--now', UNIT]],
  hint: `journalctl --user -u ${UNIT} shows what it does; loginctl enable-linger keeps it running when you log out`,
});

const launchdKeeper = (command: readonly string[], home: string): Keeper => {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const path = plistPath(home);
  return {
    path,
    text: plistText(command),
    start: [
      ['launchctl', 'bootout', `${domain}/${LABEL}`],
      ['launchctl', 'bootstrap', domain, path],
    ],
    stop: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
    hint: `launchctl print ${domain}/${LABEL} shows its state`,
  };
};

const keeperFor = (extra: readonly string[], dependencies: InstallDependencies): Keeper | null => {
  const { env, platform = process.platform, hasSystemd = existsSync('/run/systemd/system') } = dependencies;
  const command = [...ownCommand(), ...extra];
  const home = env.HOME || homedir();
  if (platform === 'darwin') return launchdKeeper(command, home);
  return hasSystemd ? systemdKeeper(command, env, home) : null;
};

/** Writes the unit and starts it. A second time it changes nothing but what has changed. */
export const install = async (
  options: InstallOptions,
  dependencies: InstallDependencies,
): Promise<number> => {
  const { out, err } = dependencies;
  const keeper = keeperFor(options.extra, dependencies);
  if (keeper === null) {
    out.write(elsewhereText([...ownCommand(), ...options.extra]));
    return 0;
  }
  if (options.dryRun) {
    err.write(`reaptop: this would be ${visible(keeper.path)}\n`);
    out.write(keeper.text);
    return 0;
  }
  if (!liesWithUs(keeper.path)) {
    err.write(`reaptop: ${visible(keeper.path)} lies in another user's directory; run it without sudo\n`);
    return EXIT_FAILURE;
  }
  const before = readOwnTail(keeper.path, MOST_BYTES);
  if (before !== keeper.text) {
    mkdirSync(dirname(keeper.path), { recursive: true });
    replaceOwn(keeper.path, keeper.text);
  }
  const failed = await tell(keeper.start, dependencies, 'bootout');
  if (failed !== null) {
    err.write(`reaptop: ${visible(keeper.path)} is written, but ${failed}\n`);
    return EXIT_FAILURE;
  }
  const what = before === null ? 'installed' : before === keeper.text ? 'already installed' : 'changed';
  out.write(`guard is ${what} and runs: ${visible(keeper.path)}\n${keeper.hint}\n`);
  return 0;
};

/** Stops it and removes the unit; nothing that guard recorded is touched. */
export const uninstall = async (
  { dryRun }: InstallOptions,
  dependencies: InstallDependencies,
): Promise<number> => {
  const { out, err } = dependencies;
  const keeper = keeperFor([], dependencies);
  if (keeper === null || readOwnTail(keeper.path, MOST_BYTES) === null) {
    out.write('guard is not installed\n');
    return 0;
  }
  if (dryRun) {
    out.write(`would stop guard and remove ${visible(keeper.path)}\n`);
    return 0;
  }
  const failed = await tell(keeper.stop, dependencies, null);
  if (failed !== null) err.write(`reaptop: ${failed}\n`);
  try {
    rmSync(keeper.path, { force: true });
  } catch (error) {
    err.write(`reaptop: ${visible(keeper.path)} could not be removed: ${errorSentence(error)}\n`);
    return EXIT_FAILURE;
  }
  out.write(`guard is uninstalled: ${visible(keeper.path)} is removed\n`);
  return failed === null ? 0 : EXIT_FAILURE;
};

/** What went wrong, in a sentence; null when nothing did. `mayFail` names a step that is only to be sure. */
const tell = async (
  commands: readonly (readonly string[])[],
  { run = (program, args) => runCommand(program, args, { timeoutMs: COMMAND_MS }) }: InstallDependencies,
  mayFail: string | null,
): Promise<string | null> => {
  for (const [program = '', ...args] of commands) {
    const result = await run(program, args);
    if (args[0] === mayFail || (result.status === 'done' && result.code === 0)) continue;
    const said =
      result.status === 'done' ? visible(result.stderr.trim().split('\n')[0] ?? '') : result.status;
    return `${[program, ...args].join(' ')} failed (${said}): start it yourself with reaptop guard`;
  }
  return null;
};
