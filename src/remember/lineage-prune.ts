import { rmSync } from 'node:fs';
import type { Identity } from '../model/identity.ts';
import { lineageFiles, readLines } from './lineage-files.ts';
import { parseLine } from './lineage-line.ts';

/** A session that starts clears this many away; the next one goes on. */
const MOST_FILES = 200;

/** Removes what ended sessions wrote when nothing of it runs any more: where no guard folds it in, nobody else does. */
export const pruneSessionLineage = (
  directory: string,
  boot: string,
  isRunning: (identity: Identity) => boolean,
): void => {
  const sessions = lineageFiles(directory).files.filter(file => file.session);
  for (const file of sessions.slice(0, MOST_FILES)) {
    const read = readLines(file);
    if ('refused' in read) continue;
    const lines = read.lines.map(parseLine).filter(line => line !== null);
    if (lines.some(line => line.boot === boot && isRunning(line))) continue;
    try {
      rmSync(file.path, { force: true });
    } catch {
      // a read-only disk: it stays, and is read in vain
    }
  }
};
