/** Node 20 cannot run TypeScript: bundles the two halves of the suite, outside and inside a scene, and runs the first. */
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const repository = resolve(here, '../../..');
const directory = resolve(repository, 'node_modules/.cache', `reaptop-real.${process.pid}`);

mkdirSync(directory, { recursive: true });
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
await build({
  entryPoints: [resolve(here, 'run.ts'), resolve(here, 'inside.ts')],
  outdir: directory,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
});
const { main } = await import(pathToFileURL(resolve(directory, 'run.mjs')).href);
process.exitCode = await main(process.argv.slice(2), { repository, directory });
