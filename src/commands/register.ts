import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../engine/load-config.ts';
import { type Prepared, prepare } from '../engine/prepare.ts';
import type { Memory } from '../guard/memory.ts';
import { addressText, type MetricsAddress, parseAddress } from '../guard/metrics-address.ts';
import type { HookScope } from '../hooks/install.ts';
import { DEFAULT_HOOKS, HOOK_EVENTS, type HookEvent } from '../model/hook.ts';
import type { Kind } from '../model/kind.ts';
import { CLEAN_AGE_MINUTES, ZOMBIE_AGE_MINUTES } from '../model/plan.ts';
import { REPORT_GROUPS, type ReportGroup } from '../model/report.ts';
import { nearest } from '../model/text.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import { type Output, painter, wantsColor } from '../output.ts';
import { COMPLETION_SHELLS, type Shell } from './completion.ts';
import { examplesOf } from './examples.ts';
import {
  type ActingOptions,
  addCommonOptions,
  askedBySession,
  type CommonOptions,
  numberBetween,
  refuseElsewhere,
} from './options.ts';
import { currentDirectory, prepared, workDirectory } from './prepared.ts';
import { FollowedArgument } from './program-shape.ts';
import { TOPICS } from './topics.ts';

export interface Telling {
  readonly version: string;
  readonly out: Output;
  readonly width: () => number;
  readonly finish: (code: number) => void;
}

const SPAN = /^(\d{1,4})([mhdw])$/;
const SPAN_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `7d`, `12h`, `90m`, `2w`. */
const parseSpan = (text: string): number => {
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  if (count === undefined || Number(count) === 0)
    throw new InvalidArgumentError('It must be a time such as 90m, 12h, 7d or 2w.');
  return Number(count) * (SPAN_MS[unit] ?? 0);
};

interface ReportFlags extends CommonOptions {
  readonly since: number;
  readonly by: ReportGroup;
}

/** `help`: a command's own, a page of the manual, or first the one and then the other. */
const addHelpCommand = (program: Command, { out, width }: Pick<Telling, 'out' | 'width'>): void => {
  program
    .helpCommand(false)
    .command('help')
    .description('show the help of a command, or a page of the manual')
    .argument('[topic]', 'a command or a topic (default: list them)')
    .action(async (word?: string) => {
      if (word === undefined) return program.outputHelp();
      const command = program.commands.find(one => one.name() === word && one.name() !== 'help');
      const isTopic = TOPICS.some(([name]) => name === word);
      if (command === undefined && !isTopic) throw new UsageError(unknownTopic(program, word));
      command?.outputHelp();
      if (!isTopic) return;
      const { topicPage } = await import('./manual-pages.ts');
      const paint = painter(wantsColor(process.stdout, process.env, false));
      out.write(`${command === undefined ? '' : '\n'}${topicPage(word, width(), paint)}`);
    });
};

const unknownTopic = (program: Command, word: string): string => {
  const commands = program.createHelp().visibleCommands(program);
  const known = [...new Set([...commands.map(one => one.name()), ...TOPICS.map(([name]) => name)])];
  const meant = nearest(word, known);
  const hint = meant === null ? 'reaptop help lists them' : `did you mean ${meant}?`;
  return `no command or topic '${word}'; ${hint}`;
};

