import { howSourceIsRead } from '../../agents/files/configured-format.ts';
import {
  DIRECTORIES,
  type FilePlace,
  type HowRead,
  type NameRule,
  placeOfRoot,
  type Understood,
} from '../../agents/files/format-type.ts';
import { FORMATS } from '../../agents/files/formats.ts';
import type { HeartbeatSource } from '../../model/config.ts';
import {
  awaitedNames,
  compilePathGlob,
  endsHere,
  type PathGlob,
  type Positions,
  stepInto,
} from '../../model/glob.ts';
import { NO_CONTENT, type Reading, type ReadingFormat, readingOf } from '../../model/heartbeat.ts';
import { safePath } from '../../model/redact.ts';
import { type FileStat, READ_LIMIT, readHead, readTail } from './read-bounded.ts';

/** What may be found in one directory: by our own knowledge of its place, and by the user's globs. */
export interface Where {
  readonly place: FilePlace | null;
  readonly globs: readonly GlobState[];
}

interface Rules {
  readonly directories: readonly (readonly [NameRule, FilePlace])[];
  readonly files: (readonly [NameRule, KnownFormat])[];
}

/** What is found in each place: the formats say it. */
const RULES: ReadonlyMap<FilePlace, Rules> = (() => {
  const rules = new Map<FilePlace, Rules>();
  for (const [place, directories] of Object.entries(DIRECTORIES))
    rules.set(place as FilePlace, { directories, files: [] });
  for (const [format, { reader, locations }] of Object.entries(FORMATS)) {
    if (reader === null) continue;
    const known: KnownFormat = { ...reader, format: format as ReadingFormat, source: null };
    for (const [place, name] of locations) rules.get(place)?.files.push([name, known]);
  }
  return rules;
})();

const ruleFor = <T>(rules: readonly (readonly [NameRule, T])[], name: string): T | null =>
  rules.find(([rule]) => (typeof rule === 'string' ? rule === name : rule.test(name)))?.[1] ?? null;

const rulesOf = (place: FilePlace): Rules => RULES.get(place) as Rules;

/** All names a place can hold, when every rule is a plain name; null: it must be listed. */
const fixedNames = (place: FilePlace): readonly string[] | null => {
  const { directories, files } = rulesOf(place);
  const rules = [...directories, ...files].map(([rule]) => rule);
  return rules.every(rule => typeof rule === 'string') ? rules : null;
};

export const whereRoot = (root: string, sources: readonly HeartbeatSource[]): Where => ({
  place: placeOfRoot(root),
  globs: startGlobs(sources),
});

/** null: nothing known can be in there, so it is not read. */
export const whereBelow = (where: Where, name: string): Where | null => {
  const place = where.place === null ? null : ruleFor(rulesOf(where.place).directories, name);
  const globs = where.globs.length === 0 ? where.globs : globsBelow(where.globs, name);
  return place === null && globs.length === 0 ? null : { place, globs };
};

export const formatAt = (where: Where, name: string): KnownFormat | null =>
  (where.place === null ? null : ruleFor(rulesOf(where.place).files, name)) ??
  (where.globs.length === 0 ? null : globFormat(where.globs, name));

/** The only names worth asking for; null: the directory must be listed. */
export const namesAt = (where: Where): readonly string[] | null => {
  const own = where.place === null ? [] : fixedNames(where.place);
  const wanted = globNames(where.globs);
  return own === null || wanted === null ? null : [...new Set([...own, ...wanted])];
};

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
const startGlobs = (sources: readonly HeartbeatSource[]): GlobState[] =>
  sources.flatMap(source => {
    const glob = compilePathGlob(source.glob);
    return glob === null ? [] : [{ glob, format: sourceFormat(source), positions: [0], depth: 0 }];
  });

/** The globs that can still match something below the directory `name`. */
const globsBelow = (states: readonly GlobState[], name: string): GlobState[] => {
  if (NEVER_ENTERED.has(name)) return [];
  return states.flatMap(state => {
    if (state.depth >= DEEPEST) return [];
    const positions = stepInto(state.glob, state.positions, name);
    return positions.length === 0 ? [] : [{ ...state, positions, depth: state.depth + 1 }];
  });
};

const globFormat = (states: readonly GlobState[], name: string): KnownFormat | null =>
  states.find(({ glob, positions }) => endsHere(glob, positions, name))?.format ?? null;

/** Names the globs wait for right here, when all of them are written out; null: the directory must be listed. */
const globNames = (states: readonly GlobState[]): readonly string[] | null => {
  const names: string[] = [];
  for (const { glob, positions } of states) {
    const awaited = awaitedNames(glob, positions);
    if (awaited === null) return null;
    names.push(...awaited);
  }
  return names;
};

/** How a file that was found is read, and as what. */
export interface KnownFormat extends HowRead {
  readonly format: ReadingFormat;
  /** Name of the user's source; null for the built-in formats. */
  readonly source: string | null;
}

interface Attempt {
  readonly result: Understood;
  readonly stat: FileStat;
}

const attempt = (path: string, format: KnownFormat, seen: FileStat): Attempt | null => {
  if (format.part === 'none') return { result: format.read({ path, text: '', cut: false }), stat: seen };
  const read = (format.part === 'tail' ? readTail : readHead)(path, READ_LIMIT, { ours: true });
  if (read.ok)
    return {
      result: format.read({ path, text: read.text, cut: read.cut }),
      stat: read.stat,
    };
  if (read.gone) return null;
  return { result: { ok: false, why: read.why }, stat: read.stat ?? seen };
};

/**
 * Reads one known file. What cannot be understood now keeps what was last understood of it, with the
 * reason beside: these files are written by shell redirections and are half there half the time. A path is text that
 * a repository chose: what cannot be shown is spelled out here, and so such a file is shown and never acted on.
 * null: the file is gone.
 */
export const readKnownFile = (
  path: string,
  root: string,
  format: KnownFormat,
  seen: FileStat,
  before: Reading | null,
): Reading | null => {
  const made = attempt(path, format, seen);
  if (made === null) return null;
  const { result, stat } = made;
  return readingOf(result.ok ? result.content : (before ?? NO_CONTENT), {
    path: safePath(path),
    root: safePath(root),
    format: format.format,
    source: format.source,
    mtime: stat.mtimeMs,
    size: stat.size,
    unreadable: result.ok ? null : result.why,
  });
};
