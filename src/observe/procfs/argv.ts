import { safeArgv } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { BUFFER, readLink, readOnceIntoBuffer } from './read.ts';

/** Said at the end of an argv that was longer than we read. */
const CUT_MARK = '…[cut]';

/** `process.title` leaves a run of NULs behind the new text: they are padding, not empty arguments. */
const withoutPadding = (length: number): number => {
  let end = length;
  while (end > 0 && BUFFER[end - 1] === 0) end -= 1;
  return end;
};

// Worker pools and daemons come in rows of equal command lines: the last one is kept for its neighbours,
// which saves a fifth of a first look at 5,000 processes. One only, because it is not redacted.
let lastText = '';
let lastArgv: readonly string[] = [];

/** Sanitised, redacted argv; null when it cannot be read (or the process has no memory any more). */
export const readArgv = (root: string, pid: number): readonly string[] | null => {
  const length = readOnceIntoBuffer(`${root}/${pid}/cmdline`);
  if (typeof length !== 'number') return null;
  const end = withoutPadding(length);
  if (end === 0) return [];
  const text = BUFFER.toString('utf8', 0, end);
  if (text !== lastText) {
    const argv = safeArgv(text.split('\0'));
    lastArgv = length === BUFFER.length ? [...argv, CUT_MARK] : argv;
    lastText = text;
  }
  return lastArgv;
};

/** The kernel's own word for a name: 15 bytes. */
const COMM_BYTES = 15;

/**
 * The executable is worth a readlink only when argv[0] and comm disagree about the name:
 * a versioned binary, a renamed process, a script. Elsewhere it would say the same again.
 */
export const readExeIfNeeded = (
  root: string,
  pid: number,
  comm: string,
  argv: readonly string[] | null,
): string | null => {
  const first = argv?.[0];
  if (first !== undefined) {
    const base = first.slice(first.lastIndexOf('/') + 1);
    if (base === comm || base.slice(0, COMM_BYTES) === comm) return null;
  }
  const exe = readLink(`${root}/${pid}/exe`);
  return exe === null ? null : visible(exe);
};