/** Commands that tell something and change nothing; each is loaded when it is called. */
export const addTellingCommands = (program: Command, { version, out, width, finish }: Telling): void => {
  addCommonOptions(program.command('doctor'), {
    shown: ['root', 'json', 'color', 'config', 'platform', 'fail-on'],
  })
    .description('what works here and what does not, one line per check, with what to do')
    .addHelpText('after', examplesOf('doctor'))
    .option(
      '--bundle',
      'on macOS: write what ps, lsof, launchctl and sysctl answer, redacted, to a file for an issue',
    )
    .action(async (_: unknown, command: Command) => {
      const flags: CommonOptions & { bundle?: boolean } = command.optsWithGlobals();
      const { doctor } = await import('./doctor.ts');
      const color = wantsColor(process.stdout, process.env, !flags.color);
      const options = {
        json: flags.json === true,
        bundle: flags.bundle === true,
        failOn: flags.failOn ?? null,
        width: width(),
        color,
      };
      finish(await doctor(flags, options, { env: process.env, cwd: currentDirectory(), out }));
    });
  const report = program
    .command('report')
    .description('what leaked, hung and was cleaned, over time')
    .addOption(
      new Option('--since <time>', 'how far back: 90m, 12h, 7d, 2w')
        .default(SPAN_MS.w, '7d')
        .argParser(parseSpan),
    )
    .addOption(
      new Option('--by <group>', 'how the figures are grouped').choices([...REPORT_GROUPS]).default('day'),
    );
  addCommonOptions(report, { shown: ['json', 'color'] })
    .addHelpText('after', examplesOf('report'))
    .action(async (_: unknown, command: Command) => {
      const flags: ReportFlags = command.optsWithGlobals();
      const { report } = await import('./report.ts');
      const color = wantsColor(process.stdout, process.env, !flags.color);
      const options = {
        sinceMs: flags.since,
        by: flags.by,
        json: flags.json === true,
        width: width(),
        color,
      };
      finish(report(options, { env: process.env, out, now: Date.now() }));
    });
  addHelpCommand(program, { out, width });
  program
    .command('completion')
    .description('completions for your shell, made from the same table as this help')
    .addArgument(new Argument('<shell>', 'which shell').choices(COMPLETION_SHELLS))
    .action(async (shell: Shell) => {
      const { completion } = await import('./completion.ts');
      out.write(completion(program, shell));
    });
  // For the build, which puts the pages and the plugin into the package.
  program.command('manual', { hidden: true }).action(async () => {
    const { manual } = await import('./completion.ts');
    out.write(JSON.stringify(manual(program, version)));
  });
  program.command('plugin-files', { hidden: true }).action(async () => {
    const { packagedPlugin } = await import('../hooks/plugin.ts');
    out.write(JSON.stringify(packagedPlugin(DEFAULT_HOOKS)));
  });
};

/** What a command inside an agent, or beside a build, needs of the program. */
export interface Inside {
  readonly out: { write(text: string): void };
  readonly err: { write(text: string): void };
  readonly finish: (code: number) => void;
}

const ACTIONS = ['install', 'uninstall', 'status'] as const;

interface HookFlags {
  readonly project?: boolean;
  readonly shared?: boolean;
  readonly codex?: boolean;
  readonly only?: HookEvent[];
  readonly dryRun?: boolean;
}

const script = (): string => process.argv[1] ?? 'reaptop';

/** `hook`: events never come here; the launcher has a small program for them. */
const addHook = (program: Command, { out, err, finish }: Inside): void => {
  program
    .command('hook')
    .description(
      'hooks for Claude Code and Codex: install, uninstall or status; the hooks themselves call `reaptop hook EVENT`',
    )
    .addArgument(new Argument('<action>', 'what to do').choices([...ACTIONS]))
    .addHelpText('after', examplesOf('hook'))
    .addOption(new Option('--user', "in the user's settings (the default)").conflicts(['project', 'shared']))
    .addOption(
      new Option('--project', 'in your own settings of this directory (settings.local.json)').conflicts(
        'shared',
      ),
    )
    .option('--shared', 'in the shared settings of this directory (settings.json)')
    .addOption(
      new Option(
        '--codex',
        "in the hooks of Codex: ~/.codex/hooks.json, or this directory's with --project",
      ).conflicts('shared'),
    )
    .addOption(new Option('--only <event...>', 'only these events').choices([...HOOK_EVENTS]))
    .option('--dry-run', 'only print what would change')
    .action(async (action: (typeof ACTIONS)[number], _: unknown, command: Command) => {
      const flags: HookFlags = command.opts();
      const scope: HookScope = flags.shared === true ? 'shared' : flags.project === true ? 'project' : 'user';
      const cwd = scope === 'user' ? currentDirectory() : workDirectory();
      const ground = { env: process.env, cwd, script: script(), out, err };
      const options = { scope, only: flags.only, dryRun: flags.dryRun === true, codex: flags.codex };
      if (action === 'status') return finish((await import('../hooks/status.ts')).hookStatus(ground));
      const { installHooks, uninstallHooks } = await import('../hooks/install.ts');
      finish(await (action === 'install' ? installHooks : uninstallHooks)(ground, options));
    });
};

/** What is put into Claude Code beside hooks: a plugin, and a line in its status line. */
const IN_CLAUDE = {
  plugin: 'hooks and a skill for Claude Code as a plugin, without an edit of its settings',
  line: "reaptop's line in the status line of Claude Code, below the one that is there",
} as const;

