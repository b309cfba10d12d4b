import { keyOf } from '../../model/identity.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Row } from './row.ts';

/**
 * The rows of a new look, with the selected one still among them: what ended stays where it was, as ended, until the
 * user moves. A key pressed at that moment must not act on whatever took its place.
 */
export const withSelected = (
  selected: string | null,
  before: readonly Row[],
  now: readonly Row[],
  { processes }: Snapshot,
): readonly Row[] => {
  const at = before.findIndex(row => row.key === selected);
  if (at < 0 || now.some(row => row.key === selected)) return now;
  const row = before[at]!;
  const still = row.process && processes.find(p => keyOf(p.facts) === selected);
  const places = new Map(now.map((one, i) => [one.key, i]));
  const above = before.slice(0, at).findLast(one => places.has(one.key));
  const place = above === undefined ? 0 : places.get(above.key)! + 1;
  const stays = { ...row, foldable: false, folded: false };
  // What is there and matches no filter any more is shown like the rows around a match.
  const kept: Row = still ? { ...stays, process: still, context: true } : { ...stays, gone: true };
  return [...now.slice(0, place), kept, ...now.slice(place)];
};
