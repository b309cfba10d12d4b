import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { errorSentence, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import { LINEAGE_FILE, lineageFiles, MOST_ENTRIES, readLines } from './lineage-files.ts';
import { type LineageLine, lineText, type Moment, parseLine } from './lineage-line.ts';

/** How long the line of an ended identity is kept. */
const GONE_SECONDS = 24 * 3600;

export interface CompactionGround extends Moment {
  readonly isRunning: (key: IdentityKey) => boolean;
}

/**
 * What is worth keeping: of this boot, one line per identity (the first, as written), running or ended less than a
 * day ago. What has ended stays longer while something that runs descends from it: it is a link of the chain.
 */
export const worthKeeping = (
  lines: readonly LineageLine[],
  { boot, clock, isRunning }: CompactionGround,
): LineageLine[] => {
  const byKey = new Map<IdentityKey, LineageLine>();
  for (const line of lines) {
    const key = keyOf(line);
    if (line.boot !== boot || byKey.has(key)) continue;
    byKey.set(key, { ...line, gone: isRunning(key) ? null : (line.gone ?? clock) });
  }
  const needed = new Set<IdentityKey>();
  for (const [key, { gone }] of byKey) {
    if (gone !== null) continue;
    for (let up: IdentityKey | null = key; up !== null && !needed.has(up); up = parentOf(byKey.get(up)))
      needed.add(up);
  }
  const young = [...byKey].filter(
    ([key, { gone }]) => needed.has(key) || (gone !== null && clock - gone < GONE_SECONDS),
  );
  if (young.length <= MOST_ENTRIES) return young.map(([, line]) => line);
  // Too many: who runs is kept first, then who was there last.
  const chosen = new Set(
    [...young]
      .sort(([a, one], [b, other]) => Number(needed.has(b)) - Number(needed.has(a)) || other.seen - one.seen)
      .slice(0, MOST_ENTRIES)
      .map(([key]) => key),
  );
  return young.filter(([key]) => chosen.has(key)).map(([, line]) => line);
};

const parentOf = (line: LineageLine | undefined): IdentityKey | null =>
  line === undefined || line.parent === null ? null : keyOf(line.parent);

export interface Compacted {
  readonly kept: number;
  readonly warning: string | null;
}

/**
 * Folds the files of ended sessions into `lineage.jsonl` and drops what is no longer worth keeping. For guard, which
 * is alone in writing that file. A file that may not be believed stays where it is; so does everything when the disk
 * is full.
 */
export const compactLineage = (directory: string, ground: CompactionGround): Compacted => {
  const lines: LineageLine[] = [];
  const folded: string[] = [];
  try {
    makeStateDirectory(directory);
    for (const file of lineageFiles(directory).files) {
      const read = readLines(file);
      if ('refused' in read) continue;
      lines.push(...read.lines.map(parseLine).filter(line => line !== null));
      if (file.session) folded.push(file.path);
    }
    const kept = worthKeeping(lines, ground);
    replaceOwn(join(directory, LINEAGE_FILE), kept.map(lineText).join(''), { durable: true });
    for (const path of folded) rmSync(path, { force: true });
    return { kept: kept.length, warning: null };
  } catch (error) {
    return { kept: 0, warning: `lineage could not be compacted: ${errorSentence(error)}` };
  }
};
