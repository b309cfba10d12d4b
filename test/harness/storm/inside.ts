import { writeFileSync } from 'node:fs';
import { storm } from './storm.ts';

/** Runs in a pid namespace of its own. argv: clean-ups, seconds, the highest pid, where to write the tally. */
const [cleanups, seconds, pidMax, told] = process.argv.slice(2);
const tally = await storm({
  cleanups: Number(cleanups),
  seconds: Number(seconds),
  pidMax: Number(pidMax),
  say: line => process.stderr.write(`${line}\n`),
});
if (told !== undefined) writeFileSync(told, JSON.stringify(tally));
