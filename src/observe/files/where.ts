import type { HeartbeatSource } from '../../model/config.ts';
import type { FileFormat } from './formats.ts';
import { fixedNames, formatIn, type Place, placeBelow, placeOfRoot } from './places.ts';
import { type GlobState, globFormat, globNames, globsBelow, startGlobs } from './source-globs.ts';

/** What may be found in one directory: by our own knowledge of its place, and by the user's globs. */
export interface Where {
  readonly place: Place | null;
  readonly globs: readonly GlobState[];
}

export const whereRoot = (root: string, sources: readonly HeartbeatSource[]): Where => ({
  place: placeOfRoot(root),
  globs: startGlobs(sources),
});

/** null: nothing known can be in there, so nobody looks. */
export const whereBelow = (where: Where, name: string): Where | null => {
  const place = where.place === null ? null : placeBelow(where.place, name);
  const globs = where.globs.length === 0 ? where.globs : globsBelow(where.globs, name);
  return place === null && globs.length === 0 ? null : { place, globs };
};

export const formatAt = (where: Where, name: string): FileFormat | null =>
  (where.place === null ? null : formatIn(where.place, name)) ??
  (where.globs.length === 0 ? null : globFormat(where.globs, name));

/** The only names worth asking for; null: the directory must be listed. */
export const namesAt = (where: Where): readonly string[] | null => {
  const own = where.place === null ? [] : fixedNames(where.place);
  const wanted = globNames(where.globs);
  return own === null || wanted === null ? null : [...new Set([...own, ...wanted])];
};
