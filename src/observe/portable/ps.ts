import { execFile } from 'node:child_process';
import { parseDate } from '../../model/time.ts';

/** What one `ps` says about one process: valid keywords on macOS and Linux only. */
export interface PsRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number | null;
  readonly tty: string;
  readonly stat: string;
  /** The effective user. */
  readonly uid: number;
  readonly realUid: number;
  readonly rss: number;
  /** Epoch seconds, as text: the identity's second half on this backend. */
  readonly start: string;
}

export type PsAnswer =
  | { readonly ok: true; readonly rows: readonly PsRow[] }
  | { readonly ok: false; readonly why: string };

const KEYWORDS = ['pid', 'ppid', 'pgid', 'sess', 'tty', 'stat', 'uid', 'ruid', 'rss', 'lstart'];
/** One -o per keyword: an empty title must not swallow the keywords after it. */
const FORMAT = KEYWORDS.flatMap(keyword => ['-o', `${keyword}=`]);

const ROW =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(-?\d+)\s+(-?\d+)\s+(\d+)\s+(\S{3} \S{3} +\d+ \d\d:\d\d:\d\d \d{4})\s*$/;

/** Far beyond a slow machine; a ps that hangs longer (on a dead network file system) never ends. */
const TIMEOUT_MS = 10_000;
const MOST_OUTPUT = 64 * 1024 ** 2;

/** macOS prints a kernel pointer for the session, or 0. */
const sessionOf = (cell: string): number | null =>
  /^[1-9]\d{0,6}$/.test(cell) && process.platform !== 'darwin' ? Number(cell) : null;

export const parsePs = (text: string): PsRow[] => {
  const rows: PsRow[] = [];
  for (const line of text.split('\n')) {
    const m = ROW.exec(line);
    // The dates are printed in UTC: no hour exists twice there.
    const started = m === null ? null : parseDate(`${m[10]} UTC`);
    if (m === null || started === null) continue;
    rows.push({
      pid: Number(m[1]),
      ppid: Number(m[2]),
      pgid: Number(m[3]),
      sid: sessionOf(m[4]!),
      tty: m[5]!,
      stat: m[6]!,
      uid: Number(m[7]),
      realUid: Number(m[8]),
      rss: Number(m[9]) * 1024,
      start: String(started / 1000),
    });
  }
  return rows;
};

const complaint = (error: NodeJS.ErrnoException & { killed?: boolean }, stderr: string): string => {
  if (error.code === 'ENOENT')
    return 'ps was not found: it is needed to look at processes on this platform; install it or correct PATH.';
  if (error.killed === true) return `ps did not answer within ${TIMEOUT_MS / 1000} s.`;
  const said = stderr.trim().split('\n')[0] ?? '';
  return `ps failed: ${said === '' ? (error.code ?? error.message) : said}.`;
};

const run = (args: readonly string[]): Promise<PsAnswer> =>
  new Promise(resolve => {
    const env = { ...process.env, LC_ALL: 'C', LANG: 'C', TZ: 'UTC' };
    const options = { env, timeout: TIMEOUT_MS, maxBuffer: MOST_OUTPUT, encoding: 'utf8' as const };
    try {
      execFile('ps', args, options, (error, stdout, stderr) => {
        // Exit code 1 and not a word: no such process. That is an answer.
        if (
          error !== null &&
          !((error.code as unknown) === 1 && stdout.trim() === '' && stderr.trim() === '')
        )
          resolve({ ok: false, why: complaint(error as NodeJS.ErrnoException, stderr) });
        else resolve({ ok: true, rows: parsePs(stdout) });
      });
    } catch (error) {
      // Out of descriptors: execFile throws instead of calling back.
      resolve({ ok: false, why: complaint(error as NodeJS.ErrnoException, '') });
    }
  });

/** All processes, in one call. */
export const psAll = (): Promise<PsAnswer> => run(['-axww', ...FORMAT]);

/** One process; no row when it is gone. */
export const psOne = (pid: number): Promise<PsAnswer> => run([...FORMAT, '-p', String(pid)]);

/** The words of one process, from ps-list. */
export interface PsCommand {
  readonly name: string;
  readonly command: string;
  readonly exe: string | null;
  readonly startedAt: number | null;
}

/** Names and command lines by pid. Loaded on need: ps-list is an ES module that nothing else wants. */
export const listCommands = async (): Promise<ReadonlyMap<number, PsCommand>> => {
  const { default: psList } = await import('ps-list');
  const listed = await psList();
  return new Map(
    listed.map(p => [
      p.pid,
      {
        name: p.name,
        command: p.cmd ?? '',
        exe: p.path === undefined || p.path === '' ? null : p.path,
        startedAt: p.startTime === undefined ? null : p.startTime.getTime() / 1000,
      },
    ]),
  );
};

/**
 * Do two calls of ps speak of the same process? ps-list reads local time, so whole hours may lie between
 * them when clocks change; seconds may, where ps derives the start from the uptime.
 */
export const sameBirth = (command: PsCommand, start: string): boolean => {
  if (command.startedAt === null) return true;
  const apart = Math.abs(command.startedAt - Number(start));
  return apart <= 2 || Math.abs(apart - 3600) <= 2;
};

/** Live figures of one process. */
export interface Usage {
  readonly rss: number;
  readonly cpuSeconds: number;
  readonly elapsedSeconds: number;
}

/** pids go to ps as one argument: this many stay far below the shortest limit of an argument list. */
const BATCH = 400;

/**
 * RSS, CPU time and age by pidusage. Always through its `ps` reader: its /proc reader keeps descriptors by
 * bare pid and answers with a dead process's after a pid was reused; its CPU percentages do the same.
 */
export const readUsage = async (pids: readonly number[]): Promise<ReadonlyMap<number, Usage>> => {
  const found = new Map<number, Usage>();
  if (pids.length === 0) return found;
  const { default: pidusage } = await import('pidusage');
  for (let from = 0; from < pids.length; from += BATCH) {
    try {
      const stats = await pidusage(pids.slice(from, from + BATCH), { usePs: true });
      for (const [pid, stat] of Object.entries(stats)) {
        if (stat === undefined || stat === null) continue;
        const { memory, ctime, elapsed } = stat;
        found.set(Number(pid), { rss: memory, cpuSeconds: ctime / 1000, elapsedSeconds: elapsed / 1000 });
      }
    } catch {
      // All of the batch ended meanwhile, or ps failed just now: figures stay unknown until the next look.
    }
  }
  // Its history is keyed by bare pid and would mix up processes.
  pidusage.clear();
  return found;
};
