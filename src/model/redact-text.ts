import { isSecretName } from './secret-name.ts';

export const MASK = '***';

/** Tokens known by their shape, wherever they stand. Prefixes that also end English words need a boundary. */
const SHAPES: readonly RegExp[] = [
  /sk-ant-[\w-]{4,}/g,
  /(?<![A-Za-z0-9])sk[-_][\w-]{16,}/g,
  /gh[pousr]_\w{8,}/g,
  /github_pat_\w{8,}/g,
  /glpat-[\w-]{8,}/g,
  /xox[abeoprs]-[\w-]{6,}/g,
  /A(?:KIA|SIA)[A-Z0-9]{12,}/g,
  /AIza[\w-]{30,}/g,
  /(?<![A-Za-z0-9])(?:npm|hf|gsk|pplx)_\w{24,}/g,
  /eyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
];

/** A shell word: quoted pieces (the last may be unterminated), escapes and plain characters. */
const SHELL_VALUE = String.raw`(?:"(?:\\[\s\S]|[^"\\])*"?|'[^']*'?|\\[\s\S]?|[^\s"'&;|<>()\\])+`;

const ASSIGNMENT = new RegExp(String.raw`([A-Za-z_][\w.-]*)=(${SHELL_VALUE})`, 'g');
const FLAG_AND_VALUE = new RegExp(
  String.raw`(?<![\w-])(--?[A-Za-z][\w.-]+)(\s+)(?!--?[A-Za-z])(${SHELL_VALUE})`,
  'g',
);
/** user:password@, or anything before an @ that is not the `git` of ssh addresses. A colon and digits are a port. */
const URL_PASSWORD = /(:\/\/)[^\s/@'":[\]]*:(?!\d+(?:[/?#]|$))[^\s'"]*@/g;
const URL_USER = /(:\/\/)(?!git@)[^\s/?#'"[\]]+@/g;
/** The signature of a shared link; elsewhere `sig` is a signal. */
const URL_SIGNATURE = /([?&]sig=)[^&\s"']+/gi;
const BEARER = /(?<![A-Za-z])(bearer\s+)(?!\s)[^\s"'\\]+/gi;
const HEADER = /(["']?)(?<![\w-])([A-Za-z][\w-]*)(:[ \t]*)(?!\/\/)(?=\S)/g;
const SCHEME = /^(?:bearer|basic|token|digest|negotiate)[ \t]+/i;
const QUOTED_PAIR =
  /(\\*["'])([\w.-]+)(\1\s*:\s*)("(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|\\+"[^"]*"?|[^\s,}\]"'\\]+)/g;
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

/** Masks what can be recognised inside a piece of text without knowing its neighbours: scripts, URLs, prompts. */
export const maskText = (input: string): string => {
  let text = input;
  for (const shape of SHAPES) text = text.replace(shape, MASK);
  text = text.replace(QUOTED_PAIR, (whole, open: string, name: string, middle: string, value: string) => {
    if (!isSecretName(name, value)) return whole;
    const delimiter = /^\\*["']/.exec(value)?.[0] ?? '';
    return `${open}${name}${middle}${delimiter}${MASK}${delimiter}`;
  });
  text = maskHeaders(text);
  text = text.replace(BEARER, `$1${MASK}`);
  text = text
    .replace(URL_PASSWORD, `$1${MASK}@`)
    .replace(URL_USER, `$1${MASK}@`)
    .replace(URL_SIGNATURE, `$1${MASK}`);
  text = text.replace(ASSIGNMENT, (whole, name: string, value: string) =>
    isSecretName(name, value) ? `${name}=${MASK}` : whole,
  );
  text = text.replace(FLAG_AND_VALUE, (whole, flag: string, gap: string, value: string) =>
    isSecretName(flag, value) ? `${flag}${gap}${MASK}` : whole,
  );
  if (text.includes('curl')) text = text.replace(CURL_USER, `$1$2$3:${MASK}`);
  return text;
};
