import { statSync } from 'node:fs';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import {
  LAUNCHD_JOB,
  type Listening,
  type ProcessDetails,
  type Stdin,
  UNKNOWN_DETAILS,
  type Use,
} from '../../model/process.ts';
import { safePath } from '../../model/redact.ts';
import type { DetailOptions, DetailRequest } from '../system.ts';
import { launchdJobs } from './launchd.ts';
import { type OpenFile, openFiles, socketsOf } from './lsof.ts';
import type { PsRow } from './ps.ts';
import type { DarwinTable } from './table.ts';

/** A call of lsof takes up to a third of a second, whatever it is asked. */
const KEPT_MS = 10_000;

interface Kept<T> {
  readonly at: number;
  readonly value: T;
}

/** Whom the facts are asked of: this Mac, or what one wrote down. */
export interface DetailTools {
  readonly uid: number;
  readonly openFiles: typeof openFiles;
  readonly socketsOf: typeof socketsOf;
  readonly launchdJobs: typeof launchdJobs;
}

export const DETAIL_TOOLS: DetailTools = { uid: process.getuid?.() ?? 0, openFiles, socketsOf, launchdJobs };

/** Facts that cost a child process, read for related processes only. What lsof or launchctl does not answer is unknown. */
export class DarwinDetails {
  readonly #table: DarwinTable;
  readonly #ask: DetailTools;
  #files = new Map<IdentityKey, Kept<readonly OpenFile[] | null>>();
  #sockets: Kept<readonly OpenFile[] | null> = { at: Number.NEGATIVE_INFINITY, value: null };
  #jobs: Kept<ReadonlyMap<number, string> | null> = { at: Number.NEGATIVE_INFINITY, value: null };

  constructor(table: DarwinTable, ask: DetailTools) {
    this.#table = table;
    this.#ask = ask;
  }

