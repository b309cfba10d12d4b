import { BUFFER, type ReadFailure, readIntoBuffer } from './read.ts';

/** What only `/proc/PID/status` tells. */
export interface Status {
  readonly realUid: number;
  readonly effectiveUid: number;
  /** Bytes swapped out; null for what has no memory of its own. */
  readonly swap: number | null;
  /** The number it has for itself, where that is another: in a pid namespace of its own. */
  readonly innerPid: number | null;
  /** SIGHUP is ignored, as nohup leaves it; null: not told. */
  readonly ignoresHangup: boolean | null;
}

/** `Uid:` holds the real, effective, saved and file system user. Its name is escaped by the kernel: no forged lines. */
const UIDS = /^Uid:\s+(\d+)\s+(\d+)/m;
/** One number for each pid namespace, ours first; older kernels have no such line. */
const INNER_PID = /^NSpid:.*\s\d+\s+(\d+)$/m;
/** A bit for each signal, the lowest for SIGHUP. */
const IGNORED = /^SigIgn:\s+[0-9a-f]*([0-9a-f])$/m;
const SWAP = /^VmSwap:\s+(\d+) kB/m;

export const parseStatus = (text: string): Status | null => {
  const uids = UIDS.exec(text);
  if (uids === null) return null;
  const swap = SWAP.exec(text)?.[1];
  const ignored = IGNORED.exec(text)?.[1];
  const inner = INNER_PID.exec(text)?.[1];
  return {
    realUid: Number(uids[1]),
    effectiveUid: Number(uids[2]),
    swap: swap === undefined ? null : Number(swap) * 1024,
    innerPid: inner === undefined ? null : Number(inner),
    ignoresHangup: ignored === undefined ? null : (Number.parseInt(ignored, 16) & 1) === 1,
  };
};

/** About 15 µs a process: for those that matter only. */
export const readStatus = (root: string, pid: number): Status | ReadFailure => {
  const length = readIntoBuffer(`${root}/${pid}/status`);
  if (typeof length !== 'number') return length;
  return parseStatus(BUFFER.toString('latin1', 0, length)) ?? 'denied';
};
