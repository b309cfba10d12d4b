import type { Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { manualPage } from './manual.ts';
import { type CommandShape, furtherPlaces, programShape } from './program-shape.ts';
import type { Shell } from './shells.ts';
import { zshCompletion } from './zsh.ts';

const GENERATORS: Readonly<Record<Shell, (shapes: readonly CommandShape[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Made from the same table of options as `--help`: what is added there is completed here. */
export const completion = (program: Command, shell: Shell): string =>
  GENERATORS[shell]([...programShape(program), ...furtherPlaces(program)]);

export const manual = (program: Command, version: string): string =>
  manualPage(programShape(program), version);
