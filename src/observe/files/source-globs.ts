import { howSourceIsRead } from '../../agents/files/user-source.ts';
import type { HeartbeatSource } from '../../model/config.ts';
import {
  awaitedNames,
  compilePathGlob,
  endsHere,
  type PathGlob,
  type Positions,
  stepInto,
} from '../../model/path-glob.ts';
import type { KnownFormat } from './read-known.ts';

/** How deep `**` may reach below a root: deep enough for monorepos, too shallow for a whole disk. */
const DEEPEST = 6;
const NEVER_ENTERED = new Set(['node_modules', '.git', '.lake', 'target', '.venv']);

/** A source's glob, and how much of it the directory at hand has used up. */
export interface GlobState {
  readonly glob: PathGlob;
  readonly format: KnownFormat;
  readonly positions: Positions;
  readonly depth: number;
}

const sourceFormat = (source: HeartbeatSource): KnownFormat => ({
  ...howSourceIsRead(source),
  format: 'user',
  source: source.name,
});

/** A glob stays below its root: `..` would follow a cloned repository's config anywhere. */
export const startGlobs = (sources: readonly HeartbeatSource[]): GlobState[] =>
  sources.flatMap(source => {
    const glob = compilePathGlob(source.glob);
    return glob === null ? [] : [{ glob, format: sourceFormat(source), positions: [0], depth: 0 }];
  });

/** The globs that can still match something below the directory `name`. */
export const globsBelow = (states: readonly GlobState[], name: string): GlobState[] => {
  if (NEVER_ENTERED.has(name)) return [];
  return states.flatMap(state => {
    if (state.depth >= DEEPEST) return [];
    const positions = stepInto(state.glob, state.positions, name);
    return positions.length === 0 ? [] : [{ ...state, positions, depth: state.depth + 1 }];
  });
};

export const globFormat = (states: readonly GlobState[], name: string): KnownFormat | null =>
  states.find(({ glob, positions }) => endsHere(glob, positions, name))?.format ?? null;

/** Names the globs wait for right here, when all of them are written out; null: the directory must be listed. */
export const globNames = (states: readonly GlobState[]): readonly string[] | null => {
  const names: string[] = [];
  for (const { glob, positions } of states) {
    const awaited = awaitedNames(glob, positions);
    if (awaited === null) return null;
    names.push(...awaited);
  }
  return names;
};
