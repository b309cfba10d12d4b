import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { openOwn } from '../../observe/state/own-file.ts';
import { type Hour, packedName, plainName } from './segments.ts';

/** Made beside, then put in its place; what a kill leaves under this name is removed by the next writer. */
export const DRAFT = '.packing';

/**
 * Compresses a plain segment. What is already compressed of that hour stays in front: members of a gzip file follow one
 * another. Killed at any moment it leaves the hour readable, at worst twice, and readers pass over what they have seen.
 */
export const packSegment = async (directory: string, hour: Hour): Promise<void> => {
  const plain = join(directory, plainName(hour));
  const packed = join(directory, packedName(hour));
  const draft = join(directory, DRAFT);
  rmSync(draft, { force: true });
  try {
    await append(packed, draft, false);
    await append(plain, draft, true);
    sync(draft);
    renameSync(draft, packed);
    sync(dirname(packed));
    rmSync(plain, { force: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};

/** By streams: an hour of a machine full of agents is some megabytes, and guard is to stay small. */
const append = async (from: string, to: string, compress: boolean): Promise<void> => {
  let fd: number;
  try {
    fd = openOwn(from, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const source = createReadStream(from, { fd });
  const target = createWriteStream(to, { flags: 'a', mode: 0o600 });
  await (compress ? pipeline(source, createGzip(), target) : pipeline(source, target));
};

const sync = (path: string): void => {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};
