/**
 * The bundle `quick.js`. Hooks run at every step of every session, and status bars every few seconds: they do not wait
 * for the rest of the program to load.
 */
import { hookEntry } from './hooks/entry.ts';

/** False: these words are for the whole program. */
export const answers = async (args: readonly string[]): Promise<boolean> => {
  if (args[0] === 'hook') return hookEntry(args.slice(1));
  const { lineEntry } = await import('./commands/line.ts');
  return lineEntry(args);
};
