import { lstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Identity, keyOf } from '../model/identity.ts';
import { isZombie } from '../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { plural } from '../model/units.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';

/** What is below a leaked agent is leaked with it; that many at once may be a mistake of ours all the same. */
const MOST_AT_ONCE = 10;

/** An owner as a process names it: environ knows no start time. */
export interface NamedOwner {
  readonly pid: number;
  readonly start: string | null;
}

const ownerKey = ({ pid, start }: NamedOwner): string => `${pid}:${start ?? ''}`;

interface Turned {
  /** Processes that were live at one sample and leaked at the next, with the owner they name. */
  readonly leaked: readonly { readonly p: JudgedProcess; readonly owner: NamedOwner }[];
  /** Agents of the earlier sample, when the later one recognises none at all. */
  readonly lost: readonly Identity[];
}

const turnedBetween = (before: Snapshot, now: Snapshot): Turned => {
  const earlier = new Map(before.processes.map(p => [keyOf(p.facts), p]));
  const leaked = now.processes.flatMap(p => {
    const was = p.verdict === 'leak' ? earlier.get(keyOf(p.facts)) : undefined;
    const owner = was?.verdict === 'live' || was?.protection === 'soft' ? (namedBy(was) ?? namedBy(p)) : null;
    return owner === null ? [] : [{ p, owner }];
  });
  const agents = before.processes.filter(p => p.isSession).map(identityOf);
  return { leaked, lost: now.processes.some(p => p.isSession) ? [] : agents };
};

const namedBy = ({ owner }: JudgedProcess): NamedOwner | null =>
  owner === null || owner.pid === null ? null : { pid: owner.pid, start: owner.start };

/** Whose presence `whyHold` needs to know. */
export const ownersInDoubt = (before: Snapshot, now: Snapshot): readonly NamedOwner[] => {
  const { leaked, lost } = turnedBetween(before, now);
  const all = [...leaked.map(({ owner }) => owner), ...lost];
  return [...new Map(all.map(owner => [ownerKey(owner), owner])).values()];
};

/** Agents that are still recognised and are leaked themselves: what is below them follows them. */
const leakedAgents = ({ processes }: Snapshot): ReadonlySet<number> =>
  new Set(processes.filter(p => p.kind === 'agent' && p.verdict === 'leak').map(p => p.facts.pid));

/**
 * Why guard must wait for a person; null when it need not. After an update an agent may look different to us: then
 * everything below it seems leaked, while it runs. A crash does not look like that: the agent is gone.
 */
export const whyHold = (before: Snapshot, now: Snapshot, running: ReadonlySet<string>): string | null => {
  const { leaked, lost } = turnedBetween(before, now);
  const doubtful = leaked.filter(({ owner }) => running.has(ownerKey(owner)));
  const followers = leakedAgents(now);
  const unexplained = doubtful.filter(({ owner }) => !followers.has(owner.pid));
  const count = doubtful.length >= MOST_AT_ONCE ? doubtful.length : unexplained.length;
  if (count > 0)
    return `${plural(count, 'process', 'processes')} turned from live to leaked while ${count === 1 ? 'its owner' : 'their owners'} still run${count === 1 ? 's' : ''}: reaptop may no longer recognise ${count === 1 ? 'that agent' : 'these agents'}`;
  const unrecognised = lost.filter(agent => running.has(ownerKey(agent)));
  return unrecognised.length === 0
    ? null
    : `no agent is recognised any more, while ${plural(unrecognised.length, 'process', 'processes')} that ${unrecognised.length === 1 ? 'was one' : 'were agents'} still run${unrecognised.length === 1 ? 's' : ''} (${unrecognised
        .slice(0, 3)
        .map(({ pid }) => pid)
        .join(', ')})`;
};

/** What a look changed about holding. */
export interface HoldChange {
  readonly change: 'held' | 'allowed' | null;
  readonly warning: string | null;
}

const NO_CHANGE: HoldChange = { change: null, warning: null };

/** Whether guard waits for a person. On disk, so that a restarted guard still does. */
export class Holding {
  readonly #system: System;
  readonly #directory: string | null;
  #held: Held | null;
  /** Then that the file is gone means that a person allowed it. */
  #onDisk: boolean;
  #before: Snapshot | null = null;

  constructor(system: System, directory: string | null) {
    this.#system = system;
    this.#directory = directory;
    this.#held = readHeld(directory);
    this.#onDisk = this.#held !== null;
  }

  get held(): Held | null {
    return this.#held;
  }

  /** The next look is compared with none: one failed in between. */
  forget(): void {
    this.#before = null;
  }

  async note(now: Snapshot): Promise<HoldChange> {
    const before = this.#before;
    this.#before = now;
    if (this.#held !== null) {
      if (!this.#onDisk) this.#onDisk = this.#write(this.#held) === null;
      if (!this.#onDisk || !isAllowed(this.#directory)) return NO_CHANGE;
      this.#held = null;
      return { change: 'allowed', warning: null };
    }
    if (before === null) return NO_CHANGE;
    const why = whyHold(before, now, await this.#runningOf(ownersInDoubt(before, now)));
    if (why === null) return NO_CHANGE;
    this.#held = { since: now.takenAt, why };
    const warning = this.#write(this.#held);
    this.#onDisk = warning === null;
    return { change: 'held', warning };
  }

  #write(held: Held): string | null {
    return this.#directory === null
      ? 'the hold could not be saved: no state directory'
      : writeHeld(this.#directory, held);
  }

  async #runningOf(owners: readonly NamedOwner[]): Promise<ReadonlySet<string>> {
    const running = new Set<string>();
    for (const owner of owners) {
      const now = await this.#system.presence(owner.pid);
      const there =
        now.status === 'present' &&
        (owner.start === null || now.identity.start === owner.start) &&
        !isZombie(now);
      // Unreadable is not gone.
      if (there || now.status === 'unreadable') running.add(ownerKey(owner));
    }
    return running;
  }
}

const HELD_FILE = 'held.json';
const MOST_BYTES = 4096;

export interface Held {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly why: string;
}

/** Written down so that a restarted guard still waits. A warning comes back when it cannot be. */
const writeHeld = (directory: string, held: Held): string | null => {
  try {
    makeStateDirectory(directory);
    replaceOwn(join(directory, HELD_FILE), `${JSON.stringify(held)}\n`, { durable: true });
    return null;
  } catch (error) {
    return `it could not be written down that guard is held: ${errorSentence(error)}`;
  }
};

/** The file itself means held; what it says is only why. */
export const readHeld = (directory: string | null): Held | null => {
  if (directory === null) return null;
  const path = join(directory, HELD_FILE);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const { since, why } = JSON.parse(readOwnTail(path, MOST_BYTES) ?? '') as Partial<Held>;
    return { since: typeof since === 'number' ? since : 0, why: visible(String(why)) };
  } catch (error) {
    // A file in the directory's place holds nothing; anything else that cannot be read may.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    return { since: 0, why: `${path} exists but cannot be read` };
  }
};

/** A person removed the file. That the whole directory is gone says nothing. */
const isAllowed = (directory: string | null): boolean => {
  try {
    return directory !== null && statSync(directory).isDirectory() && readHeld(directory) === null;
  } catch {
    return false;
  }
};

/** `guard allow`: false when nothing was held. */
export const allow = (directory: string): boolean => {
  const held = readHeld(directory) !== null;
  rmSync(join(directory, HELD_FILE), { force: true });
  return held;
};
