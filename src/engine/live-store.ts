import type { RememberedSession } from '../model/asleep.ts';
import type { Config } from '../model/config.ts';
import { keyOf } from '../model/identity.ts';
import type { Outcome } from '../model/plan.ts';
import type { System } from '../observe/system.ts';
import type { Collector } from './collector.ts';
import type { LiveState, LogLine } from './live-state.ts';
import type { Sampler } from './sampler.ts';

const LOG_LINES = 200;

/** What the screen shows, and who wants to know when it changes. */
export class LiveStore {
  readonly #listeners = new Set<() => void>();
  #state: LiveState;

  constructor(first: LiveState) {
    this.#state = first;
  }

  get state(): LiveState {
    return this.#state;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  log(...lines: readonly LogLine[]): void {
    if (lines.length > 0) this.set({ log: [...this.#state.log, ...lines].slice(-LOG_LINES) });
  }

  /** A later outcome of an identity replaces the earlier. */
  note(outcome: Outcome): void {
    const { running } = this.#state;
    if (running === null) return;
    const others = running.outcomes.filter(known => keyOf(known) !== keyOf(outcome));
    this.set({ running: { ...running, outcomes: [...others, outcome] } });
  }
}

/** One at a time, and no sample meanwhile: two looks at once would spoil each other's measures of CPU. */
export class Turns {
  readonly #sampler: Sampler;
  #last: Promise<unknown> = Promise.resolve();

  constructor(sampler: Sampler) {
    this.#sampler = sampler;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      await this.#sampler.pause();
      try {
        return await work();
      } finally {
        this.#sampler.resume();
      }
    });
    // The caller gets the failure; the next in the queue does not.
    this.#last = result.catch(() => {});
    return result;
  }

  /** Settles when no plan is being made or executed. */
  async over(): Promise<void> {
    await this.#last;
  }
}

export interface LiveEngineOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly intervalSeconds: number;
  readonly all: boolean;
  /** Where the setup screen saves to; null: there is no home. */
  readonly configPath?: string | null;
  /** What happened before; the end of the audit log when absent. */
  readonly log?: readonly LogLine[];
  /** Sleeping sessions of a machine that has no state directory. */
  readonly asleep?: readonly RememberedSession[];
  /** Where acts are recorded; null: nowhere, because nothing real is done. */
  readonly stateDirectory?: string | null;
  /** How long a process may take to obey TERM; the default of every act when absent. */
  readonly graceMs?: number | undefined;
  /** Looks only when asked to, until `startLooking`. */
  readonly byHand?: boolean;
}
