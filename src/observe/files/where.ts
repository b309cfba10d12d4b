import { FORMATS } from '../../agents/files/formats.ts';
import { DIRECTORIES, type NameRule, type Place, placeOfRoot } from '../../agents/files/places.ts';
import type { HeartbeatSource } from '../../model/config.ts';
import type { ReadingFormat } from '../../model/heartbeat.ts';
import type { KnownFormat } from './read-known.ts';
import { type GlobState, globFormat, globNames, globsBelow, startGlobs } from './source-globs.ts';

/** What may be found in one directory: by our own knowledge of its place, and by the user's globs. */
export interface Where {
  readonly place: Place | null;
  readonly globs: readonly GlobState[];
}

interface Rules {
  readonly directories: readonly (readonly [NameRule, Place])[];
  readonly files: (readonly [NameRule, KnownFormat])[];
}

/** What lies in each place: the formats say it, each for itself. */
const RULES: ReadonlyMap<Place, Rules> = (() => {
  const rules = new Map<Place, Rules>();
  for (const [place, directories] of Object.entries(DIRECTORIES))
    rules.set(place as Place, { directories, files: [] });
  for (const [format, { reader, lies }] of Object.entries(FORMATS)) {
    if (reader === null) continue;
    const known: KnownFormat = { ...reader, format: format as ReadingFormat, source: null };
    for (const [place, name] of lies) rules.get(place)?.files.push([name, known]);
  }
  return rules;
})();

const ruleFor = <T>(rules: readonly (readonly [NameRule, T])[], name: string): T | null =>
  rules.find(([rule]) => (typeof rule === 'string' ? rule === name : rule.test(name)))?.[1] ?? null;

const rulesOf = (place: Place): Rules => RULES.get(place) as Rules;

/** All names a place can hold, when every rule is a plain name; null: it must be listed. */
const fixedNames = (place: Place): readonly string[] | null => {
  const { directories, files } = rulesOf(place);
  const rules = [...directories, ...files].map(([rule]) => rule);
  return rules.every(rule => typeof rule === 'string') ? rules : null;
};

export const whereRoot = (root: string, sources: readonly HeartbeatSource[]): Where => ({
  place: placeOfRoot(root),
  globs: startGlobs(sources),
});

/** null: nothing known can be in there, so nobody looks. */
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
