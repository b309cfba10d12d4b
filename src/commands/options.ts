import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PlatformChoice } from '../collect/choose-system.ts';
import { UsageError } from '../collect/config.ts';
import { SEVERITIES, type Severity } from '../model/finding.ts';
import { KINDS } from '../model/kind.ts';
import { INTERVAL_BOUNDS } from '../model/look.ts';
import { CLEAN_AGE_MINUTES } from '../model/plan.ts';
import { ALLOWED, type Asked, parseMoment } from '../remember/recorder/moment.ts';

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

export const addCommonOptions = (
  command: Command,
  interval = 'time between refreshes (default: 2, or what the config says)',
): Command =>
  command
    .option(
      '--root <dir...>',
      'where to look for heartbeats (default: the cwd, the cwd of every agent, ~/.claude-orchestrator/workspaces)',
    )
    .addOption(new Option('--interval <seconds>', interval).argParser(numberBetween(...INTERVAL_BOUNDS)))
    .option('--all', 'every process, not only related ones')
    .option('--json', 'one JSON object instead of text')
    .option('--no-color', 'no colour (NO_COLOR works as well)')
    .option('--config <file>', 'this config file instead of the usual one')
    .addOption(
      new Option('--platform <backend>', 'how to look at processes')
        .choices(['auto', 'procfs', 'portable'])
        .default('auto'),
    )
    .addOption(
      new Option('--fail-on <severity>', 'exit 3 when a finding is at least this bad').choices([
        ...SEVERITIES,
      ]),
    )
    .option('--poll', 'watch files by polling (network mounts)');

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

/** A moment of the flight recorder. */
export const parseAt = (text: string): Asked => {
  const asked = parseMoment(text, Date.now());
  if (asked === null) throw new InvalidArgumentError(`It must be ${ALLOWED}.`);
  return asked;
};

/** Whoever acts does so on this machine and now: with a moment of the past in mind, that would be the wrong one. */
export const refuseElsewhere = (command: Command): void => {
  const flags = command.optsWithGlobals<{ at?: unknown; demo?: unknown }>();
  const flag = flags.at !== undefined ? '--at' : flags.demo !== undefined ? '--demo' : null;
  if (flag !== null)
    throw new UsageError(
      `${command.name()} acts on this machine as it is now: it does not go with ${flag}, which only shows.`,
    );
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
      new Option('--age-threshold <minutes>', 'leave younger processes alone')
        .default(CLEAN_AGE_MINUTES)
        .argParser(numberBetween(0, 525_600)),
    )
    .addOption(new Option('--kind <kind...>', 'only these kinds').choices([...KINDS]))
    .option('--suspects', 'also what is suspect')
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
