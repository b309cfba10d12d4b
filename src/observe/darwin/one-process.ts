import type { Identity } from '../../model/identity.ts';
import { readState } from '../../model/process.ts';
import type { Presence } from '../system.ts';
import { bootIdNow } from './host.ts';
import { type PsRow, psNow, TIMEOUT_MS, toolEnvironment } from './ps.ts';

/** Single processes, asked by number, for hooks and locks; the same questions as `procfs/one-process.ts` answers. */

/** One `ps` takes a tenth of a second: a hook asks many questions, and one table answers all of them. */
const KEPT_MS = 200;
let kept: { readonly at: number; readonly rows: ReadonlyMap<number, PsRow> } | null = null;

export const table = (): ReadonlyMap<number, PsRow> | null => {
  if (kept !== null && performance.now() - kept.at < KEPT_MS) return kept.rows;
  const rows = psNow();
  if (rows === null) return null;
  kept = { at: performance.now(), rows: new Map(rows.map(row => [row.pid, row])) };
  return kept.rows;
};

/** What has started since the table was read is asked for by itself. */
const rowAt = (pid: number): PsRow | null =>
  table()?.get(pid) ?? psNow([pid])?.find(row => row.pid === pid) ?? null;

export const statAt = (pid: number) => {
  const row = rowAt(pid);
  return row === null ? null : { start: row.start, ppid: row.ppid, comm: row.name };
};

export const identityAt = (pid: number): Identity | null => {
  const row = rowAt(pid);
  return row === null ? null : { pid, start: row.start };
};

/** Never from the table: a signal hangs on it. */
export const presenceAt = (pid: number): Presence => {
  const rows = psNow([pid]);
  if (rows === null) return { status: 'unreadable', why: 'ps failed' };
  const row = rows.find(each => each.pid === pid);
  if (row === undefined) return { status: 'gone' };
  const { start, stat, ppid, pgid, rss, realUid, uid } = row;
  const state = readState(stat);
  return {
    status: 'present',
    identity: { pid, start },
    state,
    ppid,
    pgid,
    sid: null,
    rss,
    uids: [realUid, uid],
  };
};

/** Null where that is unknown: ps failed. */
export const isRunning = (identity: Identity): boolean | null => {
  const rows = table();
  if (rows === null) return null;
  const row = rows.get(identity.pid) ?? rowAt(identity.pid);
  return row !== null && row.start === identity.start && readState(row.stat) !== 'Z';
};

export const memoryAt = (pid: number): number | null => rowAt(pid)?.rss ?? null;

export const bootId = bootIdNow;

/** There are no pid namespaces. */
export const pidNamespace = (): string | null => null;

/** This backend's clock is the wall clock. */
export const uptime = (): number | null => Date.now() / 1000;

export const ageSeconds = ({ start }: Identity): number | null =>
  Math.max(0, Date.now() / 1000 - Number(start));

const kinOf = ({ pid, start, ppid, stat }: PsRow) => ({ pid, start, ppid, state: readState(stat) });

export const kinAt = (pid: number) => {
  const row = rowAt(pid);
  return row === null ? null : kinOf(row);
};

export const childrenAt = (pid: number): readonly number[] =>
  [...(table()?.values() ?? [])].filter(row => row.ppid === pid).map(row => row.pid);

export const allKin = () => new Map([...(table() ?? [])].map(([pid, row]) => [pid, kinOf(row)]));

/** macOS ends processes itself when memory runs out, and does not count them. */
export const readOomKills = (): number | null => null;

/** What carries this word in its environment, where the system shows that. */
export const carriersOf = (variable: string, word: string): readonly Identity[] => {
  const { stdout, error } = process
    .getBuiltinModule('node:child_process')
    .spawnSync('ps', ['-xEww', '-o', 'pid=', '-o', 'args='], {
      env: toolEnvironment(),
      timeout: TIMEOUT_MS,
      maxBuffer: 64 * 1024 ** 2,
      encoding: 'utf8',
    });
  if (error !== undefined) return [];
  const pids = stdout
    .split('\n')
    .filter(line => line.includes(` ${variable}=`) && line.includes(word))
    .map(line => Number.parseInt(line, 10));
  return pids.filter(pid => pid !== process.pid).flatMap(pid => identityAt(pid) ?? []);
};
