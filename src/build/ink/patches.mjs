/**
 * What the bundle changes in Ink 6.8, as an esbuild plugin. All of it is for speed, size or CommonJS: on Ink as
 * published the TUI is the same, only slower (`REAPTOP_INK=published npm run build` leaves the drop-in out; tests of whole
 * screens run on both).
 *
 * Always:
 * - `is-in-ci`: with CI in the environment Ink would draw nothing until exit.
 * - `react-devtools-core`: a development aid that is not installed.
 * - `yoga-layout`: the same Yoga without top-level await (yoga.ts), and without asking whether there is a `fetch`:
 *   Node loads 60 ms of HTTP client to answer.
 * - `Intl.Segmenter` and the pattern of all emoji: four packages make one each as they are loaded, 10 to 25 ms of the
 *   way to the first paint, for texts that are never measured by them here. They are made when first asked.
 *
 * The drop-in:
 * - `output.js`: composes rows without taking them apart (output.ts).
 * - `widest-line`: counts plain lines and remembers the others (widest-line.ts).
 * - `sanitize-ansi.js`: a text with nothing in it but SGR is what it was.
 * - `measure-text.js`, `wrap-text.js`: what they remember of every text there ever was gets a bound.
 *
 * A patch that no longer finds its place stops the build.
 */
import { fileURLToPath } from 'node:url';

const here = name => fileURLToPath(new URL(name, import.meta.url));

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
    file: /[\\/]ink[\\/]build[\\/]reconciler\.js$/,
    changes: { "await import('./devtools.js');": '', 'await loadPackageJson()': '{}' },
  },
  // DEV=true in somebody's environment is not meant for us.
  {
    file: /[\\/]ink[\\/]build[\\/]utils\.js$/,
    changes: { "process.env['DEV'] === 'true'": 'false' },
  },
  {
    file: /[\\/]yoga-layout[\\/]dist[\\/]binaries[\\/]yoga-wasm-base64-esm\.js$/,
    changes: {
      'return w||"function"!=typeof fetch?': 'return true?',
      'ua(H)||"function"!=typeof fetch?': 'true?',
    },
  },
];

/** Entries that Ink's own caches may hold. */
const REMEMBERED = 1000;

const DROP_IN_PATCHES = [
  {
    file: /[\\/]ink[\\/]build[\\/]sanitize-ansi\.js$/,
    changes: {
      'if (!hasAnsiControlCharacters(text)) {':
        'if (!hasAnsiControlCharacters(text) || /^(?:[^\\u001b\\u0080-\\u009f]|\\u001b\\[[\\d;]*m)*$/.test(text)) {',
    },
  },
  {
    file: /[\\/]ink[\\/]build[\\/]measure-text\.js$/,
    changes: {
      'cache.set(text, dimensions);': `if (cache.size >= ${REMEMBERED}) cache.clear();
    cache.set(text, dimensions);`,
    },
  },
  {
    file: /[\\/]ink[\\/]build[\\/]wrap-text\.js$/,
    changes: {
      'const cache = {};': 'let cache = {};\nlet remembered = 0;',
      'cache[cacheKey] = wrappedText;': `if (++remembered > ${REMEMBERED}) {
        cache = {};
        remembered = 0;
    }
    cache[cacheKey] = wrappedText;`,
    },
  },
];

/** What Ink imports, by the name it uses, and the file that takes its place. */
const DROP_INS = { './output.js': 'output.ts', 'widest-line': 'widest-line.ts' };

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

/** The file in place of what Ink imports, if one has it. Ink's own `Output`, where tests compare with it, stays whole. */
export const dropInOf = (name, importer) =>
  /[\\/]ink[\\/]build[\\/](?!output\.js)/.test(importer) && Object.hasOwn(DROP_INS, name)
    ? here(DROP_INS[name])
    : undefined;

/** `dropIn: false`: Ink's own `Output` and caches. */
export const inkPatches = ({ readFile, dropIn = true }) => ({
  name: 'ink-patches',
  setup(build) {
    for (const [name, contents] of Object.entries(STUBS)) {
      const filter = new RegExp(`^${escapeRegExp(name)}$`);
      build.onResolve({ filter }, () => ({ path: name, namespace: 'ink-stub' }));
      build.onLoad({ filter, namespace: 'ink-stub' }, () => ({ contents }));
    }
    build.onResolve({ filter: /^yoga-layout$/ }, () => ({ path: here('yoga.ts') }));
    if (dropIn)
      for (const name of Object.keys(DROP_INS))
        build.onResolve({ filter: new RegExp(`^${escapeRegExp(name)}$`) }, ({ importer }) => {
          const path = dropInOf(name, importer);
          return path && { path };
        });
    const { initialOptions } = build;
    initialOptions.define = { ...initialOptions.define, 'Intl.Segmenter': 'LazySegmenter' };
    initialOptions.inject = [...(initialOptions.inject ?? []), 'lazy-segmenter'];
    build.onResolve({ filter: /^lazy-segmenter$/ }, () => ({
      path: 'lazy-segmenter',
      namespace: 'ink-stub',
    }));
    build.onLoad({ filter: /^lazy-segmenter$/, namespace: 'ink-stub' }, () => ({ contents: LAZY_SEGMENTER }));
    for (const { file, changes, unless } of [...PATCHES, ...(dropIn ? DROP_IN_PATCHES : [])]) {
      build.onLoad({ filter: file }, async ({ path }) =>
        unless?.test(path) === true
          ? undefined
          : { contents: patched(await readFile(path, 'utf8'), changes, path), loader: 'js' },
      );
    }
  },
});

/** The module that is bundled in place of the TUI's entry: the same function, once Yoga is there. */
export const tuiEntry = main => `
  import { ready } from 'yoga-layout';
  import { runTui as run } from ${JSON.stringify(main)};
  export const runTui = parts => ready.then(() => run(parts));
`;
