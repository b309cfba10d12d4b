/** What we take from `/proc/PID/stat`. */
export interface Stat {
  readonly comm: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  readonly ttyNumber: number;
  readonly flags: number;
  readonly cpuTicks: number;
  /** Field 22, verbatim: half of the identity. */
  readonly start: string;
  readonly rssPages: number;
  /** Field 28. Address space randomisation moves it at every exec; 0 or 1 when we may not know. */
  readonly startStack: number;
}

const SPACE = 0x20;
const CLOSE = 0x29;
const OPEN = 0x28;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;

/** How many of the fields after comm we keep; index 0 is the state (field 3). */
const FIELDS = 26;
const numbers = new Float64Array(FIELDS);

/**
 * Parsed as bytes and only after the LAST `)`: a process may call itself `x) R 1 (`.
 * Null when the text is no stat line.
 */
export const parseStat = (buffer: Buffer, length: number): Stat | null => {
  const close = buffer.lastIndexOf(CLOSE, length - 1);
  const open = buffer.indexOf(OPEN);
  if (open < 0 || close < open || close + 2 >= length) return null;

  let at = close + 4; // past ") S "
  let startFrom = 0;
  let startTo = 0;
  for (let field = 1; field < FIELDS; field += 1) {
    const begin = at;
    let sign = 1;
    if (buffer[at] === MINUS) {
      sign = -1;
      at += 1;
    }
    let value = 0;
    for (let byte = buffer[at]!; at < length && byte >= ZERO && byte <= NINE; byte = buffer[++at]!) {
      value = value * 10 + (byte - ZERO);
    }
    if (at === begin) return null; // half a line
    numbers[field] = value * sign;
    if (field === 19) {
      startFrom = begin;
      startTo = at;
    }
    if (buffer[at] === SPACE) at += 1;
  }
  return {
    comm: buffer.toString('utf8', open + 1, close),
    state: String.fromCharCode(buffer[close + 2]!),
    ppid: numbers[1]!,
    pgid: numbers[2]!,
    sid: numbers[3]!,
    ttyNumber: numbers[4]!,
    flags: numbers[6]!,
    cpuTicks: numbers[11]! + numbers[12]!,
    start: buffer.toString('latin1', startFrom, startTo),
    rssPages: numbers[21]!,
    startStack: numbers[25]!,
  };
};

/** `PF_KTHREAD` in the kernel's include/linux/sched.h. */
export const KERNEL_THREAD_FLAG = 0x0020_0000;

/** Unix98 ptys have majors 136 to 143, 256 minors each; 4 holds the consoles and serial lines. */
export const ttyName = (ttyNumber: number): string | null => {
  if (ttyNumber === 0) return null;
  const major = (ttyNumber >> 8) & 0xfff;
  const minor = (ttyNumber & 0xff) | ((ttyNumber >> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `pts/${(major - 136) * 256 + minor}`;
  if (major === 4) return minor < 64 ? `tty${minor}` : `ttyS${minor - 64}`;
  if (major === 5 && minor === 1) return 'console';
  return `${major}:${minor}`;
};