const addInClaude = (program: Command, name: keyof typeof IN_CLAUDE, { out, err, finish }: Inside): void => {
  program
    .command(name)
    .description(IN_CLAUDE[name])
    .addArgument(new Argument('<action>', 'what to do').choices([...ACTIONS]))
    .addHelpText('after', examplesOf(name))
    .option('--dry-run', 'only print what would change')
    .action(async (action: (typeof ACTIONS)[number], flags: { readonly dryRun?: boolean }) => {
      const ground = { env: process.env, cwd: currentDirectory(), script: script(), out, err };
      const dryRun = flags.dryRun === true;
      if (name === 'plugin')
        finish(await (await import('../hooks/plugin.ts')).plugin(action, { ...ground, dryRun }));
      else finish(await (await import('../hooks/line-settings.ts')).lineSettings(action, ground, dryRun));
    });
};

interface BeatFlags {
  readonly task?: string;
  readonly phase?: number;
  readonly operation?: string;
  readonly proof?: string;
  readonly session?: string;
  readonly status?: string;
}

const addBeat = (program: Command, { out, err, finish }: Inside): void => {
  program
    .command('beat')
    .description('writes a heartbeat: .agent-progress.json of a task, or of this directory')
    .option('--task <number>', 'the task: specs/NUMBER_... of this project')
    .addOption(new Option('--phase <number>', 'the phase').argParser(numberBetween(0, 1_000_000)))
    .option('--operation <name>', 'what is being done')
    .option('--proof <name>', 'what is being proven')
    .option('--session <id>', 'whose heartbeat it is')
    .option('--status <word>', 'how it stands; `completed` ends the heartbeat')
    .action(async (_: unknown, command: Command) => {
      const flags: BeatFlags = command.opts();
      const { beatCommand } = await import('../hooks/beat-command.ts');
      finish(beatCommand(flags, { env: process.env, cwd: workDirectory(), now: new Date(), out, err }));
    });
};

interface PrebuildFlags {
  readonly timeout: number;
  readonly force?: boolean;
  readonly verbose?: boolean;
  readonly strict?: boolean;
}

const addPrebuild = (program: Command, { out, err, finish }: Inside): void => {
  program
    .command('prebuild')
    .description('warms the cache of a Lean project with lake build; exits 0 unless --strict')
    .addOption(
      new Option('--timeout <seconds>', 'how long it may take')
        .default(120)
        .argParser(numberBetween(1, 86_400)),
    )
    .option('--force', 'lake clean first')
    .option('--verbose', 'show the output as well')
    .option('--strict', 'exit as the build does, 124 when it took too long')
    .action(async (_: unknown, command: Command) => {
      const flags: PrebuildFlags = command.opts();
      const { prebuild } = await import('../hooks/prebuild.ts');
      const { outlivesTerminal } = await import('../act/run-child.ts');
      finish(
        await prebuild(
          {
            timeoutMs: flags.timeout * 1000,
            force: flags.force === true,
            verbose: flags.verbose === true,
            strict: flags.strict === true,
          },
          { env: process.env, cwd: currentDirectory(), out, err, ignoresHangup: outlivesTerminal() },
        ),
      );
    });
};

interface ExclusiveFlags {
  readonly wait: number;
  readonly key?: string;
}

/** Without `--` our own flags are taken out of the command, wherever they stand in it: it would be run without them. */
const refuseMixed = (words: readonly string[]): void => {
  const { argv } = process;
  const first = argv.indexOf(words[0] ?? '', argv.indexOf('exclusive') + 1);
  if (!argv.includes('--') && argv.slice(first).some(word => word.startsWith('-')))
    throw new UsageError('a command with flags stands after --: reaptop exclusive -- lake build --verbose.');
};

const addExclusive = (program: Command, { err, finish }: Inside): void => {
  program
    .command('exclusive')
    .description(
      "runs a command while no other build holds the project's lock; exits 75 if the lock is taken",
    )
    .addHelpText('after', examplesOf('exclusive'))
    .argument('<command...>', 'the command, after --')
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for the lock')
        .default(0)
        .argParser(numberBetween(0, 86_400)),
    )
    .option('--key <name>', "a lock of this name instead of the project's")
    .action(async (words: string[], _: unknown, command: Command) => {
      const flags: ExclusiveFlags = command.opts();
      refuseMixed(words);
      const { exclusive } = await import('../hooks/exclusive.ts');
      const { outlivesTerminal } = await import('../act/run-child.ts');
      finish(
        await exclusive(
          words,
          { waitMs: flags.wait * 1000, key: flags.key ?? null },
          { env: process.env, cwd: workDirectory(), err, ignoresHangup: outlivesTerminal() },
        ),
      );
    });
};

