/** Node 20 cannot run TypeScript: bundles the soak beside what it needs, runs it, removes the bundle. */
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const directory = resolve(here, '../../node_modules/.cache');
const bundle = resolve(directory, `reaptop-soak.${process.pid}.mjs`);

mkdirSync(directory, { recursive: true });
process.on('exit', () => rmSync(bundle, { force: true }));
await build({
  entryPoints: [resolve(here, 'soak.ts')],
  outfile: bundle,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
const { main } = await import(bundle);
process.exitCode = await main(process.argv.slice(2));
