import { keyOf } from '../model/identity.ts';
import type { Outcome } from '../model/plan.ts';
import type { LiveState, LogLine } from './live.ts';

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