/** Commands for the inside of an agent and for its builds; each is loaded when it is called. */
export const addInsideCommands = (program: Command, inside: Inside): void => {
  addHook(program, inside);
  addInClaude(program, 'plugin', inside);
  addInClaude(program, 'line', inside);
  addBeat(program, inside);
  addPrebuild(program, inside);
  addExclusive(program, inside);
};

const GUARD_ACTIONS = ['install', 'uninstall', 'status', 'allow', 'print'] as const;
const PRINTED = ['rules', 'dashboard'] as const;

interface GuardFlags extends CommonOptions {
  readonly interval: number;
  readonly once?: boolean;
  readonly dryRun?: boolean;
  readonly grace: number;
  readonly metrics?: MetricsAddress;
}

export interface Guarding {
  readonly version: string;
  readonly out: Output;
  readonly err: Output;
  readonly finish: (code: number) => void;
  /** Aborted by TERM and the like; tells the program that a lost output is not what counts. */
  readonly interruption: () => AbortSignal;
}

/** A picture every ten seconds is enough for whoever looks later. */
const INTERVAL_SECONDS = 10;

const metricsAddress = (text: string): MetricsAddress => {
  const address = parseAddress(text);
  if (address === null) throw new InvalidArgumentError('It must be PORT or HOST:PORT.');
  return address;
};

/** `guard` and what belongs to it; each part is loaded when it is called. */
export const addGuardCommand = (program: Command, guarding: Guarding): void => {
  const guard = program
    .command('guard')
    .description('cleans by itself until it is stopped: samples, records, ends proven leaks')
    .addHelpText('after', examplesOf('guard'))
    .addArgument(
      new FollowedArgument('[action]', 'instead of running', { print: PRINTED }).choices(GUARD_ACTIONS),
    )
    .addArgument(new Argument('[what]', 'what to print').choices(PRINTED))
    .option('--once', 'one pass (two samples), for cron')
    .addOption(
      new Option(
        '--metrics <[host:]port>',
        'serve metrics for Prometheus; loopback unless a host is named',
      ).argParser(metricsAddress),
    )
    .addOption(
      new Option('--grace <seconds>', 'time between SIGTERM and SIGKILL')
        .default(5)
        .argParser(numberBetween(0, 3600)),
    )
    .option('--dry-run', 'install: only print the file');
  addCommonOptions(guard, {
    interval: `time between samples (default: ${INTERVAL_SECONDS})`,
    shown: ['root', 'interval', 'json', 'config', 'platform', 'poll'],
  }).action(async (action: string | undefined, what: string | undefined, _: unknown, command: Command) => {
    refuseElsewhere(command);
    const flags: GuardFlags = {
      interval: INTERVAL_SECONDS,
      ...command.optsWithGlobals<Omit<GuardFlags, 'interval'>>(),
    };
    guarding.finish(await perform(action, what, flags, guarding));
  });
};

const perform = async (
  action: string | undefined,
  what: string | undefined,
  flags: GuardFlags,
  guarding: Guarding,
): Promise<number> => {
  if ((action === 'print') !== (what !== undefined))
    throw new UsageError('guard print takes one of: rules, dashboard.');
  if (action === undefined) return run(flags, guarding);
  const { out, err } = guarding;
  if (action === 'print') return print(what as (typeof PRINTED)[number], out);
  const { directory } = statePlace(process.env);
  if (action === 'allow') return (await import('./guard-status.ts')).allowGuard({ directory, out });
  if (action === 'status') {
    const { system } = await prepare(flags, process.env, currentDirectory());
    const { status } = await import('./guard-status.ts');
    return status({ system, directory, out, now: Date.now() }, { json: flags.json === true });
  }
  const options = {
    dryRun: flags.dryRun === true,
    extra: action === 'install' ? guardWords(flags, workDirectory()) : [],
  };
  const dependencies = { env: process.env, out, err };
  const { install, uninstall } = await import('./guard-install.ts');
  return action === 'install' ? install(options, dependencies) : uninstall(options, dependencies);
};

