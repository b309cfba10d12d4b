/** The check of the package, from its bundle. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mainOf } from '../../support/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const repository = resolve(here, '../../..');
const main = await mainOf('ship', resolve(here, 'run.ts'), repository);
process.exitCode = await main(repository);
