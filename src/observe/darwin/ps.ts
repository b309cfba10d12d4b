import { parseDate } from '../../model/time.ts';
import { runCommand } from '../run-command.ts';

/** What Apple's `ps` says about one process. */
export interface PsRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** `16/3` is ttys003; null: none. */
  readonly tty: string | null;
  readonly stat: string;
  /** The effective user. */
  readonly uid: number;
  readonly realUid: number;
  readonly rss: number;
  readonly cpuSeconds: number | null;
  /** Epoch seconds, as text: the identity's second half on this backend. The kernel fixes it at the fork. */
  readonly start: string;
  /** At most 16 bytes; a zombie still has it. */
  readonly name: string;
  readonly args: string;
}

export type PsAnswer =
  | { readonly ok: true; readonly rows: readonly PsRow[] }
  | { readonly ok: false; readonly why: string };

/**
 * `tdev` instead of `tty`, which looks every terminal up by name: 3 s with 1,800 processes. `ucomm` instead of `comm`,
 * which prints `<defunct>` for zombies. The last two may hold spaces: `ucomm` is padded to its width.
 */
const KEYWORDS = 'pid ppid pgid tdev stat uid ruid rss time lstart ucomm args'.split(' ');
const FORMAT = KEYWORDS.flatMap(keyword => ['-o', `${keyword}=`]);
const NAME_WIDTH = 16;
/** More than the longest pid and the spaces before it. */
const PID_WIDTH = 12;

const ROW =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+(-?\d+)\s+(\d+)\s+(\S+)\s+(\S{3} \S{3} +\d+ \d\d:\d\d:\d\d \d{4})\s+/;

/** Far beyond a slow machine; a ps that hangs longer (on a dead network file system) never ends. */
export const TIMEOUT_MS = 10_000;
const MOST_OUTPUT = 64 * 1024 ** 2;

/** No accents get lost (LC_CTYPE), dates are always written the same way, and no hour exists twice (UTC). */
export const toolEnvironment = (): NodeJS.ProcessEnv => {
  const { LC_ALL: _, ...env } = process.env;
  return { ...env, LANG: 'C', LC_CTYPE: 'UTF-8', LC_TIME: 'C', TZ: 'UTC' };
};

/** Apple's major number of pseudo terminals is 16. */
const ttyOf = (device: string): string | null => {
  const [major, minor] = device.split('/').map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(minor) || major < 0) return null;
  return major === 16 ? `ttys${String(minor).padStart(3, '0')}` : `${major}/${minor}`;
};

/** `12:34.56`, `1:02:03.45` or `1-02:03:04`. */
const secondsOf = (time: string): number | null => {
  const match = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(time);
  if (match === null) return null;
  const [, days = 0, hours = 0, minutes, seconds] = match;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
};

/** The text was read as latin1, a character a byte: widths are counted in bytes. */
const decoded = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

const rowIn = (line: string): PsRow | null => {
  const m = ROW.exec(line);
  const started = m === null ? null : parseDate(`${m[10]} UTC`);
  if (m === null || started === null) return null;
  const words = line.slice(m[0].length);
  return {
    pid: Number(m[1]),
    ppid: Number(m[2]),
    pgid: Number(m[3]),
    tty: ttyOf(m[4]!),
    stat: m[5]!,
    uid: Number(m[6]),
    realUid: Number(m[7]),
    rss: Number(m[8]) * 1024,
    cpuSeconds: secondsOf(m[9]!),
    start: String(started / 1000),
    name: decoded(words.slice(0, NAME_WIDTH)).trim(),
    args: decoded(words.slice(NAME_WIDTH + 1)).trimEnd(),
  };
};

interface Line {
  readonly text: string;
  readonly row: PsRow;
}

/** A part of a text keeps the whole text in memory: a copy does not. */
const copied = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('latin1');

/**
 * Reads the whole table again and again. Most lines are those of the last time, in the same order: comparing one costs
 * a tenth of parsing it, and an unchanged process keeps its row.
 */
export class PsReader {
  #lines: readonly Line[] = [];

