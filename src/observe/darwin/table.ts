import { basename } from 'node:path';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { isZombie, type ProcessFacts, readState } from '../../model/process.ts';
import { safeArgv } from '../../model/redact.ts';
import { splitWords } from '../../model/shell.ts';
import { visible } from '../../model/text.ts';
import type { PsRow } from './ps.ts';

/** What we start for a look ourselves. */
const TOOLS: ReadonlySet<string> = new Set(['ps', 'lsof', 'launchctl', 'sysctl', 'top']);
/** A name of this length may have been cut. */
const LONGEST_NAME = 16;
const LONGEST_ARGS = 131_072;

/**
 * Where the program's path ends in a command line that does not say: it may hold spaces (`/Applications/Visual Studio
 * Code.app/…`), and the kernel's name of the process is its last part.
 */
const programEnd = (args: string, name: string): number => {
  const first = args.indexOf(' ') < 0 ? args.length : args.indexOf(' ');
  if (!args.startsWith('/') || name === '' || basename(args.slice(0, first)).startsWith(name)) return first;
  const at = args.indexOf(`/${name}`);
  if (at < 0) return first;
  const end = at + 1 + name.length;
  if (name.length < LONGEST_NAME) return end === args.length || args[end] === ' ' ? end : first;
  const flags = args.indexOf(' -', end);
  return flags < 0 ? args.length : flags;
};

export const wordsOf = (name: string, args: string): readonly string[] => {
  const line = args.slice(0, LONGEST_ARGS);
  const end = programEnd(line, name);
  return [line.slice(0, end), ...splitWords(line.slice(end))];
};

interface Known {
  row: PsRow;
  facts: ProcessFacts;
  /** When it was last seen. */
  at: number;
  sample: number;
}

/** Rows become facts once, and stay the same objects while nothing changes: what hangs on them may then be kept. */
export class DarwinTable {
  /** By pid: two thousand identity keys a sample would cost more than all that is compared. */
  readonly #known = new Map<number, Known>();
  #sample = 0;

  /** `clock`: now, in epoch seconds. */
  read(rows: readonly PsRow[], clock: number): ProcessFacts[] {
    const present: ProcessFacts[] = [];
    this.#sample += 1;
    const sample = this.#sample;
    for (const row of rows) {
      if (row.pid === 0 || (row.ppid === process.pid && TOOLS.has(row.name))) continue;
      let known = this.#known.get(row.pid);
      if (known === undefined || known.row.start !== row.start) {
        known = { row, facts: created(row, clock), at: clock, sample };
        this.#known.set(row.pid, known);
      } else {
        known.facts = updated(known, row, clock);
        known.row = row;
        known.at = clock;
        known.sample = sample;
      }
      present.push(known.facts);
    }
    if (this.#known.size > present.length)
      for (const [pid, known] of this.#known) if (known.sample !== sample) this.#known.delete(pid);
    return present;
  }

  rowOf(key: IdentityKey): PsRow | undefined {
    const row = this.#known.get(Number.parseInt(key, 10))?.row;
    return row !== undefined && keyOf(row) === key ? row : undefined;
  }

  rows(): readonly PsRow[] {
    return [...this.#known.values()].map(({ row }) => row);
  }
}

const created = (row: PsRow, clock: number): ProcessFacts => {
  const state = readState(row.stat);
  const zombie = state === 'Z' || row.args === '<defunct>';
  const argv = zombie || row.args === '' ? null : wordsOf(row.name, row.args);
  const born = Number(row.start);
  return {
    pid: row.pid,
    start: row.start,
    ppid: row.ppid,
    pgid: row.pgid,
    sid: sessionOf(row),
    uid: row.uid,
    tty: row.tty,
    state: zombie ? 'Z' : state,
    kernelThread: false,
    unreadable: false,
    born: Math.min(born, clock),
    cpuSeconds: row.cpuSeconds,
    cpu: null,
    rss: row.rss,
    comm: visible(row.name),
    argv: argv === null ? null : safeArgv(argv),
    exe: argv?.[0]?.startsWith('/') === true ? visible(argv[0]) : null,
    env: null,
    details: null,
  };
};

/** The sessions of others are not told; its leader has an `s` in its state. */
const sessionOf = ({ pid, stat }: PsRow): number | null => (stat.includes('s') ? pid : null);

const updated = ({ row: before, facts, at }: Known, row: PsRow, clock: number): ProcessFacts => {
  const cpu =
    row.cpuSeconds === null || before.cpuSeconds === null || clock <= at
      ? null
      : Math.max(0, (100 * (row.cpuSeconds - before.cpuSeconds)) / (clock - at));
  if (row === before || isSameRow(row, before)) return cpu === facts.cpu ? facts : { ...facts, cpu };
  if (row.args !== before.args || row.name !== before.name || isZombie({ state: readState(row.stat) }))
    return { ...created(row, clock), cpu };
  const { ppid, pgid, uid, tty, rss, cpuSeconds } = row;
  return {
    ...facts,
    ppid,
    pgid,
    uid,
    tty,
    rss,
    cpuSeconds,
    cpu,
    sid: sessionOf(row),
    state: readState(row.stat),
  };
};

const isSameRow = (row: PsRow, before: PsRow): boolean =>
  (Object.keys(row) as (keyof PsRow)[]).every(name => row[name] === before[name]);
