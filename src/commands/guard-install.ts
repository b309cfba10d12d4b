import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { shellLine, singleQuoted } from '../model/shell.ts';
import { visible } from '../model/text.ts';
import { type CommandResult, runCommand } from '../observe/run-command.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { liesWithUs } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE, type Output } from '../output.ts';

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
  /** Between two tries of one step. */
  readonly pause?: () => Promise<unknown>;
}

const COMMAND_MS = 20_000;
const MOST_BYTES = 64 * 1024;

/** A command of a service manager. `wait`: again until it succeeds, or fails, for some seconds. */
interface Step {
  readonly command: readonly string[];
  readonly mayFail?: boolean;
  readonly wait?: 'success' | 'failure';
}

/** A file for a service manager, and the commands that load it. */
interface Keeper {
  readonly path: string;
  readonly text: string;
  readonly start: readonly Step[];
  readonly stop: readonly Step[];
  /** What else to know. */
  readonly hint: string;
}

/** node and script by absolute path: a service has no PATH to speak of. */
const ownCommand = (node = process.execPath): string[] => [node, process.argv[1] ?? 'reaptop', 'guard'];

/** This very Node under the name that PATH has for it: Homebrew's own path holds a version, and goes with an upgrade. */
export const lastingNode = (path = process.env.PATH ?? '', execPath = process.execPath): string => {
  const isThis = (candidate: string): boolean => {
    try {
      return realpathSync(candidate) === realpathSync(execPath);
    } catch {
      return false; // not there
    }
  };
  const named = path
    .split(delimiter)
    .filter(isAbsolute)
    .map(directory => join(directory, 'node'));
  return named.find(isThis) ?? execPath;
};

const systemdKeeper = (command: readonly string[], env: NodeJS.ProcessEnv, home: string): Keeper => ({
  path: unitPath(env.XDG_CONFIG_HOME || join(home, '.config')),
  text: unitText(command),
  start: [
    { command: ['systemctl', '--user', 'daemon-reload'] },
    { command: ['systemctl', '--user', 'enable', UNIT] },
    { command: ['systemctl', '--user', 'restart', UNIT] },
  ],
  stop: [{ command: ['systemctl', '--user', 'disable', '--now', UNIT] }],
  hint: `journalctl --user -u ${UNIT} shows what it does; loginctl enable-linger keeps it running when you log out`,
});

const launchdKeeper = (command: readonly string[], home: string): Keeper => {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const job = `${domain}/${LABEL}`;
  const path = plistPath(home);
  return {
    path,
    text: plistText(command, home),
    start: [
      { command: ['launchctl', 'bootout', job], mayFail: true },
      // It has not ended when bootout says so, and until then bootstrap answers "5: Input/output error".
      { command: ['launchctl', 'print', job], wait: 'failure' },
      { command: ['launchctl', 'bootstrap', domain, path], wait: 'success' },
      { command: ['launchctl', 'print', job], wait: 'success' },
    ],
    stop: [{ command: ['launchctl', 'bootout', job] }],
    hint: `launchctl print ${job} shows its state; it writes to ${visible(logPath(home))}`,
  };
};

const keeperFor = (extra: readonly string[], dependencies: InstallDependencies): Keeper | null => {
  const { env, platform = process.platform, hasSystemd = existsSync('/run/systemd/system') } = dependencies;
  const home = env.HOME || homedir();
  if (platform === 'darwin') return launchdKeeper([...ownCommand(lastingNode(env.PATH)), ...extra], home);
  const command = [...ownCommand(), ...extra];
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
    err.write(`reaptop: ${visible(keeper.path)} is in another user's directory; run it without sudo\n`);
    return EXIT_FAILURE;
  }
  const before = readOwnTail(keeper.path, MOST_BYTES);
  if (before !== keeper.text) {
    mkdirSync(dirname(keeper.path), { recursive: true });
    replaceOwn(keeper.path, keeper.text);
  }
  const failed = await tell(keeper.start, dependencies);
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
  const failed = await tell(keeper.stop, dependencies);
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

/** A job that has to be ended first may take its time for a clean-up. */
const MOST_TRIES = 60;
const BETWEEN_TRIES_MS = 500;

/** What went wrong, in a sentence; null when nothing did. */
const tell = async (
  steps: readonly Step[],
  {
    run = (program, args) => runCommand(program, args, { timeoutMs: COMMAND_MS }),
    pause = () => new Promise(resolve => setTimeout(resolve, BETWEEN_TRIES_MS)),
  }: InstallDependencies,
): Promise<string | null> => {
  for (const { command, mayFail = false, wait } of steps) {
    const [program = '', ...args] = command;
    const isDone = (result: CommandResult): boolean =>
      (result.status === 'done' && result.code === 0) === (wait !== 'failure');
    let result = await run(program, args);
    for (let tries = 1; wait !== undefined && !isDone(result) && tries < MOST_TRIES; tries += 1) {
      await pause();
      result = await run(program, args);
    }
    if (mayFail || isDone(result)) continue;
    const said =
      result.status === 'done' ? visible(result.stderr.trim().split('\n')[0] ?? '') : result.status;
    return `${command.join(' ')} failed (${said}): start it yourself with reaptop guard`;
  }
  return null;
};

/** Without a service manager for users, the user starts it. */
export const elsewhereText = (command: readonly string[]): string => {
  const line = shellLine(command);
  // To cron a bare percent sign is the end of the line, between quotes too.
  const cronLine = line.replaceAll('%', '\\%');
  return `Neither systemd nor launchd runs here. Any one of these keeps the machine clean:

  crontab -e, and add:
    @reboot ${cronLine} >/dev/null 2>&1
  or a pass every five minutes instead of a process that stays:
    */5 * * * * ${cronLine} --once >/dev/null 2>&1
  or a tmux session of its own:
    tmux new-session -d -s reaptop-guard ${singleQuoted(line)}
`;
};

const LABEL = 'dev.reaptop.guard';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** launchd's own holds nothing of Homebrew's: neither tmux nor claude nor lake. */
const PATH = '/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

const logPath = (home: string): string => join(home, 'Library', 'Logs', 'reaptop-guard.log');

/** An agent of launchd: started at login, kept running unless it ended well. */
export const plistText = (
  command: readonly string[],
  home: string,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map(word => `    <string>${escaped(word)}</string>`).join('\n')}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ProcessType</key>
  <string>Background</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${PATH}</string>
  </dict>
  <key>StandardOutPath</key>
  <string>${escaped(logPath(home))}</string>
  <key>StandardErrorPath</key>
  <string>${escaped(logPath(home))}</string>
</dict>
</plist>
`;

const plistPath = (home: string): string => join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);

const UNIT = 'reaptop-guard.service';

/** A word as systemd reads it: quoted, and with `%` and `$` that mean themselves. */
const word = (text: string): string => {
  const plain = text.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(plain)
    ? plain
    : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/** A user unit: no root, started at login, kept running. */
export const unitText = (command: readonly string[]): string => `[Unit]
Description=reaptop guard: clears what AI coding agents leave running
Documentation=man:reaptop(1)

[Service]
ExecStart=${command.map(word).join(' ')}
Restart=on-failure
RestartSec=10
# TERM goes to guard alone: what it started is none of systemd's.
KillMode=process
TimeoutStopSec=60
Nice=5

[Install]
WantedBy=default.target
`;

const unitPath = (configHome: string): string => join(configHome, 'systemd', 'user', UNIT);
