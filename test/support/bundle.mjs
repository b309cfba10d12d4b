import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';

/** Node 20 cannot run TypeScript: bundles `entry` beside the packages it needs, until this process ends. */
export const bundleFor = async (entry, outfile) => {
  mkdirSync(dirname(outfile), { recursive: true });
  process.on('exit', () => rmSync(outfile, { force: true }));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return outfile;
};

/** Its `main`, from a bundle among the caches of the clone. */
export const mainOf = async (name, entry, repository) => {
  const outfile = `${repository}/node_modules/.cache/reaptop-${name}.${process.pid}.mjs`;
  return (await import(await bundleFor(entry, outfile))).main;
};