/** For Prometheus (`rule_files:`) and Grafana (import). */
const print = async (what: (typeof PRINTED)[number], out: Output): Promise<number> => {
  out.write(
    what === 'rules'
      ? (await import('../guard/alert-rules.ts')).rulesText()
      : (await import('../guard/dashboard.ts')).dashboardText(),
  );
  return 0;
};

/** What was said to `guard install` is said to every guard that it starts, which starts in another directory. */
export const guardWords = (
  { metrics, interval, config, grace, root, platform, poll }: GuardFlags,
  cwd: string,
): string[] => [
  ...(metrics === undefined ? [] : ['--metrics', addressText(metrics)]),
  ...(interval === INTERVAL_SECONDS ? [] : ['--interval', String(interval)]),
  ...(grace === 5 ? [] : ['--grace', String(grace)]),
  ...(config === undefined ? [] : ['--config', resolve(cwd, config)]),
  ...(platform === 'auto' ? [] : ['--platform', platform]),
  ...(poll === true ? ['--poll'] : []),
  ...(root === undefined ? [] : ['--root', ...root.map(directory => resolve(cwd, directory))]),
];

const run = async (flags: GuardFlags, { version, out, err, interruption }: Guarding): Promise<number> => {
  let memory: Memory | null = null;
  const recall = { recall: (look: Parameters<Memory['recall']>[0]) => memory?.recall(look) ?? NOTHING };
  const prepared: Prepared = await prepare(flags, process.env, currentDirectory(), recall);
  const { runGuard } = await import('./guard.ts');
  return runGuard(
    {
      prepared,
      remember: it => {
        memory = it;
      },
      place: statePlace(process.env),
      out,
      err,
      abort: interruption(),
    },
    {
      once: flags.once === true,
      intervalSeconds: flags.interval,
      graceSeconds: flags.grace,
      metrics: flags.metrics ?? null,
      poll: flags.poll === true,
      version,
    },
  );
};

const NOTHING = { entries: [], warnings: [] } as const;

