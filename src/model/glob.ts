/**
 * Globs without regular expressions: a pattern may come with a cloned repository, and one such as
 * `*a*a*a*b` takes a backtracking engine longer than anyone lives. Here a mismatch only ever goes back
 * to the last `*`, so the work is at most pattern times text.
 */

type Matcher = (text: string) => boolean;

/** One character: itself, any (`?`), or one of a set; `*` is a run of any. */
type Token = '*' | '?' | { readonly one: (char: string) => boolean };

const matchTokens = (tokens: readonly Token[], text: string): boolean => {
  let token = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const wanted = tokens[token];
    if (wanted === '*') {
      star = token++;
      resume = at;
    } else if (wanted !== undefined && (wanted === '?' || wanted.one(text[at] as string))) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      token = star + 1;
      at = ++resume;
    } else return false;
  }
  while (tokens[token] === '*') token += 1;
  return token === tokens.length;
};

const literal = (char: string): Token => ({ one: other => other === char });

/** Only `*` means something: for names of programs, which may hold any other character. */
export const starMatcher = (glob: string): Matcher => {
  const first = glob.indexOf('*');
  if (first === -1) return text => text === glob;
  const head = glob.slice(0, first);
  const tail = glob.slice(glob.lastIndexOf('*') + 1);
  const pieces = glob
    .slice(first, glob.length - tail.length)
    .split('*')
    .filter(piece => piece !== '');
  // The leftmost place for each piece leaves the most room for those behind it.
  return text => {
    if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail))
      return false;
    let at = head.length;
    for (const piece of pieces) {
      const found = text.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= text.length - tail.length;
  };
};

/** `[abc]`, `[a-z]`, `[!a]`; null when it is not closed. */
const readSet = (glob: string, open: number): { readonly token: Token; readonly end: number } | null => {
  const negated = glob[open + 1] === '!' || glob[open + 1] === '^';
  const start = open + (negated ? 2 : 1);
  const close = glob.indexOf(']', start + 1);
  if (close === -1) return null;
  const body = glob.slice(start, close);
  const one = (char: string): boolean => {
    for (let i = 0; i < body.length; i++) {
      const range = body[i + 1] === '-' && i + 2 < body.length;
      const to = range ? (body[i + 2] as string) : (body[i] as string);
      if (char >= (body[i] as string) && char <= to) return !negated;
      if (range) i += 2;
    }
    return negated;
  };
  return { token: { one }, end: close };
};

const tokensOf = (glob: string): Token[] | null => {
  const tokens: Token[] = [];
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i] as string;
    if (char === '[') {
      const set = readSet(glob, i);
      if (set === null) return null;
      tokens.push(set.token);
      i = set.end;
    } else if (char === '*' || char === '?') {
      if (char !== '*' || tokens.at(-1) !== '*') tokens.push(char);
    } else tokens.push(literal(char));
  }
  return tokens;
};

const MOST_ALTERNATIVES = 64;

/** `{a,b}` written out; null when that gives more than anyone writes by hand. */
const alternatives = (glob: string): string[] | null => {
  let made = [''];
  let from = 0;
  for (const { 0: whole, index } of glob.matchAll(/\{[^{}]*\}/g)) {
    const choices = whole.slice(1, -1).split(',');
    if (made.length * choices.length > MOST_ALTERNATIVES) return null;
    const before = glob.slice(from, index);
    made = made.flatMap(start => choices.map(choice => start + before + choice));
    from = index + whole.length;
  }
  return made.map(start => start + glob.slice(from));
};

/** One segment of a path: `*`, `?`, `[abc]` and `{a,b}`; a leading dot must be written out. */
export const segmentMatcher = (segment: string): Matcher => {
  const ways = (alternatives(segment) ?? []).flatMap(way => {
    const tokens = tokensOf(way);
    // What cannot be read matches nothing.
    return tokens === null ? [] : [{ tokens, hidden: way.startsWith('.') }];
  });
  return name => ways.some(({ tokens, hidden }) => (hidden || name[0] !== '.') && matchTokens(tokens, name));
};

type Segment = '**' | { readonly fits: (name: string) => boolean; readonly plain: string | null };

