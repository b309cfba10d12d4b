/**
 * Bundles `dist/`. `main.js` is CommonJS because that starts faster than an ES module (99 against 107 ms measured),
 * and holds everything `--once` needs; `cli.js` is the bin that starts it from V8's code cache. What only some
 * commands need is a chunk of its own, loaded on demand: zod when there is a config file, React and Ink for the
 * TUI, pino for the audit log, and so on.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
/** Built beside and swapped in at the end: whoever starts the program meanwhile gets the old one, whole. */
const fresh = resolve(root, `dist.${process.pid}.log`);

const old = resolve(root, `dist.${process.pid}.old.log`);

/** Files that become chunks when imported with `import()`. */
const CHUNKS = {
  'collect/config-schema.ts': 'config-schema.js',
  'observe/portable/system.ts': 'portable.js',
  'observe/recorded/index.ts': 'recorded.js',
  'observe/files/watch.ts': 'watch.js',
  'act/record/audit.ts': 'audit.js',
  'act/portable/tree-sweep.ts': 'portable-sweep.js',
  'commands/clean.ts': 'clean.js',
  'commands/sweep.ts': 'sweep.js',
  'commands/doctor.ts': 'doctor.js',
  'commands/report.ts': 'report.js',
  'commands/completion/index.ts': 'completion.js',
  'commands/live.ts': 'live.js',
  'commands/past.ts': 'past.js',
  'collect/builds.ts': 'builds.js',
  'commands/hook/session-start.ts': 'session-start.js',
  'commands/guard.ts': 'guard.js',
  'commands/guard-actions.ts': 'guard-actions.js',
  'guard/metrics.ts': 'metrics.js',
  'commands/hook/settings.ts': 'hook-settings.js',
  'commands/beat.ts': 'beat.js',
  'commands/line/line.ts': 'line-looked.js',
  'commands/prebuild.ts': 'prebuild.js',
  'commands/exclusive.ts': 'exclusive.js',
  'remember/recorder/index.ts': 'recorder.js',
  'tui/main.tsx': 'tui.js',
};

const lazyChunks = {
  name: 'lazy-chunks',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\.?\// }, args => {
      if (args.kind !== 'dynamic-import') return undefined;
      const file = resolve(args.resolveDir, args.path);
      const chunk = Object.entries(CHUNKS).find(([source]) => resolve(src, source) === file)?.[1];
      return chunk === undefined ? undefined : { path: `./${chunk}`, external: true };
    });
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

const common = {
  absWorkingDir: root,
  bundle: true,
  metafile: true,
  platform: 'node',
  format: 'cjs',
  // A script from the code cache cannot `import()`; all chunks are CommonJS, so it becomes `require`.
  supported: { 'dynamic-import': false },
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  // For REAPTOP_DEBUG=1. Where a line is, not what it says: that is in the repository.
  sourcemap: 'linked',
  sourcesContent: false,
  // Its other form finds its own files by a way that no bundler follows.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [
    lazyChunks,
    commanderWithoutChildren,
    inkPatches({ readFile, dropIn: process.env.REAPTOP_INK !== 'published' }),
  ],
};

/** ps-list asks where it lies as soon as it is loaded. */
const KNOWS_ITS_PLACE = {
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { ...common.define, 'import.meta.url': 'importMetaUrl' },
};

/** The TUI waits for Yoga before it draws; everything else is bundled as it is. */
const entryOf = source =>
  source === 'tui/main.tsx'
    ? { stdin: { contents: tuiEntry(`./${source}`), resolveDir: src } }
    : { entryPoints: [resolve(src, source)] };

const bundle = (source, output) =>
  build({
    ...common,
    ...(output === 'portable.js' ? KNOWS_ITS_PLACE : {}),
    ...entryOf(source),
    outfile: resolve(fresh, output),
  });

/**
 * Started by its name, the program goes through `sh`, which costs what `env node` would. Where NODE_EXTRA_CA_CERTS is set
 * (behind a company's proxy, mostly), Node reads a hundred and more certificates before anything
 * else, 25 to 50 ms at every start and so at every hook; we speak to nobody who would show one. To JavaScript the second
 * line is a text and a comment: `node cli.js` works as well, and is only slower there.
 *
 * Variables whose names are no words (functions that bash exports) do not come through `sh`: what runs a program of the
 * user's gets them beside, unless they are longer than one variable may be. It is also told which signals nohup and its
 * like have turned off, because Node turns all of them on again.
 */
const HEAD = `#!/bin/sh
':' // ; case " $* " in *' exclusive '*|*' prebuild '*) while read -r k v; do [ "$k" != SigIgn: ] || export REAPTOP_SIGIGN="$v"; done 2> /dev/null < /proc/$$/status; [ -r /proc/$$/environ ] && REAPTOP_ENVIRON=$(base64 < /proc/$$/environ 2> /dev/null) && [ \${#REAPTOP_ENVIRON} -lt 100000 ] && export REAPTOP_ENVIRON;; esac
':' // ; [ -z "$NODE_EXTRA_CA_CERTS" ] || export REAPTOP_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS" NODE_EXTRA_CA_CERTS=; exec node "$0" "$@"
`;

/** Without a home: building leaves nothing outside the clone. */
const manual = () => execFileSync(process.execPath, [resolve(fresh, 'cli.js'), 'manual'], { env: {} });

try {
  const present = Object.entries(CHUNKS).filter(([source]) => existsSync(resolve(src, source)));
  const built = await Promise.all([
    bundle('cli.ts', 'main.js'),
    bundle('commands/hook/entry.ts', 'hook.js'),
    bundle('commands/line/entry.ts', 'line.js'),
    ...present.map(([source, output]) => bundle(source, output)),
  ]);
  const hash = createHash('sha256');
  for (const name of readdirSync(fresh).sort()) hash.update(readFileSync(resolve(fresh, name)));
  const launch = readFileSync(resolve(here, 'launch.cjs'), 'utf8').replace(
    "'BUILD'",
    `'${hash.digest('hex').slice(0, 16)}'`,
  );
  writeFileSync(resolve(fresh, 'cli.js'), HEAD + launch, { mode: 0o755 });
  writeFileSync(resolve(fresh, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(
    resolve(fresh, 'LICENSES.txt'),
    licencesOf(
      root,
      built.map(({ metafile }) => metafile),
    ),
  );
  writeFileSync(resolve(fresh, 'reaptop.1'), manual());
  // Two renames: there is no program for microseconds, not for as long as it takes to remove one.
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
} finally {
  for (const directory of [fresh, old]) rmSync(directory, { recursive: true, force: true });
}
