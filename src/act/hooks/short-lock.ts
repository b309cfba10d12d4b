import { unlinkIfThere } from '../../observe/state/own-file.ts';
import {
  type FoundLock,
  ownerOf,
  parseFields,
  parseOwner,
  removeLock,
  replaceStale,
  stateOf,
  tryLock,
} from '../record/file-lock.ts';

/** Who holds it does so for a millisecond; a holder that runs may be starved, or stopped. */
const STALE_MS = 5000;
const STARVED_MS = 60_000;
/** Fifty who wait must not keep the one who works from its work. */
const SHORTEST_POLL_MS = 2;
const LONGEST_POLL_MS = 40;

const pause = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number): unknown => Atomics.wait(pause, 0, 0, ms);

/** Left behind by a holder that ended, or that nobody can ask about and that is seconds old. */
const isStale = ({ text, mtimeMs }: FoundLock): boolean => {
  const owner = parseOwner(parseFields(text));
  const state = owner === null ? 'ended' : stateOf(owner);
  const age = Math.abs(Date.now() - mtimeMs);
  return state === 'ended' || age >= (state === 'runs' ? STARVED_MS : STALE_MS);
};

/**
 * Runs `work` while nobody else does under the same path. Null: it was held for all of that time, and nothing was done.
 * Throws at once where no lock can be made. Synchronous, because a hook has nothing else to do meanwhile.
 */
export const withShortLock = <T>(
  path: string,
  waitMs: number,
  work: () => T,
): { readonly value: T } | null => {
  const until = Date.now() + waitMs;
  const text = JSON.stringify(ownerOf());
  for (let poll = SHORTEST_POLL_MS; ; poll = Math.min(poll * 2, LONGEST_POLL_MS)) {
    const found = tryLock(path, text);
    if (found === 'taken') break;
    if (found !== null && isStale(found) && replaceStale(path, found, text)) break;
    const left = until - Date.now();
    if (left <= 0) return null;
    sleep(Math.min(left, poll * (0.5 + Math.random())));
  }
  const takenAt = Date.now();
  try {
    return { value: work() };
  } finally {
    // Before that nobody else can have taken it over, and there is no need to look.
    if (Math.abs(Date.now() - takenAt) < STALE_MS) unlinkIfThere(path);
    else removeLock(path, text);
  }
};
