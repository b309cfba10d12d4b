import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdtemp, open, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { toMember } from '../../agents/files/orchestrator-files.ts';
import { pushTo } from '../../model/forest.ts';
import type { Reading, ReadingMember } from '../../model/heartbeat.ts';
import { asArray, asObject, type JsonObject, parseJson } from '../../model/json.ts';
import { textField } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { type CommandResult, runCommand } from '../run-command.ts';
import { isOurs } from './read-bounded.ts';

interface Told {
  readonly readings: readonly Reading[];
  readonly warnings: readonly string[];
}

/** One database as it was last read. */
interface Known {
  stamp: string;
  /** By task; null: never read. */
  members: ReadonlyMap<string, readonly ReadingMember[]> | null;
  problem: string | null;
  reading: Promise<void> | null;
}

const MOST_DATABASES = 16;

/** An agent whose task is no name of a directory belongs to none. */
const membersByTask = (rows: Awaited<ReturnType<typeof queryAgents>>): Map<string, ReadingMember[]> => {
  const members = new Map<string, ReadingMember[]>();
  for (const row of rows) {
    const task = textField(row, 'task_id');
    if (task !== null) for (const member of toMember(row)) pushTo(members, task, member);
  }
  return members;
};

/**
 * What orchestrators keep in SQLite while their registries stay empty. A database is read only when it or
 * its log changed, in the background; what was last read of it holds until then.
 */
export class OrchestratorDatabases {
  readonly #known = new Map<string, Known>();
  readonly #onChange: () => void;

  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  /** The same readings, with every registry completed from its database. Waits that long for one being read. */
  async complete(told: Told, waitMs: number): Promise<Told> {
    const paths = told.readings.filter(r => r.format === 'orchestrator-database').map(r => r.path);
    if (paths.length === 0) return told;
    const looked = paths.slice(0, MOST_DATABASES);
    for (const path of this.#known.keys()) if (!looked.includes(path)) this.#known.delete(path);
    const readings = Promise.all(looked.map(path => this.#refresh(path)));
    if (waitMs > 0) await Promise.race([readings, wait(waitMs, undefined, { ref: false })]);
    return {
      readings: told.readings.map(reading => this.#completed(reading)),
      warnings: [...told.warnings, ...this.#warnings(looked, paths.length)],
    };
  }

  #warnings(looked: readonly string[], found: number): string[] {
    const problems = looked.flatMap(path => {
      const problem = this.#known.get(path)?.problem ?? null;
      return problem === null ? [] : [`${visible(path)} ${problem}: what its agents do is not known.`];
    });
    const rest = found - looked.length;
    return rest > 0 ? [...problems, `${rest} more databases of orchestrators are not read.`] : problems;
  }

  #completed(reading: Reading): Reading {
    if (reading.format !== 'registry') return reading;
    const task = dirname(reading.path);
    const database = this.#known.get(`${dirname(task)}/registry/state.sqlite3`);
    const stored = database?.members?.get(basename(task));
    if (stored === undefined) return reading;
    const members = new Map([...reading.members, ...stored].map(member => [member.id, member]));
    const all = [...members.values()];
    const finished = all.filter(member => member.terminal).length;
    return {
      ...reading,
      members: all,
      terminal: all.length > 0 && finished === all.length,
      counters: { ...reading.counters, agents: all.length, finished },
    };
  }

  async #refresh(path: string): Promise<void> {
    const known = this.#known.get(path) ?? { stamp: '', members: null, problem: null, reading: null };
    this.#known.set(path, known);
    if (known.reading !== null) return known.reading;
    known.reading = this.#read(path, known).finally(() => {
      known.reading = null;
    });
    return known.reading;
  }

  async #read(path: string, known: Known): Promise<void> {
    const stamp = await stampOfDatabase(path);
    if (stamp === known.stamp) return;
    try {
      known.members = membersByTask(await withCopyOf(path, queryAgents));
      known.problem = null;
    } catch (error) {
      known.problem = error instanceof Unread ? error.message : 'cannot be read';
    }
    known.stamp = stamp;
    this.#onChange();
  }
}

const TIMEOUT_MS = 1000;
const MOST_OUTPUT = 4 * 1024 ** 2;
const MOST_ROWS = 2000;

/** Newest first; every text is cut: the database is untrusted. */
const AGENTS = `SELECT ${[
  'agent_id',
  'task_id',
  'status',
  'tmux_session',
  'started_at',
  'completed_at',
  'last_update',
]
  .map(column => `substr(${column}, 1, 200) AS ${column}`)
  .join(', ')}, progress, claude_pid, cursor_pid FROM agents ORDER BY rowid DESC LIMIT ${MOST_ROWS}`;

/** Runs in a Node of its own: the module only works synchronously, and a hostile schema may take forever. */
const NODE_SCRIPT = `
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
const database = new DatabaseSync(process.argv[1], { readOnly: true });
database.exec('PRAGMA trusted_schema = OFF');
process.stdout.write(JSON.stringify(database.prepare(process.argv[2]).all()));
`;

