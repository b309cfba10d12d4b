import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { belongsToUs, errorSentence, readOwnEnd } from '../observe/state/own-file.ts';

export const LINEAGE_FILE = 'lineage.jsonl';
/** One file per ended session, written by the SessionEnd hook and folded into the one above by guard. */
export const LINEAGE_DIRECTORY = 'lineage.d';

/** More are not kept, and not read. */
export const MOST_ENTRIES = 20_000;
/** Room for as many, and for the few that came since the last compaction. */
const MOST_BYTES = 8 * 1024 ** 2;
const MOST_SESSION_FILES = 1000;
/** A session of 2,000 processes. */
const MOST_SESSION_BYTES = 512 * 1024;

export interface LineageFile {
  readonly path: string;
  readonly limit: number;
  /** Left by one ended session, in `lineage.d`. */
  readonly session: boolean;
  /** Changes whenever the file does. */
  readonly stamp: string;
}

/** Files that there are, oldest knowledge first, and what was left out. */
export const lineageFiles = (directory: string): { files: LineageFile[]; leftOut: number } => {
  const names = listOrNone(join(directory, LINEAGE_DIRECTORY)).filter(name => name.endsWith('.jsonl'));
  const kept = names.sort().slice(-MOST_SESSION_FILES);
  const files = [
    stamped(join(directory, LINEAGE_FILE), MOST_BYTES, false),
    ...kept.map(name => stamped(join(directory, LINEAGE_DIRECTORY, name), MOST_SESSION_BYTES, true)),
  ];
  return { files: files.filter(file => file !== null), leftOut: names.length - kept.length };
};

const listOrNone = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return []; // no session has ended here yet
  }
};

const stamped = (path: string, limit: number, session: boolean): LineageFile | null => {
  try {
    const { ino, size, mtimeMs } = lstatSync(path);
    return { path, limit, session, stamp: `${path}:${ino}:${size}:${mtimeMs}` };
  } catch {
    return null; // not there, or folded in since the listing
  }
};

export type LinesRead =
  | { readonly lines: readonly string[]; readonly cut: boolean }
  | { readonly refused: string };

/** The lines at its end. Only what nobody else can have written is believed: a regular file, ours, writable by us alone. */
export const readLines = ({ path, limit }: LineageFile): LinesRead => {
  try {
    const end = readOwnEnd(path, limit);
    if (end === null) return { lines: [], cut: false };
    if ((end.mode & 0o022) !== 0) return { refused: 'others may write it' };
    const lines = end.text.split('\n');
    const cut = end.size > limit;
    // The first line of a tail is usually half a line; after the last newline there is nothing, or a torn line.
    if (cut) lines.shift();
    if (lines.at(-1) === '') lines.pop();
    return { lines, cut };
  } catch (error) {
    return { refused: errorSentence(error) };
  }
};

/** Why nothing in the directory may be believed; null when it is ours alone. */
export const distrust = (directory: string): string | null => {
  try {
    const stat = lstatSync(directory);
    if (!stat.isDirectory()) return 'it is not a directory';
    if (!belongsToUs(stat)) return 'it belongs to another user';
    return (stat.mode & 0o022) === 0 ? null : 'others may write there';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : errorSentence(error);
  }
};
