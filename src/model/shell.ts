import { endOfJson } from './redact.ts';

/** One word for bash, zsh and any other shell of that family. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `=` in front is a command's path to zsh, and makes an assignment of a first word. */
const PLAIN = /^([\w@+:,./][\w@%+:,./-]*|-[\w@%+=:,./-]*)$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : singleQuoted(word));

/** A command line that a shell reads as these very words, and runs nothing else of it. */
export const shellLine = (argv: readonly string[]): string => argv.map(quoted).join(' ');

/** A path that a shell reads as it is: what a repository calls its files must not run when it is pasted. */
export const shellPath = (path: string): string =>
  // A path that begins with a dash would be read as a flag.
  quoted(path.startsWith('-') ? `./${path}` : path);

const SPACE = /\s/;
/** JSON at the start of a word: an opening bracket and, after nothing but brackets, a quote. */
const JSON_START = /[{[]\s*(?:[{[]\s*)*\\?"/y;
/** `--settings=`, `NAME=`: what follows may be quoted or JSON. */
const PREFIX = /-{0,2}[A-Za-z_][\w.-]*=/y;
/** A macOS bundle: its program is called like the bundle, spaces included. */
const BUNDLE = /^\/(?:[^/]*\/)*([^/]+)\.app\/Contents\/MacOS\/\1(?= |$)/;
const SUPPORT = /\/Library\/Application$/;

/** The quoted text at `from`, or null when the quote does not close at the end of a word. */
const quotedAt = (line: string, from: number): { text: string; end: number } | null => {
  const mark = line[from]!;
  let text = '';
  let at = from + 1;
  for (;;) {
    const close = line.indexOf(mark, at);
    if (close === -1) return null;
    text += line.slice(at, close);
    // '\'' is how quoteArgs writes a quote inside quotes.
    if (mark === "'" && line.startsWith("\\''", close + 1)) {
      text += "'";
      at = close + 4;
    } else if (close + 1 === line.length || SPACE.test(line[close + 1]!)) return { text, end: close + 1 };
    else return null;
  }
};

const matches = (pattern: RegExp, line: string, at: number): string => {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0] ?? '';
};

/** One word at `from`: quotes are respected when they close, JSON is kept whole even when the listing lost its quotes. */
const wordAt = (line: string, from: number): { text: string; end: number } => {
  const prefix = matches(PREFIX, line, from);
  const at = from + prefix.length;
  if (line[at] === "'" || line[at] === '"') {
    const found = quotedAt(line, at);
    if (found !== null) return { text: prefix + found.text, end: found.end };
  } else if (matches(JSON_START, line, at) !== '') {
    const end = endOfJson(line, at);
    // Never closed: a listing cut at the terminal's width. All of the rest belongs to it, and is redacted with it.
    if (end === -1) return { text: line.slice(from), end: line.length };
    if (end === line.length || SPACE.test(line[end]!)) return { text: line.slice(from, end), end };
  }
  let end = from;
  while (end < line.length && !SPACE.test(line[end]!)) end += 1;
  return { text: line.slice(from, end), end };
};

/** Splits a command line that arrived as one text: what `quoteArgs` wrote comes back exactly, a ps listing as well as it can. */
export const splitWords = (line: string): string[] => {
  const words: string[] = [];
  let at = 0;
  const bundle = line.startsWith('/') && line.includes('.app/') ? BUNDLE.exec(line) : null;
  if (bundle !== null) {
    words.push(bundle[0]);
    at = bundle[0].length;
  }
  while (at < line.length) {
    if (SPACE.test(line[at]!)) {
      at += 1;
      continue;
    }
    const { text, end } = wordAt(line, at);
    const last = words.at(-1);
    // The one path with a space that macOS programs really run from.
    if (last !== undefined && text.startsWith('Support/') && SUPPORT.test(last) && line[at - 1] === ' ')
      words[words.length - 1] = `${last} ${text}`;
    else words.push(text);
    at = end;
  }
  return words;
};
