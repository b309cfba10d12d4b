// Anything that makes a command line more than one simple command.
const META = /[;&|<>()$`\\{}*?!#\n[\]]/;
const MAX_TEXT = 4096;

/**
 * The words of one simple command (`mcp-server-x '/a b'`), or null when the text is more than that.
 * What a longer text runs cannot be told without being a shell.
 */
export const simpleCommand = (text: string): readonly string[] | null => {
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

/** The same as somebody shortened it: `source ~/.claude/shell-snapshots/snapshot-zsh-17…`. */
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
  const command = firstWord(text.slice(found + EVAL.length, found + MAX_TEXT)).trim();
  return command === '' ? null : command.replace(/\s+/g, ' ');
};

const EVAL = ' eval ';
