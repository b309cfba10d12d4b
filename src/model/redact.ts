import type { JsonObject } from './json.ts';
import {
  isSecretName,
  MASK,
  maskPasswordFlags,
  maskPasswordFlagsIn,
  PASSWORD_PROGRAMS,
  SECRET_BEGINNING,
  SECRET_FORMATS,
  SECRET_LINK_WORD,
  SECRET_LINKS,
} from './secret-patterns.ts';
import { visible } from './text.ts';

/** Without one of these a word cannot hold anything that is masked, but for what is issued in a form of its own. */
const HINT =
  /token|secret|pass|pwd|auth|bearer|key|cred|cookie|jwt|pat(?![a-z])|sig=|signature|header|settings|mcp-config|webhook|hooks\.|telegram|ifttt|curl|[{[]/i;

/** Words that hold none; equal programs have equal words, by the thousand. */
const harmless = new Set<string>();
const MOST_HARMLESS = 4096;

/** `githubPatValue`: for `HINT`, which knows no capitals, a part of a longer word. */
const GLUED_PAT = /[Pp]at[A-Z]/;

/** Packages have an @ in their paths: a password before it has a colon. */
const looksSecret = (text: string): boolean =>
  HINT.test(text) ||
  text.includes('eyJ') ||
  (text.includes('@') && text.includes(':')) ||
  GLUED_PAT.test(text) ||
  SECRET_BEGINNING.test(text) ||
  PASSWORD_PROGRAMS.test(text);

/** Most words stop here. */
const mayHoldSecret = (word: string): boolean => {
  if (harmless.has(word)) return false;
  if (looksSecret(word)) return true;
  if (harmless.size >= MOST_HARMLESS) harmless.clear();
  harmless.add(word);
  return false;
};

const OPTION = /^--?[A-Za-z][\w.-]*$/;
const ASSIGNED = /^(-{0,2}[A-Za-z_][\w.-]*)=([\s\S]*)$/;
const FLAG_LIKE = /^(?:--[A-Za-z]|-[A-Za-z]$)/;
/** `-c`, `-lc`, `-ic`: the next word is a script, not one value. */
const SCRIPT_FLAG = /^-[a-z]*c$/;
/** Flags that take JSON; of those marked true every value is masked. */
const JSON_FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['--settings', false],
  ['--mcp-config', false],
  ['--env', true],
]);
const HEADER_FLAGS = new Set(['-H', '--header', '--headers', '--proxy-header']);
/** Headers worth reading; any other value given with -H may be a credential. */
const PLAIN_HEADERS = new Set(
  'accept accept-encoding accept-language cache-control content-length content-type host origin referer user-agent'.split(
    ' ',
  ),
);
const LONE_HEADER = /^["']?([A-Za-z][\w-]*):$/;
const SCHEME_WORD = /^(?:bearer|basic|digest|negotiate)$/i;
const EMBEDDED_JSON = /[{[]\s*["{[]/g;
/** A run of backslashes is tried from its beginning only: from each of them, a long one would take minutes. */
const VAULT = /(?<!\\)\\*["'](?:env|headers)\\*["']\s*:/i;

const looksJson = (text: string): boolean => /^\s*[{[]\s*(?:["{[}\]]|$)/.test(text);

/** JSON documents inside a longer text (a script, a config given inline), masked; the rest goes to maskText. */
const maskMixed = (text: string): string => {
  let out = '';
  let from = 0;
  EMBEDDED_JSON.lastIndex = 0;
  for (;;) {
    EMBEDDED_JSON.lastIndex = from;
    const found = EMBEDDED_JSON.exec(text);
    if (found === null) break;
    const end = endOfJson(text, found.index);
    const masked = end === -1 ? null : maskJson(text.slice(found.index, end), redactArgv);
    if (masked === null) break; // escaped or broken JSON: what follows is judged as plain text
    out += maskText(text.slice(from, found.index)) + masked;
    from = end;
  }
  const rest = text.slice(from);
  const vault = VAULT.exec(rest);
  // Environment or headers in JSON that cannot be read: nothing after that point can be trusted to be harmless.
  if (vault !== null) return `${out}${maskText(rest.slice(0, vault.index))}${vault[0]}${MASK}`;
  return out + maskText(rest);
};

const maskHeaderValue = (header: string, depth = 0): string => {
  const colon = header.indexOf(':');
  if (colon <= 0) return redactWord(header, depth);
  const name = header.slice(0, colon);
  return PLAIN_HEADERS.has(name.trim().toLowerCase()) ? redactWord(header, depth) : `${name}: ${MASK}`;
};

const maskJsonValue = (value: string, vault: boolean, depth = 0): string =>
  /^\s*["']?[{[]/.test(value) ? (maskJson(value, redactArgv, vault) ?? MASK) : redactWord(value, depth);

/** `--flag=--flag=…`: deeper nesting is hostile; 20,000 levels would take all our time, and then the stack. */
const MOST_FLAGS_IN_A_WORD = 4;

/** One argument on its own; `depth`: so many flags stood before it in its word. */
export const redactWord = (word: string, depth = 0): string => {
  if (!mayHoldSecret(word)) return word;
  const assigned = ASSIGNED.exec(word);
  if (assigned !== null) {
    const [, name, value] = assigned as unknown as [string, string, string];
    if (isSecretName(name, value)) return `${name}=${MASK}`;
    if (name.startsWith('-')) {
      if (depth >= MOST_FLAGS_IN_A_WORD) return `${name}=${MASK}`;
      const json = JSON_FLAGS.get(name);
      if (json !== undefined) return `${name}=${maskJsonValue(value, json, depth + 1)}`;
      if (HEADER_FLAGS.has(name)) return `${name}=${maskHeaderValue(value, depth + 1)}`;
      return `${name}=${redactWord(value, depth + 1)}`;
    }
  }
  const header = /^\s*([A-Za-z][\w-]*):[ \t]/.exec(word);
  if (header !== null && isSecretName(header[1]!)) return `${header[0].trimEnd()} ${MASK}`;
  if (looksJson(word)) {
    const masked = maskJson(word, redactArgv);
    if (masked !== null) return masked;
  }
  return maskMixed(word);
};

/** What the words before say about the next one. */
type Expectation = 'nothing' | 'secret' | 'header' | 'header-value' | 'json' | 'script';

const expectAfter = (word: string, next: string | undefined): Expectation => {
  if (HEADER_FLAGS.has(word)) return 'header';
  if (JSON_FLAGS.has(word)) return 'json';
  if (OPTION.test(word)) {
    if (isSecretName(word, next ?? '')) return 'secret';
    return SCRIPT_FLAG.test(word) ? 'script' : 'nothing';
  }
  if (word.endsWith(':')) {
    const header = LONE_HEADER.exec(word);
    return header !== null && isSecretName(header[1]!) ? 'header-value' : 'nothing';
  }
  return word.length <= LONGEST_SPOKEN && SCHEME_WORD.test(word) ? 'secret' : 'nothing';
};

/** Words that say of the next one that it is secret, beside those in `HINT`; each word stands between two NULs. */
const ANNOUNCES = /\0(?:-H|basic|digest|negotiate)\0/i;

/** Most command lines stop here: asked as a whole, forty paths take half the time. */
const isHarmless = (argv: readonly string[]): boolean => {
  const line = `\0${argv.join('\0')}\0`;
  return !(looksSecret(line) || ANNOUNCES.test(line));
};

/** A command line with the values of secret-looking flags, variables, headers and JSON keys replaced by `***`. */
export const redactArgv = (argv: readonly string[]): string[] => {
  if (isHarmless(argv)) return [...argv];
  const out: string[] = [];
  let expected: Expectation = 'nothing';
  for (const [index, word] of argv.entries()) {
    const next = argv[index + 1];
    let following = expectAfter(word, next);
    switch (expected) {
      case 'secret':
        if (FLAG_LIKE.test(word)) out.push(redactWord(word));
        else {
          out.push(MASK);
          following = 'nothing';
        }
        break;
      case 'header': {
        // A listing that lost its quotes: `-H X-Custom: abc` arrives as three words.
        const lone = LONE_HEADER.exec(word);
        if (lone !== null && !PLAIN_HEADERS.has(lone[1]!.toLowerCase())) following = 'header-value';
        out.push(lone === null ? maskHeaderValue(word) : word);
        break;
      }
      case 'header-value':
        out.push(SCHEME_WORD.test(word) ? word : MASK);
        following = SCHEME_WORD.test(word) ? 'secret' : 'nothing';
        break;
      case 'json':
        out.push(maskJsonValue(word, JSON_FLAGS.get(argv[index - 1]!) === true));
        break;
      case 'script':
        out.push(mayHoldSecret(word) ? maskMixed(word) : word);
        break;
      default:
        out.push(redactWord(word));
    }
    expected = following;
  }
  maskPasswordFlags(out);
  maskSpoken(out);
  if (argv.some(word => /(?:^|\/)curl$/.test(word))) maskCurlUser(out);
  return out;
};

/** No word that announces a secret is longer, but flags: a path is passed over without a pattern. */
const LONGEST_SPOKEN = 'passphrase:'.length;
const SPOKEN_WORD = /^(?:password|passwd|passphrase|passcode):?$/i;

/** `password hunter2`, `api_key = v`, `set -x API_TOKEN v`, each word by itself. */
const maskSpoken = (words: string[]): void => {
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (next === undefined) return;
    if (word.length > LONGEST_SPOKEN) continue;
    if (SPOKEN_WORD.test(word) && !FLAG_LIKE.test(next)) words[index + 1] = MASK;
    else if (/^:?=$/.test(word) && isSecretName(words[index - 1] ?? '', next)) words[index + 1] = MASK;
    else if (/^set(?:env)?$/.test(word)) {
      let name = index + 1;
      while (/^-/.test(words[name] ?? '')) name += 1;
      const value = words[name + 1];
      if (value !== undefined && isSecretName(words[name] ?? '', value)) words[name + 1] = MASK;
    }
  }
};

/** `curl -u name:password`. Elsewhere `-u` means other things (`docker run -u 1000:1000`). */
const maskCurlUser = (words: string[]): void => {
  for (const [index, word] of words.entries()) {
    const value = words[index + 1];
    if (/^(?:-u|-U|--user|--proxy-user)$/.test(word) && value?.includes(':'))
      words[index + 1] = `${value.slice(0, value.indexOf(':'))}:${MASK}`;
  }
};

/** A path: shown as it is but for `token=…` in a name, and made visible. Other words of it must stay what they are. */
export const safePath = (path: string): string =>
  visible(
    path.includes('=')
      ? path.replace(/([\w.-]+)=([^/]*)/g, (whole, name: string, value: string) =>
          isSecretName(name, value) ? `${name}=${MASK}` : whole,
        )
      : path,
  );

/** What every backend does to an argv before keeping it: secrets masked on the raw words, then made visible. */
export const safeArgv = (argv: readonly string[]): string[] => redactArgv(argv).map(visible);

/** A shell word: quoted pieces (the last may be unterminated), escapes and plain characters. */
const SHELL_VALUE = String.raw`(?:"(?:\\[\s\S]|[^"\\])*"?|'[^']*'?|\\[\s\S]?|[^\s"'&;|<>()\\])+`;

const ASSIGNMENT = new RegExp(String.raw`([A-Za-z_][\w.-]{0,100})(\s*:?=\s*)(${SHELL_VALUE})`, 'g');
/** fish: `set -gx NAME value`; csh: `setenv NAME value`. */
const SET = new RegExp(
  String.raw`(?<![\w-])(set(?:env)?(?:\s+-{1,2}[A-Za-z-]+)*\s+)([A-Za-z_]\w*)(\s+)(${SHELL_VALUE})`,
  'g',
);
/** `password hunter2`, as prompts, expect scripts and netrc files have it. */
const SPOKEN = new RegExp(
  String.raw`(?<![\w./-])(password|passwd|passphrase|passcode)(\s+)(?:is\s+)?(${SHELL_VALUE})`,
  'gi',
);
const FLAG_AND_VALUE = new RegExp(
  String.raw`(?<![\w-])(--?[A-Za-z][\w.-]+)(\s+)(?!--?[A-Za-z])(${SHELL_VALUE})`,
  'g',
);
/**
 * user:password@, or anything before an @ that is not the `git` of ssh addresses. A colon and digits are a port.
 * Where no @ follows, the rest is taken as it is (the second group): nothing in it is tried again.
 */
const URL_PASSWORD = /(:\/\/)[^\s/@'":[\]]*:(?!\d+(?:[/?#]|$))(?:[^\s'"]*@|([^\s'"]*))/g;
const URL_USER = /(:\/\/)(?!git@)[^\s/?#'"[\]]+@/g;
/** The signature of a shared link; elsewhere `sig` is a signal. */
const URL_SIGNATURE = /([?&]sig=)[^&\s"']+/gi;
const BEARER = /(?<![A-Za-z])(bearer\s+)(?!\s)[^\s"'\\]+/gi;
const HEADER = /(["']?)(?<![\w-])([A-Za-z][\w-]*)(:[ \t]*)(?!\/\/)(?=\S)/g;
const SCHEME = /^(?:bearer|basic|token|digest|negotiate)[ \t]+/i;
/** JSON in JSON doubles its backslashes: 31 are five deep, and a run of thousands is not tried from each of them to its end. */
const QUOTED_PAIR =
  /(\\{0,31}["'])([\w.-]+)(\1\s*:\s*)("(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|\\+"[^"]*"?|[^\s,}\]"'\\]+)/g;
/** A JSON web token; a word that only begins like one is passed over as a whole, not tried at every `eyJ` in it. */
const WEB_TOKEN = /eyJ[\w-]{4,}(\.[\w-]{4,}\.[\w-]*)?/g;
const CURL_USER = /(\s(?:-u|-U|--user|--proxy-user)(?:\s+|=)?)(["']?)([^\s:"']+):[^\s"']+/g;

/** `Authorization: Bearer abc`: to the closing quote when the header is quoted, else one word (and its scheme). */
const maskHeaders = (text: string): string => {
  let out = '';
  let from = 0;
  HEADER.lastIndex = 0;
  for (let m = HEADER.exec(text); m !== null; m = HEADER.exec(text)) {
    const [whole, quote, name, colon] = m as unknown as [string, string, string, string];
    if (!isSecretName(name)) continue;
    const start = m.index + whole.length;
    const rest = text.slice(start, start + 20);
    let end = quote === '' ? -1 : text.indexOf(quote, start);
    if (end === -1 && quote !== '') end = text.length;
    if (end === -1) {
      const scheme = SCHEME.exec(rest)?.[0].length ?? 0;
      const stop = /[\s"']/g;
      stop.lastIndex = start + scheme;
      end = stop.exec(text)?.index ?? text.length;
    }
    out += text.slice(from, m.index) + quote + name + colon + MASK;
    from = end;
    HEADER.lastIndex = end;
  }
  return from === 0 ? text : out + text.slice(from);
};

/** `"token": "abc"`, as JSON has it. */
const maskPairs = (text: string): string =>
  text.replace(QUOTED_PAIR, (whole, open: string, name: string, middle: string, value: string) => {
    if (!isSecretName(name, value)) return whole;
    const delimiter = /^\\*["']/.exec(value)?.[0] ?? '';
    return `${open}${name}${middle}${delimiter}${MASK}${delimiter}`;
  });

/**
 * Masks what can be recognised inside a piece of text without knowing its neighbours: scripts, URLs, prompts. Asked first
 * is what each pattern cannot do without: patterns are compiled when they are first used, a tenth of a millisecond each.
 */
const maskText = (input: string): string => {
  let text = input;
  if (SECRET_LINK_WORD.test(text)) for (const link of SECRET_LINKS) text = text.replace(link, `$1${MASK}`);
  if (SECRET_BEGINNING.test(text)) for (const shape of SECRET_FORMATS) text = text.replace(shape, MASK);
  if (text.includes('eyJ'))
    text = text.replace(WEB_TOKEN, (whole, rest?: string) => (rest === undefined ? whole : MASK));
  if (text.includes(':')) text = maskHeaders(maskPairs(text));
  text = text.replace(BEARER, `$1${MASK}`);
  if (text.includes('://'))
    text = text
      .replace(URL_PASSWORD, (whole, scheme: string, rest?: string) =>
        rest === undefined ? `${scheme}${MASK}@` : whole,
      )
      .replace(URL_USER, `$1${MASK}@`);
  if (text.includes('='))
    text = text
      .replace(URL_SIGNATURE, `$1${MASK}`)
      .replace(ASSIGNMENT, (whole, name: string, equals: string, value: string) =>
        isSecretName(name, value) ? `${name}${equals}${MASK}` : whole,
      );
  if (text.includes('set'))
    text = text.replace(SET, (whole, set: string, name: string, gap: string, value: string) =>
      isSecretName(name, value) ? `${set}${name}${gap}${MASK}` : whole,
    );
  text = text.replace(SPOKEN, `$1$2${MASK}`);
  if (text.includes('-'))
    text = text.replace(FLAG_AND_VALUE, (whole, flag: string, gap: string, value: string) =>
      isSecretName(flag, value) ? `${flag}${gap}${MASK}` : whole,
    );
  text = maskPasswordFlagsIn(text, SHELL_VALUE);
  if (text.includes('curl')) text = text.replace(CURL_USER, `$1$2$3:${MASK}`);
  return text;
};

/** Objects whose every value may be a secret whatever its name. */
const VAULTS = new Set(['env', 'headers']);

const maskLeaves = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskLeaves);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskLeaves(inner)]));
  return typeof value === 'string' || typeof value === 'number' ? MASK : value;
};

const maskValue = (value: unknown, argv: (words: readonly string[]) => readonly string[]): unknown => {
  if (typeof value === 'string') return argv([value])[0];
  if (Array.isArray(value)) {
    // `"args": ["--token", "abc"]`: a list of words is a command line.
    if (value.every(item => typeof item === 'string')) return argv(value);
    return value.map(item => maskValue(item, argv));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret =
        VAULTS.has(name.toLowerCase()) ||
        isSecretName(name, typeof inner === 'number' ? String(inner) : typeof inner);
      return [name, secret ? maskLeaves(inner) : maskValue(inner, argv)];
    }),
  );
};

/** The JSON with its secrets masked, or null when it is not valid JSON. Unchanged text stays byte for byte. */
const maskJson = (
  text: string,
  argv: (words: readonly string[]) => readonly string[],
  /** All of it is an environment or a set of headers. */
  vault = false,
): string | null => {
  try {
    const parsed: unknown = JSON.parse(text);
    const masked = JSON.stringify(vault ? maskLeaves(parsed) : maskValue(parsed, argv));
    return masked === JSON.stringify(parsed) ? text : masked;
  } catch {
    return null; // not JSON, or nested too deep to walk
  }
};

/** Index just after the bracket that closes the one at `from`, strings respected; -1 when it never closes. */
export const endOfJson = (text: string, from: number): number => {
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === 0x22) {
      for (i += 1; i < text.length && text.charCodeAt(i) !== 0x22; i += 1)
        if (text.charCodeAt(i) === 0x5c) i += 1;
    } else if (char === 0x7b || char === 0x5b) depth += 1;
    else if (char === 0x7d || char === 0x5d) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
};

const TEXT_LIMIT = 400;

const READ_BEFORE_CUT = 4 * TEXT_LIMIT;

/** Secrets are masked before the cut, so that half of one cannot slip through. */
export const safeText = (text: string): string => visible(redactWord(text)).slice(0, TEXT_LIMIT);

/**
 * A text worth showing. `null` and `undefined` as words, and unexpanded `$session_id`, come from
 * shell templates that were never filled in.
 */
export const textField = (object: JsonObject | null, name: string): string | null => {
  const value = object?.[name];
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return null;
  const text = value.slice(0, READ_BEFORE_CUT).trim();
  if (text === '' || text === 'null' || text === 'undefined' || /^\$\{?\w+\}?$/.test(text)) return null;
  return safeText(text);
};
