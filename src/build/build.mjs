/**
 * Bundles `dist/`: `main.js` is the whole program, `quick.js` what hooks and status lines need, `once.js`
 * what `--once` needs, and `cli.js` the bin that
 * starts them from V8's code cache. CommonJS starts faster than ES modules (99 against 107 ms). What is imported with
 * `import()` is in the bundle and runs when it is first asked for: React and Ink for the screen, zod when there is a
 * config file, pino for the audit log.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inkPatches, tuiEntry } from './ink/patches.mjs';
import { licencesOf } from './licences.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const src = dirname(here);
const root = dirname(src);
const dist = resolve(root, 'dist');
/** Built beside and swapped in at the end: a program that starts meanwhile is the old one, whole. */
const fresh = resolve(root, `dist.${process.pid}.log`);
const old = resolve(root, `dist.${process.pid}.old.log`);

/** Yoga is loaded asynchronously: the screen waits for it before it draws. */
const screenWaitsForYoga = {
  name: 'screen-waits-for-yoga',
  setup(esbuild) {
    const main = resolve(src, 'tui/main.tsx');
    esbuild.onResolve({ filter: /tui\/main\.tsx$/ }, args =>
      args.kind === 'dynamic-import' ? { path: main, namespace: 'after-yoga' } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'after-yoga' }, ({ path }) => ({
      contents: tuiEntry(path),
      resolveDir: dirname(path),
    }));
  },
};

/** In `quick.js`: a session that starts among leaks, and a broad kill, need most of the program: `main.js` has it. */
const rareHooksFromMain = {
  name: 'rare-hooks-from-main',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\/(?:session-start|kill-targets)\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './main.js', external: true } : undefined,
    );
  },
};

/** Commander loads child_process (5 ms) for subcommands that are executables of their own: we have none. */
const commanderWithoutChildren = {
  name: 'commander-without-children',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^(node:)?child_process$/ }, args =>
      args.importer.includes('/node_modules/commander/') ? { path: 'none', namespace: 'empty' } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  metafile: true,
  platform: 'node',
  format: 'cjs',
  // A script from the code cache cannot `import()`: what is left of them becomes `require`.
  supported: { 'dynamic-import': false },
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  // For REAPTOP_DEBUG=1. Where a line is, not what it says: that is in the repository.
  sourcemap: 'linked',
  sourcesContent: false,
  // Its other form finds its own files by a way that no bundler follows.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  loader: { '.md': 'text' },
  logLevel: 'warning',
  // ps-list asks where it is, for a program that it has on Windows alone.
  define: { 'process.env.NODE_ENV': '"production"', 'import.meta.url': '"file:///"' },
  plugins: [
    screenWaitsForYoga,
    commanderWithoutChildren,
    inkPatches({ readFile, dropIn: process.env.REAPTOP_INK !== 'published' }),
  ],
};

const bundle = async (name, ...plugins) => {
  const { metafile } = await build({
    ...options,
    plugins: [...options.plugins, ...plugins],
    entryPoints: [resolve(src, `${name}.ts`)],
    outfile: resolve(fresh, `${name}.js`),
  });
  return metafile;
};

/** Without a home: building leaves nothing outside the clone. */
const printed = command => execFileSync(process.execPath, [resolve(fresh, 'cli.js'), command], { env: {} });

/** `dist/` is a plugin of Claude Code, too: what a marketplace copies is whole. */
const writePlugin = () => {
  for (const [path, { text, mode }] of Object.entries(JSON.parse(printed('plugin-files')))) {
    mkdirSync(dirname(resolve(fresh, path)), { recursive: true });
    writeFileSync(resolve(fresh, path), text, { mode });
  }
};

try {
  const built = await Promise.all([bundle('main'), bundle('quick', rareHooksFromMain), bundle('once')]);
  const hash = createHash('sha256');
  for (const name of ['main.js', 'quick.js', 'once.js']) hash.update(readFileSync(resolve(fresh, name)));
  const launch = readFileSync(resolve(here, 'launch.cjs'), 'utf8').replace(
    "'BUILD'",
    `'${hash.digest('hex').slice(0, 16)}'`,
  );
  writeFileSync(resolve(fresh, 'cli.js'), `#!/usr/bin/env node\n${launch}`, { mode: 0o755 });
  for (const name of ['keep-cache.cjs', 'screen-flags.cjs'])
    copyFileSync(resolve(here, name), resolve(fresh, name));
  writeFileSync(resolve(fresh, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(resolve(fresh, 'LICENSES.txt'), licencesOf(root, built));
  for (const [name, page] of Object.entries(JSON.parse(printed('manual'))))
    writeFileSync(resolve(fresh, name), page);
  writePlugin();
  // Two renames: there is no program for microseconds, not for as long as it takes to remove one.
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
} finally {
  for (const directory of [fresh, old]) rmSync(directory, { recursive: true, force: true });
}
