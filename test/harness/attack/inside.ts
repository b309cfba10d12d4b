import { writeFileSync } from 'node:fs';
import { attack } from './attack.ts';

/** Runs in a pid namespace of its own. argv: minutes of guard (0: clean instead), where to write the result. */
const [minutes, told] = process.argv.slice(2);
const results = await attack(Number(minutes), line => process.stderr.write(`${line}\n`));
if (told !== undefined) writeFileSync(told, JSON.stringify(results));
