import type { HeartbeatSource } from '../../model/config.ts';
import { type FileFormat, userFormat } from './formats.ts';

/** How deep `**` may reach below a root: deep enough for monorepos, too shallow for a whole disk. */
const DEEPEST = 6;
const NEVER_ENTERED = new Set(['node_modules', '.git', '.lake', 'target', '.venv']);

export interface SourceGlob {
  readonly segments: readonly string[];
  readonly format: FileFormat;
}

/** A source's glob, and how many of its segments the directory at hand has already used up. */
export interface GlobState {
  readonly glob: SourceGlob;
  readonly at: number;
  readonly depth: number;
}

/** One path segment: `*`, `?`, `[abc]` and `{a,b}`; a leading dot must be written out. */
export const segmentPattern = (segment: string): RegExp => {
  const body = segment.replace(/[.+^$()|\\]|\*|\?|\{[^{}]*\}|\{|\}/g, token => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token.length > 1)
      return `(?:${token
        .slice(1, -1)
        .split(',')
        .map(alternative => segmentPattern(alternative).source.slice(1, -1))
        .join('|')})`;
    return `\\${token}`;
  });
  try {
    return new RegExp(`^${/^[*?[]/.test(segment) ? '(?!\\.)' : ''}${body}$`);
  } catch {
    return /^(?!)/; // an unclosed bracket matches nothing
  }
};

const patterns = new Map<string, RegExp>();
const matches = (segment: string, name: string): boolean => {
  let pattern = patterns.get(segment);
  if (pattern === undefined) {
    pattern = segmentPattern(segment);
    patterns.set(segment, pattern);
  }
  return pattern.test(name);
};

export const startGlobs = (sources: readonly HeartbeatSource[]): GlobState[] =>
  sources.flatMap(source => {
    const segments = source.glob.split('/').filter(part => part !== '' && part !== '.');
    // A glob stays below its root: `..` would follow a cloned repository's config anywhere.
    if (segments.length === 0 || segments.includes('..')) return [];
    return [{ glob: { segments, format: userFormat(source) }, at: 0, depth: 0 }];
  });

/** The globs that can still match something below the directory `name`. */
export const globsBelow = (states: readonly GlobState[], name: string): GlobState[] =>
  states.flatMap(({ glob, at, depth }) => {
    const segment = glob.segments[at];
    const last = at === glob.segments.length - 1;
    if (segment === undefined || depth >= DEEPEST || NEVER_ENTERED.has(name)) return [];
    if (segment !== '**')
      return !last && matches(segment, name) ? [{ glob, at: at + 1, depth: depth + 1 }] : [];
    if (last || name.startsWith('.')) return [];
    const staying = { glob, at, depth: depth + 1 };
    const passing = globsBelow([{ glob, at: at + 1, depth }], name);
    return [staying, ...passing];
  });

export const globFormat = (states: readonly GlobState[], name: string): FileFormat | null => {
  for (const { glob, at } of states) {
    // `**` also stands for no directory at all.
    const next = glob.segments[at] === '**' ? at + 1 : at;
    const segment = glob.segments[next];
    if (segment !== undefined && next === glob.segments.length - 1 && matches(segment, name))
      return glob.format;
  }
  return null;
};

/** Names the globs wait for right here, when all of them are written out; null: the directory must be listed. */
export const globNames = (states: readonly GlobState[]): readonly string[] | null => {
  const names = states.map(({ glob, at }) => glob.segments[at]).filter(name => name !== undefined);
  return names.every(name => !/[*?[\]{}]/.test(name)) ? names : null;
};
