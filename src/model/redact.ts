import { endOfJson, maskJson } from './redact-json.ts';
import { MASK, maskText } from './redact-text.ts';
import { maskPasswordFlags, PASSWORD_PROGRAMS } from './secret-flags.ts';
import { BEGINS_LIKE_A_SECRET } from './secret-formats.ts';
import { isSecretName } from './secret-name.ts';
import { visible } from './text.ts';

/** Without one of these a word cannot hold anything that is masked. Most words stop here. */
const TRIGGER = new RegExp(
  String.raw`token|secret|pass|pwd|auth|bearer|key|cred|cookie|jwt|pat(?![a-z])|sig(?:nature)?=|header|settings|mcp-config|webhook|hooks\.|telegram|ifttt|curl|@|[{[]|${PASSWORD_PROGRAMS.source}|${BEGINS_LIKE_A_SECRET}`,
  'i',
);

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

/** `--flag=--flag=…`: nobody means more, and 20,000 of them would take all our time, and then the stack. */
const MOST_FLAGS_IN_A_WORD = 4;

/** One argument on its own; `depth`: so many flags stood before it in its word. */
export const redactWord = (word: string, depth = 0): string => {
  if (!TRIGGER.test(word)) return word;
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
  const header = LONE_HEADER.exec(word);
  if (header !== null && isSecretName(header[1]!)) return 'header-value';
  return SCHEME_WORD.test(word) ? 'secret' : 'nothing';
};

/** A command line with the values of secret-looking flags, variables, headers and JSON keys replaced by `***`. */
export const redactArgv = (argv: readonly string[]): string[] => {
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
        out.push(TRIGGER.test(word) ? maskMixed(word) : word);
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

const SPOKEN = /^(?:password|passwd|passphrase|passcode):?$/i;

/** `password hunter2`, `api_key = v`, `set -x API_TOKEN v`, each word by itself. */
const maskSpoken = (words: string[]): void => {
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (next === undefined) return;
    if (SPOKEN.test(word) && !FLAG_LIKE.test(next)) words[index + 1] = MASK;
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