  async read(
    requests: readonly DetailRequest[],
    { fresh = false }: DetailOptions = {},
  ): Promise<ReadonlyMap<IdentityKey, ProcessDetails>> {
    const { uid } = this.#ask;
    const rows = requests.flatMap(request => {
      const row = this.#table.rowOf(keyOf(request));
      return row === undefined ? [] : [{ request, row }];
    });
    const now = Date.now();
    const isOld = (at: number | undefined): boolean => fresh || at === undefined || now - at >= KEPT_MS;
    const own = rows.filter(({ row }) => row.uid === uid).map(({ row }) => row);
    // A job that has started since is not on the list.
    const isLate = rows.some(({ row }) => Number(row.start) * 1000 >= this.#jobs.at - 1000);
    const jobs = rows.length > 0 && (isLate || isOld(this.#jobs.at)) ? this.#ask.launchdJobs() : null;
    await this.#readFiles(
      own.filter(row => isOld(this.#files.get(keyOf(row))?.at)),
      now,
    );
    if (jobs !== null) this.#jobs = { at: now, value: await jobs };
    const wanted = rows.some(
      ({ request, row }) =>
        (request.sockets || request.uses === true) && (this.#filesOf(row) ?? []).some(isSocket),
    );
    if (wanted && isOld(this.#sockets.at)) this.#sockets = { at: now, value: await this.#ask.socketsOf(uid) };
    const surrounding = surroundingOf(this.#table.rows(), wanted ? this.#sockets.value : []);
    const found = new Map<IdentityKey, ProcessDetails>();
    for (const { request, row } of rows)
      found.set(keyOf(row), {
        ...UNKNOWN_DETAILS,
        realUid: row.realUid,
        cgroup: jobOf(row, this.#jobs.value),
        ...detailsFrom(this.#filesOf(row), row, request, surrounding),
      });
    return found;
  }

  #filesOf(row: PsRow): readonly OpenFile[] | null {
    return this.#files.get(keyOf(row))?.value ?? null;
  }

  async #readFiles(rows: readonly PsRow[], now: number): Promise<void> {
    for (const key of this.#files.keys()) if (this.#table.rowOf(key) === undefined) this.#files.delete(key);
    if (rows.length === 0) return;
    const files = await this.#ask.openFiles(rows.map(({ pid }) => pid));
    const byPid = new Map<number, OpenFile[]>();
    for (const file of files ?? []) {
      const those = byPid.get(file.pid);
      if (those === undefined) byPid.set(file.pid, [file]);
      else those.push(file);
    }
    // Every process has a directory: one without any file was not read.
    for (const row of rows) this.#files.set(keyOf(row), { at: now, value: byPid.get(row.pid) ?? null });
  }
}

const jobOf = ({ pid }: PsRow, jobs: ReadonlyMap<number, string> | null): string | null => {
  if (jobs === null) return null;
  const label = jobs.get(pid);
  return label === undefined ? '' : `${LAUNCHD_JOB}${label}`;
};

const isSocket = ({ type }: OpenFile): boolean => type === 'unix' || type.startsWith('IPv');

/** Who else there is, and who is at the other end. */
interface Surrounding {
  /** Null: the sockets of this user could not be read. */
  readonly byDevice: ReadonlyMap<string, readonly number[]> | null;
  readonly byConnection: ReadonlyMap<string, readonly number[]>;
  readonly isInside: (pid: number, row: PsRow, top: number) => boolean;
  readonly onTerminal: (tty: string) => readonly number[];
}

const grouped = (files: readonly OpenFile[], nameOf: (file: OpenFile) => string) => {
  const groups = new Map<string, number[]>();
  for (const file of files) {
    const name = nameOf(file);
    const pids = groups.get(name);
    if (pids === undefined) groups.set(name, [file.pid]);
    else pids.push(file.pid);
  }
  return groups;
};

const surroundingOf = (rows: readonly PsRow[], sockets: readonly OpenFile[] | null): Surrounding => {
  const parents = new Map(rows.map(({ pid, ppid }) => [pid, ppid]));
  const isAbove = (above: number, pid: number): boolean => {
    for (let at = pid, steps = 0; at > 1 && steps < parents.size; at = parents.get(at) ?? 0, steps += 1)
      if (at === above) return true;
    return false;
  };
  return {
    byDevice: sockets === null ? null : grouped(sockets, ({ device }) => device),
    byConnection: grouped(sockets ?? [], ({ name }) => name),
    isInside: (pid, row, top) => isAbove(top, pid) || isAbove(pid, row.pid),
    onTerminal: tty => rows.filter(row => row.tty === tty).map(({ pid }) => pid),
  };
};

const detailsFrom = (
  files: readonly OpenFile[] | null,
  row: PsRow,
  request: DetailRequest,
  surrounding: Surrounding,
): Partial<ProcessDetails> => {
  if (files === null) return {};
  const top = request.tree ?? row.pid;
  const streams = files.filter(({ fd }) => fd === '0' || fd === '1' || fd === '2');
  const cwd = files.find(({ fd }) => fd === 'cwd')?.name;
  const holds = files.flatMap(({ type, name }) =>
    type === 'REG' && request.holds?.test(name) === true ? [name] : [],
  );
  return {
    cwd: cwd?.startsWith('/') === true ? safePath(cwd) : null,
    stdin: stdinOf(streams.find(({ fd }) => fd === '0')),
    lostTerminal: request.descriptors ? streams.some(({ name }) => name.includes('(revoked)')) : null,
    listening: request.sockets ? listeningOf(files, row, top, surrounding) : null,
    uses: request.uses === true ? usesOf(files, row, top, surrounding) : null,
    ...(holds.length === 0 ? {} : { holds }),
    ...outputOf(streams.find(({ fd }) => fd === '1')),
  };
};

/**
 * An end that nobody holds looks, to all that is known, like `->(none)` or a pipe without a peer. No Mac has confirmed
 * it, so it is unknown here and proves nothing.
 */
const stdinOf = (file: OpenFile | undefined): Stdin => {
  if (file === undefined) return 'unknown';
  if (file.type === 'REG') return 'file';
  if (file.type === 'CHR') return /^\/dev\/tty/.test(file.name) ? 'tty' : 'file';
  const hasPeer = /^->0x/i.test(file.name);
  if (file.type === 'PIPE' && hasPeer) return 'pipe';
  return file.type === 'unix' && hasPeer ? 'socket' : 'unknown';
};

const outputOf = (file: OpenFile | undefined): Pick<ProcessDetails, 'output' | 'outputAt'> => {
  if (file?.type !== 'REG') return {};
  try {
    return { output: file.name, outputAt: statSync(file.name).mtimeMs };
  } catch {
    return { output: file.name }; // removed, or not for us
  }
};

const portOf = (address: string): number => Number(/:(\d+)$/.exec(address)?.[1] ?? Number.NaN);

const listeningOf = (
  files: readonly OpenFile[],
  row: PsRow,
  top: number,
  { byConnection, isInside }: Surrounding,
): Listening => {
  const listeners = files.filter(({ tcp }) => tcp === 'LISTEN').map(({ name }) => portOf(name));
  const ports = [...new Set(listeners)].filter(Number.isInteger).sort((a, b) => a - b);
  const clients = files.filter(({ tcp, name }) => {
    const [here = '', there] = name.split('->');
    if (tcp === 'LISTEN' || there === undefined || !ports.includes(portOf(here))) return false;
    const holders = byConnection.get(`${there}->${here}`) ?? [];
    return holders.length === 0 || holders.some(pid => !isInside(pid, row, top));
  });
  return { ports, clients: clients.length };
};

/** Null as soon as one other end cannot be told. */
const usesOf = (
  files: readonly OpenFile[],
  row: PsRow,
  top: number,
  { byDevice, isInside, onTerminal }: Surrounding,
): readonly Use[] | null => {
  const uses: Use[] = [];
  const paths = new Set<string>();
  for (const { fd, type, name } of files) {
    if (type === 'unix') {
      if (name.startsWith('/')) {
        // A second socket of the same name is a client's.
        uses.push({ how: paths.has(name) ? 'unix-client' : 'unix-listener', what: safePath(name) });
        paths.add(name);
        continue;
      }
      if (name === '->(none)') continue;
      const holders = /^->0x/i.test(name) ? byDevice?.get(name.slice(2)) : undefined;
      if (holders === undefined) return null;
      if (holders.some(pid => !isInside(pid, row, top))) uses.push({ how: 'socket-pair', what: '' });
    } else if (type === 'CHR') {
      if (name === '/dev/ptmx') uses.push({ how: 'terminal', what: name });
      const tty = /^[012]$/.test(fd) ? /^\/dev\/(ttys\d+)$/.exec(name)?.[1] : undefined;
      if (tty !== undefined && onTerminal(tty).some(pid => !isInside(pid, row, top)))
        uses.push({ how: 'on-terminal', what: tty });
    }
  }
  if (/\.app\/Contents\//.test(row.args.split(' -')[0] ?? '')) uses.push({ how: 'window', what: '' });
  return uses;
};
