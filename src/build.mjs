/**
 * Bundles `dist/`. `main.js` is CommonJS because that starts faster than an ES module (99 against 107 ms measured),
 * and holds everything `--once` needs; `cli.js` is the bin that starts it from V8's code cache. What only some
 * commands need is a chunk of its own, loaded on demand: zod when there is a config file, React and Ink for the
 * TUI, pino for the audit log, and so on.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const src = dirname(fileURLToPath(import.meta.url));
const dist = resolve(src, '../dist');
/** Built beside and swapped in at the end: whoever starts the program meanwhile gets the old one, whole. */
const fresh = resolve(src, `../dist.${process.pid}.log`);

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

/**
 * What must not come along: commander loads child_process (5 ms) for subcommands that are executables of their own,
 * which we have none of; Ink asks for React's developer tools, and draws nothing when it believes to be in CI.
 */
const LEFT_OUT = [
  {
    importer: '/node_modules/commander/',
    module: /^(node:)?child_process$/,
    contents: 'module.exports = {};',
  },
  { importer: '/node_modules/ink/', module: /^react-devtools-core$/, contents: 'export default {};' },
  { importer: '/node_modules/ink/', module: /^is-in-ci$/, contents: 'export default false;' },
];

const leaveOut = {
  name: 'leave-out',
  setup(esbuild) {
    for (const [index, { importer, module }] of LEFT_OUT.entries()) {
      esbuild.onResolve({ filter: module }, args =>
        args.importer.includes(importer) ? { path: String(index), namespace: 'left-out' } : undefined,
      );
    }
    esbuild.onLoad({ filter: /.*/, namespace: 'left-out' }, args => ({
      contents: LEFT_OUT[Number(args.path)].contents,
    }));
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
  plugins: [lazyChunks, leaveOut],
};

/** React and others are CommonJS: inside an ES module they need a `require`. */
const ESM = {
  format: 'esm',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

/** A script from the code cache cannot `import()`: there it becomes `require`. Only `live.js` really imports, the TUI. */
const CJS = { format: 'cjs', supported: { 'dynamic-import': false } };
const CJS_THAT_IMPORTS = { format: 'cjs' };

const formatOf = output => (output.endsWith('.mjs') ? ESM : output === 'live.js' ? CJS_THAT_IMPORTS : CJS);

const bundle = (source, output) =>
  build({
    ...common,
    ...formatOf(output),
    entryPoints: [resolve(src, source)],
    outfile: resolve(fresh, output),
  });

/** One real run fills the cache with exactly the functions that a run needs. */
const cacheWriter = directory => `
  process.argv = [process.argv[0], 'reaptop', '--once'];
  process.stdout.write = () => true;
  const { script } = require(${JSON.stringify(resolve(directory, 'cli.js'))});
  process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(resolve(directory, 'main.cache'))}, script.createCachedData()));
`;

try {
  const present = Object.entries(CHUNKS).filter(([source]) => existsSync(resolve(src, source)));
  await Promise.all([
    bundle('cli.ts', 'main.js'),
    ...present.map(([source, output]) => bundle(source, output)),
  ]);
  copyFileSync(resolve(src, 'launch.cjs'), resolve(fresh, 'cli.js'));
  chmodSync(resolve(fresh, 'cli.js'), 0o755);
  writeFileSync(resolve(fresh, 'package.json'), '{ "type": "commonjs" }\n');
  try {
    execFileSync(process.execPath, ['-e', cacheWriter(fresh)], { stdio: 'ignore' });
  } catch {
    // A machine on which --once cannot run (no /proc) still gets a working, slower program.
  }
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
