/** The soak, from its bundle. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mainOf } from '../../support/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const repository = resolve(here, '../../..');
const main = await mainOf('soak', resolve(here, 'soak.ts'), repository);
process.exitCode = await main(process.argv.slice(2));
