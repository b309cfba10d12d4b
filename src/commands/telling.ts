import { Argument, type Command } from 'commander';
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

/** Commands that tell something and change nothing; each is loaded when it is called. */
export const addTellingCommands = (program: Command, { version, out, width, finish }: Telling): void => {
  addCommonOptions(program.command('doctor'))
    .description('what works here and what does not, one line a check, with what to do')
    .action(async (_: unknown, command: Command) => {
      const flags: CommonOptions = command.optsWithGlobals();
      const { doctor } = await import('./doctor.ts');
      const color = wantsColor(process.stdout, process.env, !flags.color);
      const options = { json: flags.json === true, failOn: flags.failOn ?? null, width: width(), color };
      finish(await doctor(flags, options, { env: process.env, cwd: currentDirectory(), out }));
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
