import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MARKS, type Mark } from '../../model/mark.ts';
import { visible } from '../../model/text.ts';
import { readOwnTail } from '../../observe/state/own-file.ts';
import { MARKS_FILE } from './segments.ts';

/** A line is some 80 bytes: this is a mark every ten seconds for a week. */
const MOST_BYTES = 4 * 1024 ** 2;
/** Not worth rewriting below this. */
const LARGE_BYTES = 1024 ** 2;

export interface MarksRead {
  /** Oldest first. */
  readonly marks: readonly Mark[];
  readonly skipped: number;
}

export const readMarks = (recorderDirectory: string): MarksRead => {
  let text: string;
  try {
    text = readOwnTail(join(recorderDirectory, MARKS_FILE), MOST_BYTES) ?? '';
  } catch {
    return { marks: [], skipped: 0 }; // not ours to read: the time line has no marks then
  }
  const lines = text.split('\n').filter(line => line !== '');
  const marks = lines.flatMap(parse);
  return { marks: once(marks.sort((a, b) => a.at - b.at)), skipped: lines.length - marks.length };
};

/** Every writer tells of the boot it runs in, and reckons its moment to a second or so. */
const SAME_BOOT_MS = 5000;

const once = (marks: readonly Mark[]): readonly Mark[] => {
  let boot = Number.NEGATIVE_INFINITY;
  return marks.filter(({ mark, at }) => {
    if (mark !== 'boot') return true;
    const known = at - boot < SAME_BOOT_MS;
    boot = at;
    return !known;
  });
};

const parse = (line: string): Mark[] => {
  try {
    const { at, mark, text } = JSON.parse(line) as Partial<Record<keyof Mark, unknown>>;
    const kind = MARKS.find(known => known === mark);
    if (typeof at !== 'number' || Math.abs(at) > 8.64e15 || kind === undefined || typeof text !== 'string')
      return [];
    return [{ at, mark: kind, text: visible(text).slice(0, 200) }];
  } catch {
    return []; // torn
  }
};

/** Drops what is older than the recording, or than `MOST_BYTES` of newer ones: written beside, then put in its place. */
export const trimMarks = (recorderDirectory: string, oldest: number | null): void => {
  const path = join(recorderDirectory, MARKS_FILE);
  if ((lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) < LARGE_BYTES) return;
  const kept = readMarks(recorderDirectory).marks.filter(({ at }) => oldest === null || at >= oldest);
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, kept.map(mark => `${JSON.stringify(mark)}\n`).join(''));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
};
