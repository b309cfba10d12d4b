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
