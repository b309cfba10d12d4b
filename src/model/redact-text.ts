import { maskPasswordFlagsIn } from './secret-flags.ts';
import { SECRET_BEGINNING, SECRET_FORMATS, SECRET_LINK_WORD, SECRET_LINKS } from './secret-formats.ts';
import { isSecretName, MASK } from './secret-name.ts';

export { MASK };

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
export const maskText = (input: string): string => {
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
