import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../engine/load-config.ts';
import type { PlatformChoice } from '../engine/prepare.ts';
import type { AskedBySession } from '../judge/mine.ts';
import { SEVERITIES, type Severity } from '../model/finding.ts';
import { KINDS } from '../model/kind.ts';
import { CLEAN_AGE_MINUTES, ZOMBIE_AGE_MINUTES } from '../model/plan.ts';
import { ALLOWED, type Asked, parseMoment } from '../model/time.ts';
import { INTERVAL_BOUNDS } from '../model/ui-settings.ts';

/** Flags every command understands. */
export interface CommonOptions {
  readonly root?: string[];
  /** Not given: what the config says. */
  readonly interval?: number;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly color: boolean;
  readonly config?: string;
  readonly platform: PlatformChoice;
  readonly failOn?: Severity;
  readonly poll?: boolean;
}

/** A number within bounds, or a sentence that says what is allowed. */
export const numberBetween =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
    }
    return value;
  };

type CommonName = Exclude<keyof CommonOptions, 'failOn'> | 'fail-on';

/** The flags that every command takes. Help shows those that mean something to this one. */
export const addCommonOptions = (
  command: Command,
  {
    interval = 'time between refreshes (default: 2, or what the config says)',
    all = 'every process, not only those of agents',
    shown,
  }: { readonly interval?: string; readonly all?: string; readonly shown?: readonly CommonName[] } = {},
): Command => {
  const options: Readonly<Record<CommonName, Option>> = {
    root: new Option(
      '--root <dir...>',
      'where to look for heartbeats (default: the cwd, the cwd of every agent, ~/.claude-orchestrator/workspaces)',
    ),
    interval: new Option('--interval <seconds>', interval).argParser(numberBetween(...INTERVAL_BOUNDS)),
    all: new Option('--all', all),
    json: new Option('--json', 'one JSON object instead of text'),
    color: new Option('--no-color', 'no colour (NO_COLOR works as well)'),
    config: new Option('--config <file>', 'this config file instead of the usual one'),
    platform: new Option('--platform <backend>', 'how to read processes')
      .choices(['auto', 'procfs', 'darwin', 'portable'])
      .default('auto'),
    'fail-on': new Option('--fail-on <severity>', 'exit 3 when a finding is at least this bad').choices([
      ...SEVERITIES,
    ]),
    poll: new Option('--poll', 'watch files by polling (network mounts)'),
  };
  for (const [name, option] of Object.entries(options))
    command.addOption(option.hideHelp(shown !== undefined && !shown.includes(name as CommonName)));
  return command;
};

/** `PID` or `PID:START`, as the JSON gives them. */
const parsePid = (
  text: string,
  before: { pid: number; start?: string }[] = [],
): { pid: number; start?: string }[] => {
  const match = /^(\d{1,10})(?::(\d+))?$/.exec(text);
  if (match?.[1] === undefined)
    throw new InvalidArgumentError('It must be PID or PID:START, both as --json shows them.');
  return [...before, { pid: Number(match[1]), ...(match[2] === undefined ? {} : { start: match[2] }) }];
};

/** The session that the environment of the caller names. */
export const askedBySession = (env: NodeJS.ProcessEnv): AskedBySession => ({
  sessionId: env.CLAUDE_CODE_SESSION_ID || null,
});

/** A moment of the flight recorder. */
export const parseAt = (text: string): Asked => {
  const asked = parseMoment(text, Date.now());
  if (asked === null) throw new InvalidArgumentError(`It must be ${ALLOWED}.`);
  return asked;
};

/** Acting concerns this machine and the present, not a recorded moment. */
export const refuseElsewhere = (command: Command): void => {
  const flags = command.optsWithGlobals<{ at?: unknown; demo?: unknown }>();
  const flag = flags.at !== undefined ? '--at' : flags.demo !== undefined ? '--demo' : null;
  if (flag !== null) throw new UsageError(`${command.name()} can't be combined with ${flag} (read-only).`);
};

/** Flags of every command that changes something. */
export interface ActingOptions extends CommonOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly grace: number;
  readonly verbose?: boolean;
}

export const addActingOptions = (command: Command): Command =>
  command
    .option('--force', 'do it (without this flag only the plan is printed)')
    .option('--yes', 'the same as --force')
    .option('--dry-run', 'only print the plan, whatever else is given')
    .addOption(
      new Option('--grace <seconds>', 'time between SIGTERM and SIGKILL')
        .default(5)
        .argParser(numberBetween(0, 3600)),
    )
    .option('--verbose', 'say more');

/** What the seeds' scripts understood, and what they lacked. */
export const addCleanOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--age-threshold <minutes>',
        `leave younger ones alone (default: ${CLEAN_AGE_MINUTES}; with --zombie-parents ${ZOMBIE_AGE_MINUTES})`,
      ).argParser(numberBetween(0, 525_600)),
    )
    .addOption(new Option('--kind <kind...>', 'only these kinds').choices([...KINDS]))
    .option('--suspects', 'also what is suspect')
    .option('--mine', 'called by an agent: only what its own session left, and its background shells')
    .option('--pid <pid...>', 'these processes alone, suspects included: PID or PID:START', parsePid)
    .option(
      '--zombie-parents',
      'nudge parents that do not reap their children; end idle MCP and lean-lsp servers among them',
    );

export const addSweepOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--retention <days>', 'how long archives are kept')
        .default(7)
        .argParser(numberBetween(0, 36_500)),
    )
    .addOption(
      new Option('--still <seconds>', 'how long the session of a finished agent must have been still')
        .default(600)
        .argParser(numberBetween(0, 31_536_000)),
    );
