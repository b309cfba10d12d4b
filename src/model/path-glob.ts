import { segmentMatcher } from './glob.ts';

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
