import { formatOf } from '../../agents/files/formats.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { directoryOf, orchestratedTaskDirectory } from '../../model/path.ts';
import type { SweepFacts } from './sweep-facts.ts';
import type { FileAct } from './sweep-plan.ts';

/** Where a file of this kind is archived: beside the task's other directories, or beside itself. */
export const archiveOf = ({ path }: Pick<Reading, 'path'>): string =>
  `${orchestratedTaskDirectory(path) ?? directoryOf(path)}/archive`;

/** What becomes of a file that nobody needs any more; null: nothing, or not what it was when it was read. */
export const fileAct = (
  reading: Reading,
  facts: SweepFacts,
  { why, agent }: Pick<FileAct, 'why' | 'agent'>,
): FileAct | null => {
  const act = formatOf(reading).swept;
  const seen = facts.seen.get(reading.path);
  if (act === null || seen === undefined) return null;
  if (seen.mtimeMs !== reading.mtime || seen.size !== reading.size) return null;
  const to = act === 'archive' ? archiveOf(reading) : null;
  const toWithin = to === null ? null : (facts.directories.get(directoryOf(to)) ?? null);
  if (to !== null && toWithin === null) return null;
  return { act, path: reading.path, to, toWithin, root: reading.root, bytes: reading.size, why, agent, seen };
};