  readonly read = (bytes: string): PsRow[] => {
    const before = this.#lines;
    const lines: Line[] = [];
    let positions: ReadonlyMap<number, number> | null = null;
    let next = 0;
    for (let from = 0; from < bytes.length; ) {
      let known = before[next];
      if (known === undefined || !bytes.startsWith(known.text, from)) {
        // Processes came or went here: go on behind this one.
        positions ??= new Map(before.map(({ row }, at) => [row.pid, at]));
        const at = positions.get(Number.parseInt(bytes.slice(from, from + PID_WIDTH), 10));
        if (at !== undefined) next = at;
        known = at === undefined ? undefined : before[at];
      }
      if (known !== undefined) next += 1;
      if (known !== undefined && bytes.startsWith(known.text, from)) {
        from += known.text.length;
        lines.push(known);
        continue;
      }
      const newline = bytes.indexOf('\n', from);
      const end = newline < 0 ? bytes.length : newline + 1;
      const text = copied(bytes.slice(from, end));
      const row = rowIn(text);
      if (row !== null) lines.push({ text, row });
      from = end;
    }
    // What does not end with a newline is the beginning of other lines.
    this.#lines = lines.at(-1)?.text.endsWith('\n') === false ? lines.slice(0, -1) : lines;
    return lines.map(({ row }) => row);
  };
}

export const parsePs = (bytes: string): PsRow[] => new PsReader().read(bytes);

const IN_A_SANDBOX =
  'ps may not be run: /bin/ps is refused inside a sandbox (Claude, Codex); run reaptop outside of it.';

const refusal = (said: string): string =>
  /EPERM|Operation not permitted/i.test(said) ? IN_A_SANDBOX : `ps failed: ${said}.`;

const run = async (args: readonly string[], read = parsePs): Promise<PsAnswer> => {
  const result = await runCommand('ps', args, {
    timeoutMs: TIMEOUT_MS,
    env: toolEnvironment(),
    mostOutput: MOST_OUTPUT,
    encoding: 'latin1',
  });
  if (result.status === 'missing') return { ok: false, why: 'ps was not found: install it or correct PATH.' };
  if (result.status === 'timeout')
    return { ok: false, why: `ps did not answer within ${TIMEOUT_MS / 1000} s.` };
  if (result.status === 'failed') return { ok: false, why: refusal(result.why) };
  const said = result.stderr.trim().split('\n')[0] ?? '';
  // Exit code 1 and not a word: no such process. That is an answer.
  if (result.code !== 0 && !(result.code === 1 && result.stdout.trim() === '' && said === ''))
    return { ok: false, why: refusal(said === '' ? `exit code ${result.code}` : said) };
  return { ok: true, rows: read(result.stdout) };
};

/** All processes, in one call. `read`: of a `PsReader` that has read the table before. */
export const psAll = (read?: (bytes: string) => PsRow[]): Promise<PsAnswer> =>
  run(['-axww', ...FORMAT], read);

/** These processes. With `-x`: without it, `-p` with two pids takes seconds on a busy Mac. */
export const psSome = (pids: readonly number[]): Promise<PsAnswer> =>
  run(['-xww', ...FORMAT, '-p', pids.join(',')]);

/** The same at once, for hooks and locks, which cannot wait; null: ps failed. */
export const psNow = (pids?: readonly number[]): readonly PsRow[] | null => {
  const which = pids === undefined ? ['-axww', ...FORMAT] : ['-xww', ...FORMAT, '-p', pids.join(',')];
  // Loaded here, as in the files beside: a hook on Linux has this module and never asks it, and that cost it 3 ms.
  const { status, stdout, stderr, error } = process
    .getBuiltinModule('node:child_process')
    .spawnSync('ps', which, {
      env: toolEnvironment(),
      timeout: TIMEOUT_MS,
      maxBuffer: MOST_OUTPUT,
      encoding: 'latin1',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  if (
    error !== undefined ||
    (status !== 0 && !(status === 1 && stdout.trim() === '' && stderr.trim() === ''))
  )
    return null;
  return parsePs(stdout);
};

/**
 * The environments of these processes, as far as the system gives them: `-E` prints them behind the arguments. Apple's
 * own programs have none here.
 */
export const psEnvironments = async (
  pids: readonly number[],
): Promise<ReadonlyMap<number, string> | null> => {
  const result = await runCommand('ps', ['-xEww', '-o', 'pid=', '-o', 'args=', '-p', pids.join(',')], {
    timeoutMs: TIMEOUT_MS,
    env: toolEnvironment(),
    mostOutput: MOST_OUTPUT,
  });
  if (result.status !== 'done' || (result.code !== 0 && result.stdout === '')) return null;
  const found = new Map<number, string>();
  for (const line of result.stdout.split('\n')) {
    const match = /^\s*(\d+)\s(.*)$/.exec(line);
    if (match !== null) found.set(Number(match[1]), match[2]!);
  }
  return found;
};
