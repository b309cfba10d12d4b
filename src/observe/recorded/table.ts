import { basename } from 'node:path';
import type { HostFacts, Look, TmuxServer } from '../../model/observation.ts';
import type { ProcessFacts } from '../../model/process.ts';
import { factsOf } from './facts.ts';
import { MAX_PID, type Row } from './row.ts';
import { parseFullStart } from './times.ts';

/** A process table that somebody recorded, ready to be judged. */
export interface RecordedTable {
  readonly look: Look;
  /** Panes our own JSON told of; none for a ps listing, where they are unknown. */
  readonly tmux: readonly TmuxServer[];
}

export type Reading =
  | { readonly ok: true; readonly table: RecordedTable }
  | { readonly ok: false; readonly message: string };

/** What a source knows beyond its rows. */
export interface Surroundings {
  /** When the table was taken, in ms; null: only the rows can tell. */
  readonly takenAt: number | null;
  readonly host: Partial<HostFacts>;
  readonly tmux: readonly TmuxServer[];
  readonly warnings: readonly string[];
}

const INITS = new Set(['systemd', 'init', 'launchd']);

/** As on a running machine: PID 1 is listed and is none of systemd, init, launchd or WSL's /init. */
export const looksContained = (processes: readonly ProcessFacts[]): boolean => {
  const first = processes.find(p => p.pid === 1);
  if (first === undefined) return false;
  // WSL calls its own `init(Ubuntu)`.
  const names = [basename(first.argv?.[0] ?? first.comm), first.comm.replace(/\(.*\)$/, '')];
  return !names.some(name => INITS.has(name));
};

const MAC_PATH = /^\/(?:Applications|System\/Library|Users|private\/var)\//;
const LINUX_PATH = /^\/(?:home|proc|snap|usr\/lib\/systemd)\//;

const guessPlatform = (processes: readonly ProcessFacts[], rows: readonly Row[]): string => {
  if (processes.some(p => p.argv?.[0] === '/init' || /^(?:Relay\(|SessionLeader)/.test(p.comm))) return 'wsl';
  if (rows.some(row => row.tty === '??') || processes.some(p => /^ttys\d/.test(p.tty ?? ''))) return 'darwin';
  const programs = processes.map(p => p.argv?.[0] ?? '');
  if (programs.some(program => MAC_PATH.test(program))) return 'darwin';
  if (
    processes.some(p => p.kernelThread || /^pts\//.test(p.tty ?? '') || p.comm === 'systemd') ||
    programs.some(program => LINUX_PATH.test(program))
  )
    return 'linux';
  return 'unknown';
};

/** The moment of a listing: a row with both start and age gives it; so does the `ps` that made it. */
const momentOf = (rows: readonly Row[]): number | null => {
  for (const row of rows) {
    if (row.startText === null) continue;
    const isPs = /^(?:\S*\/)?ps(?:\s|$)/.test(row.command ?? row.comm ?? '');
    if (row.ageSeconds === null && !isPs) continue;
    const started = parseFullStart(row.startText);
    if (started !== null) return started + (row.ageSeconds ?? 0);
  }
  return null;
};

/** Rows without a pid get one that no kernel would give; a pid seen twice keeps its first row. */
const numbered = (rows: readonly Row[]): { rows: (Row & { pid: number })[]; doubles: number } => {
  const seen = new Set<number>();
  const kept: (Row & { pid: number })[] = [];
  let invented = MAX_PID;
  let doubles = 0;
  for (const row of rows) {
    if (row.pid === null) {
      do invented += 1;
      while (seen.has(invented));
    }
    const pid = row.pid ?? invented;
    if (seen.has(pid)) doubles += 1;
    else kept.push(Object.assign(row, { pid }));
    seen.add(pid);
  }
  return { rows: kept, doubles };
};

export const tableOf = (rows: readonly Row[], around: Surroundings, now: number): RecordedTable => {
  const { rows: kept, doubles } = numbered(rows);
  const clock = around.takenAt === null ? (momentOf(kept) ?? now / 1000) : around.takenAt / 1000;
  const second = kept.find(row => row.pid === 2);
  const kthreadd = /^\[?kthreadd\]?$/.test(second?.comm ?? second?.command ?? '');
  const processes = kept.map(row => factsOf(row, { clock, kthreadd }));
  return {
    tmux: around.tmux,
    look: {
      takenAt: Math.round(clock * 1000),
      clock,
      host: {
        name: 'recorded',
        platform: guessPlatform(processes, kept),
        bootId: null,
        memTotal: null,
        memAvailable: null,
        swapUsed: null,
        container: looksContained(processes),
        ...around.host,
        backend: 'recorded',
      },
      self: null,
      processes,
      complete: false,
      warnings: [
        ...around.warnings,
        ...(doubles === 0
          ? []
          : [`${doubles} row${doubles === 1 ? '' : 's'} repeated a PID: the first one of each was kept.`]),
      ],
    },
  };
};
