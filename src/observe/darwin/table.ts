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
  readonly row: PsRow;
  readonly facts: ProcessFacts;
  readonly at: number;
}

/** Rows become facts once, and stay the same objects while nothing changes: what hangs on them may then be kept. */
export class DarwinTable {
  #known = new Map<IdentityKey, Known>();

  /** `clock`: now, in epoch seconds. */
  read(rows: readonly PsRow[], clock: number): ProcessFacts[] {
    const known = new Map<IdentityKey, Known>();
    for (const row of rows) {
      if (row.pid === 0 || (row.ppid === process.pid && TOOLS.has(row.name))) continue;
      const key = keyOf(row);
      const before = this.#known.get(key);
      const facts = before === undefined ? created(row, clock) : updated(before, row, clock);
      known.set(key, { row, facts, at: clock });
    }
    this.#known = known;
    return [...known.values()].map(({ facts }) => facts);
  }

  rowOf(key: IdentityKey): PsRow | undefined {
    return this.#known.get(key)?.row;
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
  const now = { ...row, cpu };
  const was = { ...before, cpu: facts.cpu };
  if ((Object.keys(now) as (keyof typeof now)[]).every(name => now[name] === was[name])) return facts;
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
