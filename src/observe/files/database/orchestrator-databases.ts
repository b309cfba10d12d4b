import { basename, dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { toMember } from '../../../agents/files/agent-registry.ts';
import { gather } from '../../../model/gather.ts';
import type { Reading, ReadingMember } from '../../../model/heartbeat.ts';
import { textField } from '../../../model/json-fields.ts';
import { visible } from '../../../model/text.ts';
import { stampOfDatabase, Unread, withCopyOf } from './copy.ts';
import { queryAgents } from './query.ts';

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
    if (task !== null) for (const member of toMember(row)) gather(members, task, member);
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
