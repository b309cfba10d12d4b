import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseIso } from '../../model/time.ts';

export const RECORDER_DIRECTORY = 'recorder';
export const MARKS_FILE = 'marks.jsonl';

const HOUR_MS = 3_600_000;

/** `20261116T21Z`: the hour a segment is of, in UTC, so that names sort as time goes. */
export type Hour = string;

export const hourOf = (at: number): Hour => `${new Date(at).toISOString().slice(0, 13).replaceAll('-', '')}Z`;

/** When it begins, in epoch milliseconds. */
export const beginOf = (hour: Hour): number => parseIso(hour) ?? Number.NaN;

export const endOf = (hour: Hour): number => beginOf(hour) + HOUR_MS;

export const isIn = (hour: Hour, at: number): boolean => at >= beginOf(hour) && at < endOf(hour);

/** The hour being written is plain; those before it are compressed. Both exist when the clock was set back. */
export const plainName = (hour: Hour): string => `${hour}.jsonl`;
export const packedName = (hour: Hour): string => `${hour}.jsonl.gz`;

const SEGMENT = /^(\d{8}T\d{2}Z)\.jsonl(\.gz)?$/;

export interface SegmentFile {
  readonly hour: Hour;
  readonly path: string;
  readonly packed: boolean;
}

/** Oldest first, the compressed part of an hour before its plain one. No directory: nothing was recorded. */
export const segmentFiles = (directory: string): readonly SegmentFile[] => {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return []; // not there, or not ours to read: the writer reports what is wrong with it
  }
  return names
    .flatMap(name => {
      const match = SEGMENT.exec(name);
      if (match?.[1] === undefined || Number.isNaN(beginOf(match[1]))) return [];
      return [{ hour: match[1], path: join(directory, name), packed: match[2] !== undefined }];
    })
    .sort((a, b) => (a.hour === b.hour ? Number(b.packed) - Number(a.packed) : a.hour < b.hour ? -1 : 1));
};
