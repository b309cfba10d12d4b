import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Paths beside a file are beside the file, not beside the bundle. */
const keepsPlaces = {
  name: 'keeps-places',
  setup: esbuild =>
    esbuild.onLoad({ filter: /\/test\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'ts',
    })),
};

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
    plugins: [keepsPlaces],
  });
  return outfile;
};

/** Its `main`, from a bundle among the caches of the clone. */
export const mainOf = async (name, entry, repository) => {
  const outfile = `${repository}/node_modules/.cache/reaptop-${name}.${process.pid}.mjs`;
  return (await import(await bundleFor(entry, outfile))).main;
};
