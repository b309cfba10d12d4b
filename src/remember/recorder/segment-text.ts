import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { gunzipSync, constants as zlib } from 'node:zlib';
import { openOwn } from '../../observe/state/own-file.ts';
import type { SegmentFile } from './segments.ts';

/** No honest hour is longer, packed or not: a file of zeros must not fill our memory. */
const MOST_PACKED_BYTES = 64 * 1024 ** 2;
const MOST_PLAIN_BYTES = 256 * 1024 ** 2;

/** Throws when it is gone meanwhile, not ours, or no gzip. */
export const readSegment = ({ path, packed }: SegmentFile): string => {
  const bytes = readBounded(path);
  if (!packed) return bytes.toString('utf8');
  // What was cut off is read up to the cut.
  return gunzipSync(bytes, {
    finishFlush: zlib.Z_SYNC_FLUSH,
    maxOutputLength: MOST_PLAIN_BYTES,
  }).toString('utf8');
};

/** Changes whenever the file does: the hour being written grows. */
export const stateOf = ({ path }: SegmentFile): string => {
  try {
    const fd = openOwn(path, constants.O_RDONLY);
    try {
      const { size, mtimeMs, ino } = fstatSync(fd);
      return `${ino}:${size}:${mtimeMs}`;
    } finally {
      closeSync(fd);
    }
  } catch {
    return 'unreadable';
  }
};

const readBounded = (path: string): Buffer => {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const size = Math.min(fstatSync(fd).size, MOST_PACKED_BYTES);
    const bytes = Buffer.alloc(size);
    let got = 0;
    for (let read = -1; got < size && read !== 0; got += read)
      read = readSync(fd, bytes, got, size - got, got);
    return bytes.subarray(0, got);
  } finally {
    closeSync(fd);
  }
};
