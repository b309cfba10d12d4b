import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styledCharsFromTokens, tokenize } from '@alcalzone/ansi-tokenize';
import { build } from 'esbuild';
import type { Box, renderToString, Text, Transform } from 'ink';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface Ink {
  readonly Box: typeof Box;
  readonly Text: typeof Text;
  readonly Transform: typeof Transform;
  readonly renderToString: typeof renderToString;
}

/** Ink in a bundle of its own: with the drop-in, or as published. */
export const bundledInk = async (dropIn: boolean): Promise<Ink> => {
  const { inkPatches } = (await import(at('../../../src/build/ink/patches.mjs'))) as {
    inkPatches: (parts: { readFile: typeof readFile; dropIn: boolean }) => import('esbuild').Plugin;
  };
  const directory = mkdtempSync(join(tmpdir(), 'reaptop-test-'));
  try {
    const outfile = join(directory, 'ink.cjs');
    await build({
      stdin: {
        contents:
          "export { ready } from 'yoga-layout'; export { Box, Text, Transform, renderToString } from 'ink';",
        resolveDir: at('../../..'),
      },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20.19',
      define: { 'process.env.NODE_ENV': '"production"' },
      plugins: [inkPatches({ readFile, dropIn })],
    });
    // chalk decides when it is loaded whether anybody sees colours: here it is the styles that are compared.
    process.env.FORCE_COLOR = '3';
    const ink = createRequire(import.meta.url)(outfile) as Ink & { readonly ready: Promise<unknown> };
    await ink.ready;
    return ink;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** What a frame shows: each character with its styles, however they were written; blanks at the end show nothing. */
export const shown = (frame: string): readonly (readonly string[])[] =>
  frame.split('\n').map(row => {
    const cells = styledCharsFromTokens(tokenize(row)).map(({ value, styles }) =>
      [value, ...new Set(styles.map(s => s.code))].sort().join(' '),
    );
    while (cells.at(-1) === ' ') cells.pop();
    return cells;
  });
