import { lstatSync, rmSync } from 'node:fs';
import { beginOf, type Hour, segmentFiles } from './segments.ts';

export interface Retention {
  readonly now: number;
  /** The hour being written: it stays. */
  readonly current: Hour;
  /** Older segments go; null: the clock was set lately, and ages prove nothing. */
  readonly keepMs: number | null;
  readonly keepBytes: number;
}

/** Removes segments that are too old or too much, the oldest first. */
export const dropOldSegments = (directory: string, { now, current, keepMs, keepBytes }: Retention): void => {
  const files = segmentFiles(directory).map(file => ({
    ...file,
    bytes: lstatSync(file.path, { throwIfNoEntry: false })?.size ?? 0,
  }));
  let total = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const { hour, path, packed, bytes } of files) {
    const old = keepMs !== null && now - beginOf(hour) > keepMs;
    if (!old && total <= keepBytes) continue;
    if (hour === current && !packed) continue;
    rmSync(path, { force: true });
    total -= bytes;
  }
};
