/**
 * The bundle `once.js`: one snapshot as text or JSON, for those words that need no parser of command lines. The whole
 * program is five times as long, and its start twice.
 */
import { once } from './commands/once.ts';
import { prepared } from './commands/prepared.ts';
import { scannedFiles } from './engine/agent-files.ts';
import { EXIT_FAILURE, tolerantOutput, wantsColor, widthOf } from './output.ts';

/** Anything else is left to the whole program. */
const WORDS = new Set(['--once', '--json', '--all', '--no-color']);

/** False: these words, or what went wrong before anything was printed, are for the whole program. */
export const answers = async (args: readonly string[]): Promise<boolean> => {
  if (!args.includes('--once') || !args.every(word => WORDS.has(word))) return false;
  const { env, stdout } = process;
  const err = tolerantOutput(process.stderr);
  const out = tolerantOutput(stdout, why => err.write(`reaptop: the output could not be written: ${why}\n`));
  const printed: string[] = [];
  try {
    const { config, collectorWith } = await prepared({ platform: 'auto' });
    const options = {
      all: args.includes('--all'),
      json: args.includes('--json'),
      width: widthOf(env),
      color: wantsColor(stdout, env, args.includes('--no-color')),
      failOn: null,
    };
    await once(collectorWith(scannedFiles(config)), options, { write: text => printed.push(text) });
  } catch {
    return false; // it says the same again, in its own words
  }
  process.on('exit', () => {
    if (out.lost() !== null && !process.exitCode) process.exitCode = EXIT_FAILURE;
  });
  out.write(printed.join(''));
  // Left to itself Node takes everything apart first: 3 ms, and 10 after a look at 5,000 processes.
  if (out.taken() && err.taken()) process.exit();
  return true;
};
