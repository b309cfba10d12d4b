import { Argument, type Command, Option } from 'commander';
import { UsageError } from '../collect/config.ts';
import { HOOK_EVENTS, type HookEvent } from '../model/hook.ts';
import { currentDirectory, workDirectory } from './current-directory.ts';
import type { Scope } from './hook/install.ts';
import { numberBetween } from './options.ts';

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
  readonly only?: HookEvent[];
  readonly dryRun?: boolean;
}

const script = (): string => process.argv[1] ?? 'reaptop';

/** `hook`: events never come here; the launcher has a small program for them. */
const addHook = (program: Command, { out, err, finish }: Inside): void => {
  program
    .command('hook')
    .description(
      'hooks for Claude Code: install, uninstall or status; the hooks themselves call `reaptop hook EVENT`',
    )
    .addArgument(new Argument('<action>', 'what to do').choices([...ACTIONS]))
    .addOption(new Option('--user', "in the user's settings (the default)").conflicts(['project', 'shared']))
    .addOption(
      new Option('--project', 'in your own settings of this directory (settings.local.json)').conflicts(
        'shared',
      ),
    )
    .option('--shared', 'in the settings that everybody who works on this directory has (settings.json)')
    .addOption(new Option('--only <event...>', 'only these events').choices([...HOOK_EVENTS]))
    .option('--dry-run', 'only print what would change')
    .action(async (action: (typeof ACTIONS)[number], _: unknown, command: Command) => {
      const flags: HookFlags = command.opts();
      const scope: Scope = flags.shared === true ? 'shared' : flags.project === true ? 'project' : 'user';
      const cwd = scope === 'user' ? currentDirectory() : workDirectory();
      const ground = { env: process.env, cwd, script: script(), out, err };
      const options = { scope, only: flags.only, dryRun: flags.dryRun === true };
      const { hookStatus, installHooks, uninstallHooks } = await import('./hook/settings.ts');
      if (action === 'status') finish(hookStatus(ground));
      else finish(await (action === 'install' ? installHooks : uninstallHooks)(ground, options));
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
      const { beatCommand } = await import('./beat.ts');
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
      const { prebuild } = await import('./prebuild.ts');
      finish(
        await prebuild(
          {
            timeoutMs: flags.timeout * 1000,
            force: flags.force === true,
            verbose: flags.verbose === true,
            strict: flags.strict === true,
          },
          { env: process.env, cwd: currentDirectory(), out, err },
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
      "runs a command while no other build holds the project's lock; exits 75 when it is not to be had",
    )
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
      const { exclusive } = await import('./exclusive.ts');
      finish(
        await exclusive(
          words,
          { waitMs: flags.wait * 1000, key: flags.key ?? null },
          { env: process.env, cwd: workDirectory(), err },
        ),
      );
    });
};

/** Commands for the inside of an agent and for its builds; each is loaded when it is called. */
export const addInsideCommands = (program: Command, inside: Inside): void => {
  addHook(program, inside);
  addBeat(program, inside);
  addPrebuild(program, inside);
  addExclusive(program, inside);
};
