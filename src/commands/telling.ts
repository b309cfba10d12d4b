import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { REPORT_GROUPS, type ReportGroup } from '../model/report.ts';
import { SHELLS, type Shell } from './completion/shells.ts';
import { currentDirectory } from './current-directory.ts';
import { addCommonOptions, type CommonOptions } from './options.ts';
import type { Output } from './output.ts';
import { wantsColor } from './paint.ts';

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

/** Commands that tell something and change nothing; each is loaded when it is called. */
export const addTellingCommands = (program: Command, { version, out, width, finish }: Telling): void => {
  addCommonOptions(program.command('doctor'))
    .description('what works here and what does not, one line per check, with what to do')
    .action(async (_: unknown, command: Command) => {
      const flags: CommonOptions = command.optsWithGlobals();
      const { doctor } = await import('./doctor.ts');
      const color = wantsColor(process.stdout, process.env, !flags.color);
      const options = { json: flags.json === true, failOn: flags.failOn ?? null, width: width(), color };
      finish(await doctor(flags, options, { env: process.env, cwd: currentDirectory(), out }));
    });
  addCommonOptions(program.command('report'))
    .description('does it help? leaks, zombies, hangs and memory over time, beside their targets')
    .addOption(
      new Option('--since <time>', 'how far back: 90m, 12h, 7d, 2w')
        .default(SPAN_MS.w, '7d')
        .argParser(parseSpan),
    )
    .addOption(
      new Option('--by <group>', 'how the figures are grouped').choices([...REPORT_GROUPS]).default('day'),
    )
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
  program
    .command('completion')
    .description('completions for your shell, made from the same table as this help')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      const { completion } = await import('./completion/index.ts');
      out.write(completion(program, shell));
    });
  // For the build, which puts the page into the package.
  program.command('manual', { hidden: true }).action(async () => {
    const { manual } = await import('./completion/index.ts');
    out.write(manual(program, version));
  });
};