/** A glob on paths, segment by segment; `**` stands for any number of directories, hidden ones excepted. */
export type PathGlob = readonly Segment[];

/** More than any path has. */
const MOST_SEGMENTS = 32;

/** null: it is empty, too long, or would leave the directory it starts from. */
export const compilePathGlob = (glob: string): PathGlob | null => {
  const parts = glob
    .split('/')
    .filter(part => part !== '' && part !== '.')
    // Two in a row say no more than one.
    .filter((part, at, all) => part !== '**' || all[at - 1] !== '**');
  if (parts.length === 0 || parts.length > MOST_SEGMENTS || parts.includes('..')) return null;
  return parts.map(part =>
    part === '**' ? part : { fits: segmentMatcher(part), plain: /[*?[\]{}]/.test(part) ? null : part },
  );
};

/**
 * How many segments the directory at hand may have used up: one position for each way to read the
 * glob. Each is kept once, so that they never outnumber the segments.
 */
export type Positions = readonly number[];

/** The positions in the directory `name`; none: nothing below it can match. */
export const stepInto = (glob: PathGlob, positions: Positions, name: string): Positions => {
  const reached = new Set<number>();
  const last = glob.length - 1;
  for (const at of positions) {
    const segment = glob[at];
    if (segment === '**') {
      if (at === last || name.startsWith('.')) continue;
      reached.add(at);
    }
    const next = segment === '**' ? at + 1 : at;
    const wanted = glob[next];
    if (wanted !== undefined && wanted !== '**' && next < last && wanted.fits(name)) reached.add(next + 1);
  }
  return [...reached];
};

/** Is a file called `name` in this directory what the glob means? */
export const endsHere = (glob: PathGlob, positions: Positions, name: string): boolean =>
  positions.some(at => {
    // `**` also stands for no directory at all.
    const next = glob[at] === '**' ? at + 1 : at;
    const wanted = glob[next];
    return next === glob.length - 1 && wanted !== undefined && wanted !== '**' && wanted.fits(name);
  });

/** Names the glob waits for right here, when all of them are written out; null: the directory must be listed. */
export const awaitedNames = (glob: PathGlob, positions: Positions): readonly string[] | null => {
  const names: string[] = [];
  for (const at of positions) {
    const segment = glob[at];
    if (segment === undefined) continue;
    if (segment === '**' || segment.plain === null) return null;
    names.push(segment.plain);
  }
  return names;
};

/** Characters of a regular expression that we do not read. */
const UNREAD = new Set('(){}+?');

/** One alternative of a regular expression; null: it holds more than we read. */
const regexTokens = (text: string): Token[] | null => {
  const isStart = text.startsWith('^');
  const isEnd = /(?:^|[^\\])(?:\\\\)*\$$/.test(text);
  const body = text.slice(isStart ? 1 : 0, isEnd ? -1 : undefined);
  const tokens: Token[] = isStart ? [] : ['*'];
  for (let i = 0; i < body.length; i++) {
    const char = body[i] as string;
    if (char === '.') {
      tokens.push(body[i + 1] === '*' ? '*' : '?');
      if (body[i + 1] === '*') i += 1;
    } else if (char === '[') {
      const set = readSet(body, i);
      if (set === null) return null;
      tokens.push(set.token);
      i = set.end;
    } else if (char === '\\') {
      i += 1;
      const next = body[i];
      if (next === undefined || /\w/.test(next)) return null;
      tokens.push(literal(next));
    } else if (UNREAD.has(char) || '*^$'.includes(char)) return null;
    else tokens.push(literal(char));
  }
  return isEnd ? tokens : [...tokens, '*'];
};

const MOST_PATTERN = 256;

/**
 * The plain part of a regular expression, as people write it for `pkill`: text, `.`, `.*`, `[set]`, `^`, `$`, `|`. Null:
 * it holds more, and what that matches is not known here.
 */
export const plainRegexMatcher = (pattern: string): Matcher | null => {
  if (pattern === '' || pattern.length > MOST_PATTERN) return null;
  const ways = pattern.split('|').map(regexTokens);
  return ways.every(way => way !== null) ? text => ways.some(way => matchTokens(way, text)) : null;
};
