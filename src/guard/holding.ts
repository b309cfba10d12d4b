import { isZombie } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';
import { type Held, isAllowed, readHeld, writeHeld } from './held-file.ts';
import { type NamedOwner, ownerKey, ownersInDoubt, whyHold } from './hold.ts';

/** What a look changed about holding. */
export interface HoldChange {
  readonly change: 'held' | 'allowed' | null;
  readonly warning: string | null;
}

const NO_CHANGE: HoldChange = { change: null, warning: null };

/** Whether guard waits for a person. On disk, so that a guard that is started anew still does. */
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
      ? 'it could not be written down that guard is held: there is no directory for it'
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
