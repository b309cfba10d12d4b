/**
 * Bundles `dist/`: `quick.js` is what hooks and status lines need, `once.js` what `--once` needs, `main.js` the rest of
 * the program, which takes from `once.js` what that has; `settings.js` is zod, for a config with more in it than
 * settings of the screen, and `cli.js` the bin that starts them from V8's code cache. A module is in two of them at
 * most, and nothing is loaded twice. CommonJS starts faster than ES modules (99 against 107 ms). What else is imported
 * with `import()` is in the bundle and runs when it is first asked for: React and Ink for the screen.
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

/** What the small bundles need so rarely that only `main.js` has it, which they load for it then. */
const RARE = [
  'hooks/session-start.ts',
  'hooks/kill-targets.ts',
  'observe/files/watch-files.ts',
  'observe/recorded/load.ts',
  'observe/portable/system.ts',
  'remember/recorder/recording.ts',
].map(path => resolve(src, path));

const rareFromMain = {
  name: 'rare-from-main',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const at = kind === 'dynamic-import' ? RARE.indexOf(resolve(resolveDir, path)) : -1;
      return at < 0 ? undefined : { path: `${at}`, namespace: 'rare' };
    });
    esbuild.onLoad({ filter: /.*/, namespace: 'rare' }, ({ path }) => ({
      contents: `module.exports = require('./main.js').rare[${path}]();`,
    }));
    esbuild.onResolve({ filter: /^\.\/main\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Every bundle has this one in a file of its own. */
const settingsApart = {
  name: 'settings-apart',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\/config-schema\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './settings.js', external: true } : undefined,
    );
  },
};

/** What `once.ts` loads on a Mac alone, and `quick.ts` too: a module is in two bundles at most. */
const SHARED_TOO = ['model/shell', 'observe/darwin/host', 'observe/darwin/lsof', 'observe/darwin/table'].map(
  name => `src/${name}.ts`,
);

/** What `once.ts` needs as it starts: its modules, and by which names each of them is asked. */
const startOfOnce = async () => {
  const dry = { absWorkingDir: root, metafile: true, write: false, outdir: fresh };
  const entryPoints = ['src/once.ts', ...SHARED_TOO];
  const { metafile } = await build({ ...options, ...dry, entryPoints });
  const paths = new Set(entryPoints);
  for (const path of paths)
    for (const { kind, external, path: next } of metafile.inputs[path].imports)
      if (kind === 'import-statement' && !external) paths.add(next);
  const { metafile: each } = await build({ ...dry, format: 'esm', entryPoints: [...paths] });
  return Object.values(each.outputs).flatMap(({ entryPoint, exports }) =>
    exports.length > 0 ? [{ path: resolve(root, entryPoint), exports }] : [],
  );
};

/** An entry that is not on disk. */
const madeOf = lines => ({
  name: 'made',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^made$/ }, ({ path }) => ({ path, namespace: 'made' }));
    esbuild.onLoad({ filter: /.*/, namespace: 'made' }, () => ({
      contents: lines.join('\n'),
      resolveDir: src,
    }));
  },
});

/** Gives its modules away, by their numbers. Functions: who does not ask pays for no object. */
const giving = modules => [
  ...modules.map(({ path }, at) => `import * as m${at} from ${JSON.stringify(path)};`),
  `export const given = [${modules.map(
    ({ exports }, at) => `() => ({ ${exports.map(name => `${name}: m${at}.${name}`)} })`,
  )}];`,
];

/** Takes the modules from the bundle that has them. As constants: a getter at each use would cost every refresh. */
const takenFrom = (file, modules) => ({
  name: `taken-from-${file}`,
  setup(esbuild) {
    const taken = new Map(modules.map(({ path, exports }, at) => [path, { at, exports }]));
    esbuild.onResolve({ filter: /^\.\/\w+\.js$/ }, ({ path }) =>
      path === file ? { path, external: true } : undefined,
    );
    esbuild.onLoad({ filter: /\.[jt]sx?$/ }, ({ path }) => {
      const module = taken.get(path);
      if (module === undefined) return undefined;
      const names = module.exports.map(name =>
        name === 'default' ? 'export default m.default;' : `export const ${name} = m.${name};`,
      );
      return { contents: [`const m = require('${file}').given[${module.at}]();`, ...names].join('\n') };
    });
  },
});

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

const bundle = async (name, entry, ...plugins) => {
  const { metafile } = await build({
    ...options,
    plugins: [...plugins, ...options.plugins],
    entryPoints: [entry],
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
  const start = await startOfOnce();
  const shared = takenFrom('./once.js', start);
  const once = madeOf(["export * from './once.ts';", ...giving(start)]);
  const rare = RARE.map(path => `() => require(${JSON.stringify(path)})`);
  const main = madeOf(["export { main } from './cli.ts';", `export const rare = [${rare}];`]);
  const built = await Promise.all([
    bundle('quick', 'src/quick.ts', settingsApart, rareFromMain),
    bundle('once', 'made', settingsApart, rareFromMain, once),
    bundle('settings', 'src/engine/config-schema.ts', shared),
    bundle('main', 'made', settingsApart, shared, main),
  ]);
  const hash = createHash('sha256');
  for (const name of ['quick', 'once', 'settings', 'main'])
    hash.update(readFileSync(resolve(fresh, `${name}.js`)));
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
