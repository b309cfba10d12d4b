import type { Carry, Interpreter } from '../../agents/family-type.ts';
import { SHELLS } from '../../agents/wrappers.ts';
import { isAssignment, isElision } from './argv.ts';

/** What a token stands for at its place in the command line. */
export type Standing = 'program' | 'script' | 'package' | 'module';

/** One thing that a command line names: its token, and where its own arguments begin. */
export interface Layer {
  readonly token: string;
  readonly as: Standing;
  readonly words: readonly string[];
  readonly from: number;
}

export interface Carried {
  /** null: the wrapper names nothing that could be looked up. */
  readonly inner: Layer | null;
  /** The wrapper's own leading words, for its name. */
  readonly commands: readonly string[];
  /** What the wrapper was told to fetch, when that differs from what it runs. */
  readonly fetched: string | null;
}

const layerAt = (words: readonly string[], at: number, as: Standing): Layer | null => {
  const token = words[at];
  return token === undefined ? null : { token, as, words, from: at + 1 };
};

const layerOfText = (text: string): Layer | null => {
  const words = simpleCommand(text);
  return words?.[0] === undefined ? null : { token: words[0], as: 'program', words, from: 1 };
};

/** What a wrapper carries, by walking over the words that are its own. */
export const carriedBy = (carry: Carry, words: readonly string[], from: number): Carried => {
  const commands: string[] = [];
  let fetched: string | null = null;
  let left = carry.skip ?? 0;
  const carrying = (inner: Layer | null): Carried => ({ inner, commands, fetched });
  const dashes = carry.afterDashes ? words.indexOf('--', from) : from - 1;
  let at = dashes < 0 ? words.length : dashes + 1;
  for (; at < words.length; at += 1) {
    const word = words[at] as string;
    if (carry.textFlags?.includes(word)) return carrying(layerOfText(words.slice(at + 1).join(' ')));
    if (carry.moduleFlags?.includes(word)) return carrying(layerAt(words, at + 1, 'module'));
    if (word === '--') {
      at += 1;
      break;
    }
    if (word.startsWith('-') && word.length > 1) {
      const equals = word.indexOf('=');
      const flag = equals < 0 ? word : word.slice(0, equals);
      const value = equals < 0 ? words[at + 1] : word.slice(equals + 1);
      if (carry.packageFlags?.includes(flag)) fetched = value ?? null;
      if (equals < 0 && carry.valueFlags?.includes(word)) at += 1;
    } else if (carry.commands?.includes(word)) commands.push(word);
    else if ((carry.assignments && isAssignment(word)) || isElision(word)) continue;
    else if (left > 0) left -= 1;
    else break;
  }
  return carrying(carry.names === 'nothing' ? null : layerAt(words, at, carry.names));
};

/** The script or module that an interpreter runs; null for `-e`, a prompt, or no file at all. */
export const scriptOf = (interpreter: Interpreter, words: readonly string[], from: number): Layer | null => {
  let expectCommand = interpreter.commands !== undefined;
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (interpreter.evalFlags?.includes(word)) return null;
    if (interpreter.moduleFlags?.includes(word)) {
      return layerAt(words, at + 1, 'module');
    }
    if (interpreter.scriptFlags?.includes(word)) continue;
    if (word === '--') continue;
    if (word.startsWith('-') && word.length > 1) {
      if (interpreter.valueFlags?.includes(word)) at += 1;
    } else if (expectCommand && interpreter.commands?.includes(word)) expectCommand = false;
    else if (!isElision(word)) return layerAt(words, at, 'script');
  }
  return null;
};

/** A shell with `-c`, with a script, or on its own. */
export type ShellUse =
  | { readonly use: 'command'; readonly text: string; readonly inner: Layer | null }
  | { readonly use: 'script'; readonly inner: Layer }
  | { readonly use: 'interactive' };

export const shellUse = (words: readonly string[], from: number): ShellUse => {
  const { valueFlags } = SHELLS;
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word.startsWith('-') || word.startsWith('+')) {
      // Short options cluster: `-lc`, `-ic`.
      const cluster = word.startsWith('-') && !word.startsWith('--');
      if (word === '--command' || (cluster && word.includes('c') && !valueFlags.includes(word))) {
        const rest = words.slice(at + 1);
        // `bash -c -l text` puts options between; a text never begins with a dash.
        while (rest[0]?.startsWith('-')) rest.shift();
        const text = rest.join(' ');
        return { use: 'command', text, inner: layerOfText(text) };
      }
      if (cluster && word.includes('s')) return { use: 'interactive' };
      if (valueFlags.includes(word)) at += 1;
      continue;
    }
    return { use: 'script', inner: { token: word, as: 'script', words, from: at + 1 } };
  }
  return { use: 'interactive' };
};

// Anything that makes a command line more than one simple command.
const META = /[;&|<>()$`\\{}*?!#\n[\]]/;
const MAX_TEXT = 4096;

/**
 * The words of one simple command (`mcp-server-x '/a b'`), or null when the text is more than that.
 * What a longer text runs is not known without a shell.
 */
const simpleCommand = (text: string): readonly string[] | null => {
  if (text.length > MAX_TEXT || META.test(text)) return null;
  const words: string[] = [];
  for (const [, single, double, bare] of text.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)) {
    words.push(single ?? double ?? bare ?? '');
  }
  const [first] = words;
  // A quoted program is a sign of generated text (`eval '…'`): leave it alone.
  if (first === undefined || !text.trimStart().startsWith(first)) return null;
  return first === 'exec' ? words.slice(1) : words;
};

/** What every command of Claude's Bash tool begins with, before the command itself. */
const SNAPSHOT = /(?:^|\s)(?:source|\.) \S*\/shell-snapshots\/snapshot-\S+/;

/** The same, shortened by hand: `source ~/.claude/shell-snapshots/snapshot-zsh-17…`. */
const CUT = /(?:^|\s)(?:source|\.) \S*\/\.claude\/shell-s[^\s…]*(?:…|\.\.\.)\s*$/;

/** The quotes that a shell-quoting library puts around a command: `'…'`, pieces of it, or `"…"`. */
const QUOTED = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+))/s;

/** The first word of a text, without its quotes. */
const firstWord = (text: string): string => {
  let word = '';
  let left = text;
  for (let piece = QUOTED.exec(left); piece !== null; piece = QUOTED.exec(left)) {
    const [whole, single, double, escaped, bare] = piece;
    word += single ?? double?.replace(/\\(.)/gs, '$1') ?? escaped ?? bare ?? '';
    left = left.slice(whole.length);
  }
  return word;
};

/** `source …/shell-snapshots/snapshot-….sh … && eval 'sleep 3001' …`: the command that was asked for. */
export const bashToolCommand = (text: string): string | null => {
  // A row that was pasted, and cut before the command.
  if (CUT.test(text)) return '…';
  const snapshot = SNAPSHOT.exec(text);
  if (snapshot === null) return null;
  const after = snapshot.index + snapshot[0].length;
  const found = text.indexOf(EVAL, after);
  if (found < 0) return null;
  let quoted = text.slice(found + EVAL.length, found + MAX_TEXT);
  while (quoted.startsWith(QUOTED_AGAIN)) quoted = quoted.replaceAll(QUOTED_AGAIN, "'");
  const command = firstWord(quoted).trim();
  return command === '' ? null : command.replace(/\s+/g, ' ');
};

const EVAL = ' eval ';
/** A quote in a text that was quoted itself, as a sandbox does once or twice around the command. */
const QUOTED_AGAIN = `'"'"'`;
