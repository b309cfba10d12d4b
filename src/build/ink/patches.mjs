/**
 * What the bundle changes in Ink 6.8, as an esbuild plugin. Without it the TUI is the same, only slower: the tests
 * of the screens run on Ink as published.
 *
 * - `is-in-ci`: with CI in the environment Ink would draw nothing until exit.
 * - `react-devtools-core`: a development aid that is not installed.
 * - `yoga-layout`: our screen is one node (see app.tsx), so a column of texts is all the layout there is. Yoga is
 *   90 KB of WebAssembly that must be compiled before the first paint, and the reason why Ink needs top-level await.
 * - `output.js`: Ink takes every row apart into characters and puts it together again, 43 % of a frame's cost. When
 *   a frame is a single text at the top left, its rows are the frame.
 *
 * - `Intl.Segmenter` and the pattern of all emoji: four packages make one each as they are loaded, 10 to 25 ms of the
 *   way to the first paint, for texts that are never measured by them here. They are made when first asked.
 *
 * A patch that no longer finds its place stops the build.
 */
const STUBS = {
  'is-in-ci': 'export default false;',
  'react-devtools-core': 'export default {};',
};

const LAZY_SEGMENTER = `const { Segmenter } = Intl; // spelled so that it is not replaced itself
export class LazySegmenter {
  #options; #made;
  constructor(...options) { this.#options = options; }
  segment(text) { return (this.#made ??= new Segmenter(...this.#options)).segment(text); }
}`;

const PATCHES = [
  {
    file: /node_modules[\\/]string-width[\\/]index\.js$/,
    changes: {
      'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;': `let emojiPattern;
const rgiEmojiRegex = { test: text => (emojiPattern ??= /^\\p{RGI_Emoji}$/v).test(text) };`,
    },
    // wrap-ansi has an older one, which knows emoji by other means.
    unless: /wrap-ansi/,
  },
  {
    file: /[\\/]ink[\\/]build[\\/]output\.js$/,
    changes: {
      '    get() {\n': `    get() {
        const [only, more] = this.operations;
        if (more === undefined && only?.type === 'write' && only.x === 0 && only.y === 0) {
            const rows = only.text.split('\\n').slice(0, this.height);
            const output = rows.map((row, index) => only.transformers.reduce((text, change) => change(text, index), row)).join('\\n');
            return { output, height: this.height };
        }
`,
    },
  },
  {
    file: /[\\/]ink[\\/]build[\\/]reconciler\.js$/,
    changes: { "await import('./devtools.js');": '', 'await loadPackageJson()': '{}' },
  },
  // DEV=true in somebody's environment is not meant for us.
  {
    file: /[\\/]ink[\\/]build[\\/]utils\.js$/,
    changes: { "process.env['DEV'] === 'true'": 'false' },
  },
];

/** All changes of one file, each exactly where it was when this was written. */
const patched = (source, changes, path) => {
  let text = source;
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`Ink has changed: no ${JSON.stringify(from)} in ${path}`);
    text = text.replace(from, () => to);
  }
  return text;
};

const escapeRegExp = text => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `layout` is the path of column-layout.ts. */
export const inkPatches = ({ layout, readFile }) => ({
  name: 'ink-patches',
  setup(build) {
    for (const [name, contents] of Object.entries(STUBS)) {
      const filter = new RegExp(`^${escapeRegExp(name)}$`);
      build.onResolve({ filter }, () => ({ path: name, namespace: 'ink-stub' }));
      build.onLoad({ filter, namespace: 'ink-stub' }, () => ({ contents }));
    }
    build.onResolve({ filter: /^yoga-layout$/ }, () => ({ path: layout }));
    const { initialOptions } = build;
    initialOptions.define = { ...initialOptions.define, 'Intl.Segmenter': 'LazySegmenter' };
    initialOptions.inject = [...(initialOptions.inject ?? []), 'lazy-segmenter'];
    build.onResolve({ filter: /^lazy-segmenter$/ }, () => ({
      path: 'lazy-segmenter',
      namespace: 'ink-stub',
    }));
    build.onLoad({ filter: /^lazy-segmenter$/, namespace: 'ink-stub' }, () => ({ contents: LAZY_SEGMENTER }));
    for (const { file, changes, unless } of PATCHES) {
      build.onLoad({ filter: file }, async ({ path }) =>
        unless?.test(path) === true
          ? undefined
          : { contents: patched(await readFile(path, 'utf8'), changes, path), loader: 'js' },
      );
    }
  },
});
