import { readText } from './read.ts';

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

/**
 * What follows the name: the state (field 3) up to the bottom of the stack (field 28). One match in the engine's own
 * code: byte by byte in ours took twice as long, a tenth of a first look at 5,000 processes.
 */
const number = '(-?\\d+)';
const other = '-?\\d+';
const FIELDS = new RegExp(
  [
    '\\) (.)', // the state
    ...[number, number, number, number], // parent, group, session, terminal
    ...[other, number], // flags
    ...[other, other, other, other],
    ...[number, number], // user and system time
    ...[other, other, other, other],
    ...[number, other], // threads
    ...[number, other, number], // start time, pages in memory
    ...[other, other, other, number], // the bottom of the stack
  ].join(' '),
  'y',
);
const NOT_ASCII = /[^\0-\x7f]/;

/** A process whose first thread has ended runs on in its others: what they do is unknown, but it is not a zombie. */
export const UNKNOWN_STATE = '?';

const stateOf = (told: string, threads: number): string =>
  told === 'Z' && threads > 1 ? UNKNOWN_STATE : told;

/**
 * Parsed only after the LAST `)`: a process may call itself `x) R 1 (`.
 * Null when the text is no stat line.
 */
export const parseStat = (buffer: Buffer, length: number): Stat | null =>
  parseStatLine(buffer.toString('latin1', 0, length));

/** The same of a line that was read as latin1, a character a byte. */
export const parseStatLine = (line: string): Stat | null => {
  const open = line.indexOf('(');
  const close = line.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  FIELDS.lastIndex = close;
  const found = FIELDS.exec(line);
  if (found === null) return null; // half a line
  const comm = line.slice(open + 1, close);
  return {
    comm: NOT_ASCII.test(comm) ? Buffer.from(comm, 'latin1').toString('utf8') : comm,
    state: stateOf(found[1]!, Number(found[9])),
    ppid: Number(found[2]),
    pgid: Number(found[3]),
    sid: Number(found[4]),
    ttyNumber: Number(found[5]),
    flags: Number(found[6]),
    cpuTicks: Number(found[7]) + Number(found[8]),
    start: found[10]!,
    rssPages: Number(found[11]),
    startStack: Number(found[12]),
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

/**
 * Asked of one that has just read as empty. During an exec the kernel shows no environment, for up to milliseconds on a
 * loaded machine. It sets the end of the code (field 27 of stat) after the begin and end of the environment (50, 51):
 * load_elf_binary in fs/binfmt_elf.c. A kernel thread has neither.
 */
export const isEmptyEnviron = (root: string, pid: number): boolean => {
  const line = readText(`${root}/${pid}/stat`) ?? '';
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): string | undefined => fields[number - 3];
  if ((Number(field(9)) & KERNEL_THREAD_FLAG) !== 0) return true;
  return field(50) === field(51) && field(51) !== undefined && field(27) !== '0';
};
