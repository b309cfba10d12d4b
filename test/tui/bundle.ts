import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The TUI on the invented machine, bundled as the product is, on Ink with the drop-in or as published. Returns the file. */
export const bundleDemo = async ({ dropIn }: { readonly dropIn: boolean }): Promise<string> => {
  // A module without types, because the build runs before there is anything that could check them.
  const { inkPatches, tuiEntry } = (await import(at('../../src/build/ink/patches.mjs'))) as {
    inkPatches: (parts: { readFile: typeof readFile; dropIn: boolean }) => import('esbuild').Plugin;
    tuiEntry: (main: string) => string;
  };
  const outfile = join(mkdtempSync(join(tmpdir(), 'reaptop-test-')), 'demo.cjs');
  await build({
    stdin: {
      contents: `
        ${tuiEntry('./src/tui/main.tsx')}
        import { startDemo } from './src/engine/demo.ts';
        const { stdin, stdout, env } = process;
        startDemo({ ticking: false })
          .then(({ live }) => runTui({ live, options: {}, stdin, stdout, env }))
          .then(code => process.exit(code));
      `,
      resolveDir: at('../..'),
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [inkPatches({ readFile, dropIn })],
  });
  return outfile;
};
