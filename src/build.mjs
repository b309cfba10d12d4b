/**
 * Bundles `dist/`. `main.js` is CommonJS because that starts faster than an ES module (99 against 107 ms measured),
 * and holds everything `--once` needs; `cli.js` is the bin that starts it from V8's code cache. What only some
 * commands need is a chunk of its own, loaded on demand: zod when there is a config file, React and Ink for the
 * TUI, pino for the audit log, and so on.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const src = dirname(fileURLToPath(import.meta.url));
const dist = resolve(src, '../dist');

/** Files that become chunks when imported with `import()`. The TUI is an ES module: Ink and Yoga use top-level await. */
const CHUNKS = {
  'engine/config-schema.ts': 'config-schema.js',
  'observe/portable/system.ts': 'portable.js',
  'observe/recorded/index.ts': 'recorded.js',
  'observe/files/watch.ts': 'watch.js',
  'act/audit.ts': 'audit.js',
  'commands/clean.ts': 'clean.js',
  'commands/sweep.ts': 'sweep.js',
  'commands/live.ts': 'live.js',
  'tui/main.tsx': 'tui.mjs',
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
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [lazyChunks, commanderWithoutChildren],
};

const bundle = (source, output) =>
  build({
    ...common,
    format: output.endsWith('.mjs') ? 'esm' : 'cjs',
    entryPoints: [resolve(src, source)],
    outfile: resolve(dist, output),
  });

/** One real run fills the cache with exactly the functions that a run needs. */
const WRITE_CACHE = `
  process.argv = [process.argv[0], ${JSON.stringify(resolve(dist, 'cli.js'))}, '--once'];
  process.stdout.write = () => true;
  const { script } = require(${JSON.stringify(resolve(dist, 'cli.js'))});
  process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(resolve(dist, 'main.cache'))}, script.createCachedData()));
`;

rmSync(dist, { recursive: true, force: true });
const present = Object.entries(CHUNKS).filter(([source]) => existsSync(resolve(src, source)));
await Promise.all([bundle('cli.ts', 'main.js'), ...present.map(([source, output]) => bundle(source, output))]);
copyFileSync(resolve(src, 'launch.cjs'), resolve(dist, 'cli.js'));
chmodSync(resolve(dist, 'cli.js'), 0o755);
try {
  execFileSync(process.execPath, ['-e', WRITE_CACHE], { stdio: 'ignore' });
} catch {
  // A machine on which --once cannot run (no /proc) still gets a working, slower program.
}