interface SleepFlags extends CommonOptions {
  readonly idle?: number;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface WakeFlags extends CommonOptions {
  readonly run?: boolean;
  readonly all?: boolean;
}

/** `0s`, `90m`, `2h`: for how long a session has been idle. */
const parseIdle = (text: string): number => {
  const seconds = /^(\d{1,7})s$/.exec(text)?.[1];
  return seconds === undefined ? parseSpan(text) / 1000 : Number(seconds);
};

interface SessionCommand extends Guarding {
  readonly width: () => number;
}

const shownAs = (flags: CommonOptions, { width }: SessionCommand) => ({
  json: flags.json === true,
  width: width(),
  color: wantsColor(process.stdout, process.env, !flags.color),
});

const addSleep = (program: Command, session: SessionCommand): void => {
  const sleep = program
    .command('sleep')
    .description('ends idle sessions and keeps the way back; never one that works or waits')
    .addHelpText('after', examplesOf('sleep'))
    .argument('[id...]', 'sessions by the beginning of their id, or by pid (default: all that are idle)')
    .addOption(
      new Option(
        '--idle <time>',
        'idle for at least: 90m, 2h, 1d (default: idle-agent.seconds of the config, 1h; any time for named ones)',
      ).argParser(parseIdle),
    )
    .option('--force', 'do it (without this flag only the plan is printed)')
    .option('--yes', 'the same as --force')
    .option('--dry-run', 'only print the plan, whatever else is given');
  addCommonOptions(sleep, { shown: ['json', 'color', 'config', 'platform'] }).action(
    async (which: string[], _: unknown, command: Command) => {
      refuseElsewhere(command);
      const flags: SleepFlags = command.optsWithGlobals();
      const { sleepSessions } = await import('./sessions.ts');
      const force = flags.force === true || flags.yes === true;
      const options = { which, idleSeconds: flags.idle, force, dryRun: flags.dryRun === true };
      const abort = session.interruption();
      session.finish(
        await sleepSessions(
          { ...session, prepared: await prepared(flags), abort },
          { ...options, ...shownAs(flags, session) },
        ),
      );
    },
  );
};

const addWake = (program: Command, session: SessionCommand): void => {
  const wake = program
    .command('wake')
    .description('brings a session back: types its command into its old tmux pane, or a new window')
    .addHelpText('after', examplesOf('wake'))
    .argument('[id...]', 'the beginning of its id, as reaptop sessions shows it')
    .option('--run', 'press Enter, too');
  addCommonOptions(wake, { all: 'all that sleep', shown: ['all', 'config', 'platform'] }).action(
    async (which: string[], _: unknown, command: Command) => {
      refuseElsewhere(command);
      const flags: WakeFlags = command.optsWithGlobals();
      const { wakeSessions } = await import('./sessions.ts');
      const options = { which, all: flags.all === true, run: flags.run === true };
      const abort = session.interruption();
      session.finish(
        await wakeSessions({ ...session, env: process.env, prepared: await prepared(flags), abort }, options),
      );
    },
  );
};

/** `sleep`, `wake` and `sessions`: they end and bring back sessions, and list them. */
export const addSessionCommands = (program: Command, session: SessionCommand): void => {
  addSleep(program, session);
  addWake(program, session);
  addCommonOptions(program.command('sessions'), { shown: ['json', 'color', 'config', 'platform'] })
    .description('every session, one line each: running, asleep or lost')
    .addHelpText('after', examplesOf('sessions'))
    .action(async (_: unknown, command: Command) => {
      refuseElsewhere(command);
      const flags: CommonOptions = command.optsWithGlobals();
      const { listSessions } = await import('./sessions.ts');
      const dependencies = { ...session, prepared: await prepared(flags) };
      session.finish(await listSessions(dependencies, shownAs(flags, session)));
    });
};

/** Where the words go. */
export interface Terminal {
  readonly out: { write(text: string): void; readonly isTTY?: boolean };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  readonly width: number;
}

export type SweepFlags = ActingOptions & { readonly retention: number; readonly still: number };

export interface CleanFlags extends ActingOptions {
  /** Not given: it depends on what is cleaned. */
  readonly ageThreshold?: number;
  readonly kind?: Kind[];
  readonly suspects?: boolean;
  readonly pid?: { pid: number; start?: string }[];
  readonly zombieParents?: boolean;
  readonly mine?: boolean;
}

const isForced = (flags: ActingOptions): boolean => flags.force === true || flags.yes === true;

/** What `clean` and `sweep` share. */
const actingOptions = (flags: ActingOptions, width: number) => ({
  force: isForced(flags),
  dryRun: flags.dryRun === true,
  graceSeconds: flags.grace,
  verbose: flags.verbose === true,
  json: flags.json === true,
  failOn: flags.failOn ?? null,
  width,
  color: wantsColor(process.stdout, process.env, !flags.color),
});

export const willAct = (flags: ActingOptions): boolean => isForced(flags) && flags.dryRun !== true;

/**
 * Ctrl-C and the like end a run between two steps. However often they come: what was begun is still written down,
 * which takes a moment, and the lock is released.
 */
export const interruption = (): AbortSignal => {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => abort.abort());
  return abort.signal;
};

const defaultAge = ({ zombieParents }: CleanFlags): number =>
  zombieParents === true ? ZOMBIE_AGE_MINUTES : CLEAN_AGE_MINUTES;

export const runClean = async (flags: CleanFlags, { out, err, width }: Terminal): Promise<number> => {
  if (flags.mine === true && (flags.pid !== undefined || flags.zombieParents === true))
    throw new UsageError("--mine can't be combined with --pid or --zombie-parents.");
  const { clean } = await import('./clean.ts');
  return clean(
    { prepared: await prepared(flags), out, err, abort: interruption() },
    {
      ...actingOptions(flags, width),
      ageThresholdMinutes: flags.ageThreshold ?? defaultAge(flags),
      kinds: flags.kind ?? [],
      suspects: flags.suspects === true,
      pids: flags.pid ?? [],
      zombieParents: flags.zombieParents === true,
      mine: flags.mine === true ? askedBySession(process.env) : undefined,
    },
  );
};

export const runSweep = async (flags: SweepFlags, { out, err, width }: Terminal): Promise<number> => {
  const { sweep } = await import('./sweep.ts');
  return sweep(
    { prepared: await prepared(flags), out, err, abort: interruption() },
    { ...actingOptions(flags, width), retentionDays: flags.retention, stillSeconds: flags.still },
  );
};