interface Way {
  readonly available: boolean;
  ask(copy: string): Promise<CommandResult>;
}

const WAYS: readonly Way[] = [
  {
    available: isBuiltin('node:sqlite'),
    ask: copy => {
      const { NODE_OPTIONS: _, ...env } = process.env;
      return runCommand(process.execPath, ['--no-warnings', '-e', NODE_SCRIPT, copy, AGENTS], {
        timeoutMs: TIMEOUT_MS,
        env,
        mostOutput: MOST_OUTPUT,
      });
    },
  },
  {
    available: true,
    // -safe: nothing that a schema says can write a file, run a program or load code.
    ask: copy =>
      runCommand(
        'sqlite3',
        [
          '-safe',
          '-readonly',
          '-json',
          '-batch',
          '-init',
          '/dev/null',
          copy,
          `PRAGMA trusted_schema = OFF; ${AGENTS}`,
        ],
        { timeoutMs: TIMEOUT_MS, mostOutput: MOST_OUTPUT },
      ),
  },
];

const rowsIn = (text: string): readonly JsonObject[] | null => {
  if (text.trim() === '') return [];
  const parsed = parseJson(text);
  return parsed.ok
    ? asArray(parsed.value)
        .map(asObject)
        .filter(row => row !== null)
    : null;
};

/** The agents that an orchestrator's database lists, newest first. Throws `Unread` with the reason. */
const queryAgents = async (copy: string): Promise<readonly JsonObject[]> => {
  let why =
    'needs node:sqlite (Node 22.13 or newer) or the program sqlite3 (3.37 or newer), and neither is here';
  for (const way of WAYS) {
    if (!way.available) continue;
    const answer = await way.ask(copy);
    if (answer.status === 'missing') continue;
    if (answer.status === 'timeout') throw new Unread(`was not read within ${TIMEOUT_MS / 1000} s`);
    if (answer.status !== 'done' || answer.code !== 0) why = 'is damaged, or its tables are not known';
    else {
      const rows = rowsIn(answer.stdout);
      if (rows !== null) return rows;
      why = 'gave an answer that cannot be parsed';
    }
  }
  throw new Unread(why);
};

/** Far more than the state of an orchestrator takes. */
const MOST_BYTES = 32 * 1024 ** 2;
const CHUNK = 256 * 1024;
const ATTEMPTS = 3;

/** Why a database cannot be read now, in words that follow its path. */
class Unread extends Error {}

const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const statOf = (path: string): Promise<Stats | null> => lstat(path).catch(() => null);

const stampOf = (stat: Stats | null): string =>
  stat === null ? '-' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;

/** What the database and its log look like now: as long as it is the same, nothing was written. */
const stampOfDatabase = async (path: string): Promise<string> => {
  const stats = await Promise.all([path, `${path}-wal`, `${path}-journal`].map(statOf));
  return stats.map(stampOf).join(' ');
};

const copyFrom = async (from: FileHandle, to: string): Promise<void> => {
  const target = await open(to, 'wx', 0o600);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let at = 0; at < MOST_BYTES; ) {
      const { bytesRead } = await from.read(buffer, 0, CHUNK, at);
      if (bytesRead === 0) return;
      await target.write(buffer, 0, bytesRead);
      at += bytesRead;
    }
    throw new Unread(`is larger than ${MOST_BYTES / 1024 ** 2} MiB`);
  } finally {
    await target.close();
  }
};

/** Copies one file of it; one that is not there is none. */
const copyFile = async (path: string, to: string): Promise<void> => {
  let handle: FileHandle;
  try {
    handle = await open(path, OPEN);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new Unread('cannot be opened');
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Unread('is not a regular file');
    if (!isOurs(stat)) throw new Unread('belongs to another user');
    await copyFrom(handle, to);
  } finally {
    await handle.close();
  }
};

/**
 * Copies a database with its write-ahead log to a directory of our own, and gives the copy to `use`. SQLite
 * itself makes files beside a database that it opens only to read; this way nothing is made, locked or
 * even looked at there, and whoever writes to it never notices. A write in the middle is seen in the
 * times of the files, and the copy is made again.
 */
const withCopyOf = async <T>(path: string, use: (copy: string) => Promise<T>): Promise<T> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const directory = await mkdtemp(join(tmpdir(), 'reaptop-database-'));
    try {
      const before = await stampOfDatabase(path);
      if (!before.endsWith(' -')) throw new Unread('is being written to');
      const copy = join(directory, 'state.sqlite3');
      await copyFile(path, copy);
      await copyFile(`${path}-wal`, `${copy}-wal`);
      if ((await stampOfDatabase(path)) === before) return await use(copy);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  throw new Unread('is written to all the time');
};
