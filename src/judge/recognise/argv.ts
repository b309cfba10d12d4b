/** Reading single words of a command line. Nothing here ever looks at a command line as one text. */

export const baseOf = (token: string): string => {
  const cut = Math.max(token.lastIndexOf('/'), token.lastIndexOf('\\'));
  return cut < 0 ? token : token.slice(cut + 1);
};

const SUFFIX = /\.(?:exe|cmd|orig)$/i;

const readName = (token: string): string => {
  let name = baseOf(token);
  if (name.length < 2) return name;
  if (name.startsWith('-')) name = name.slice(1);
  else if (name.startsWith('[') && name.endsWith(']')) name = name.slice(1, -1);
  if (name.endsWith(':')) name = name.slice(0, -1);
  if (name.includes('.')) name = name.replace(SUFFIX, '');
  if (name.endsWith('-wrapped')) name = name.slice(name.startsWith('.') ? 1 : 0, -'-wrapped'.length);
  return name;
};

// The same token is asked for several times in a row, five thousand times a look.
let lastToken = '';
let lastName = '';

/**
 * The name a program goes by: Windows and npm add `.exe`, NixOS renames what it wraps to `lake.orig` or
 * `.lake-wrapped`, a login shell is `-zsh`, a server's title `sshd: user`, ps puts a nameless one in brackets.
 */
export const programName = (token: string): string => {
  if (token !== lastToken) {
    lastName = readName(token);
    lastToken = token;
  }
  return lastName;
};

/** `python3.12` and `pypy3` are python and pypy; other names stay. */
export const withoutVersion = (name: string): string =>
  name.startsWith('python') || name.startsWith('pypy') || name.startsWith('Python')
    ? name.replace(/[\d.]+t?$/, '')
    : name;

/** `@scope/name@1.2`, `name==1.0`, `name[extra]`, `npm:name`: the name alone. */
export const packageName = (spec: string): string => {
  const plain = spec.startsWith('npm:') ? spec.slice(4) : spec;
  const end = plain.slice(1).search(/[@=<>~!;[]/);
  return end < 0 ? plain : plain.slice(0, end + 1);
};

/** The package whose file this is: what follows the last `node_modules/`, without `.bin`. */
export const packageOfPath = (path: string): string | null => {
  const marker = '/node_modules/';
  const relative = path.startsWith('node_modules/') ? 0 : -1;
  const found = path.lastIndexOf(marker);
  if (found < 0 && relative < 0) return null;
  const inside = path.slice(found < 0 ? 'node_modules/'.length : found + marker.length).split('/');
  const [top, second] = inside;
  if (top === undefined || top === '') return null;
  if (top === '.bin') return second ?? null;
  return top.startsWith('@') && second !== undefined ? `${top}/${second}` : top;
};

const SCRIPT_EXTENSION = /\.(?:[cm]?[jt]s|py|rb|sh|pyz|jar|dll)$/;
export const withoutExtension = (file: string): string => file.replace(SCRIPT_EXTENSION, '');

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
export const isAssignment = (word: string): boolean => ASSIGNMENT.test(word);

/** A pasted listing is often shortened; a live process never has this as its script. */
export const isElision = (word: string): boolean => word === '...' || word === '…';

const SESSION_ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|ses(?:s|sion)?_[\w-]{6,})$/i;
export const isSessionId = (word: string): boolean => SESSION_ID.test(word);

/** A path with spaces stays one word; a title (`npm exec x`, `chrome --type=renderer`) is several. */
const isTitle = (token: string): boolean => {
  const space = token.indexOf(' ');
  if (space < 0) return false;
  return !token.slice(0, space).includes('/') || token.includes(' -');
};

const MAX_PIECES = 6;

/** ps joins argv with spaces: `/Applications/Google Chrome.app/…` comes back in pieces. */
const rejoinAppPath = (words: string[]): string[] => {
  const first = words[0];
  if (first === undefined || !first.startsWith('/') || first.includes('.app/')) return words;
  if (!first.startsWith('/Applications/') && !first.endsWith('/Application')) return words;
  let last = words.findIndex((word, at) => at < MAX_PIECES && word.includes('.app/Contents/'));
  if (last < 1) return words;
  let path = words.slice(0, last + 1).join(' ');
  // The executable usually repeats the application's name, spaces included.
  const app = baseOf(path.slice(0, path.lastIndexOf('.app/')));
  while (baseOf(path) !== app && app.startsWith(`${baseOf(path)} `) && last + 1 < words.length) {
    last += 1;
    path = `${path} ${words[last]}`;
  }
  return [path, ...words.slice(last + 1)];
};

/** argv as words: a rewritten title is split, the padding it leaves is dropped. */
export const argvWords = (argv: readonly string[]): readonly string[] => {
  const first = argv[0];
  if (first === undefined) return argv;
  if (argv.length > 1 && first.startsWith('/')) {
    if (argv[1]?.includes('.app/') || first.startsWith('/Applications/')) return rejoinAppPath([...argv]);
  }
  if (!isTitle(first)) return argv.at(-1) === '' ? trimmed(argv) : argv;
  const words = [...first.split(' '), ...argv.slice(1)].filter(word => word !== '');
  return rejoinAppPath(words);
};

const trimmed = (argv: readonly string[]): readonly string[] => {
  let end = argv.length;
  while (end > 0 && argv[end - 1] === '') end -= 1;
  return argv.slice(0, end);
};
