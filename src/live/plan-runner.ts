import type { ActRequest } from '../model/act-request.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveEngineOptions } from './engine-options.ts';
import type { Fixer } from './fixer.ts';
import type { LiveStore } from './live-store.ts';
import { performPlan } from './performer.ts';
import type { Turns } from './turns.ts';

/** Carries out one plan at a time, and shows how it goes. */
export class PlanRunner {
  readonly #options: LiveEngineOptions;
  readonly #store: LiveStore;
  readonly #turns: Turns;
  readonly #fixer: Fixer;
  #abort: AbortController | null = null;

  constructor(options: LiveEngineOptions, store: LiveStore, turns: Turns, fixer: Fixer) {
    this.#options = options;
    this.#store = store;
    this.#turns = turns;
    this.#fixer = fixer;
  }

  /** An invented machine has a time of its own: its log is told in that. */
  readonly #now = (): number =>
    this.#options.system.backend === 'demo' ? this.#store.state.snapshot.takenAt : Date.now();

  /** Gives back what has changed for the worse; then nothing was done. */
  async run(plan: Plan, request: ActRequest): Promise<readonly string[]> {
    if (this.#abort !== null) throw new Error('another plan is still running');
    const abort = new AbortController();
    this.#abort = abort;
    this.#store.set({ running: { plan, outcomes: [], done: false, summary: null } });
    try {
      return await this.#turns.alone(() => this.#perform(plan, request, abort.signal));
    } finally {
      this.#abort = null;
    }
  }

  cancel(): void {
    this.#abort?.abort();
  }

  async #perform(plan: Plan, request: ActRequest, signal: AbortSignal): Promise<readonly string[]> {
    const store = this.#store;
    try {
      const done = await performPlan({
        ...this.#options,
        plan,
        request,
        boot: store.state.snapshot.host.bootId,
        signal,
        fixer: this.#fixer,
        now: this.#now,
        onOutcome: outcome => store.note(outcome),
      });
      const { outcomes, chores, summary } = done;
      store.set({ running: { plan, outcomes, chores, done: true, summary } });
      store.log(...done.log);
      return done.worse;
    } catch (error) {
      const summary = `it failed: ${error instanceof Error ? error.message : String(error)}`;
      const outcomes = store.state.running?.outcomes ?? [];
      store.set({ running: { plan, outcomes, done: true, summary } });
      store.log({ at: this.#now(), text: summary, tone: 'bad' });
      return [];
    }
  }
}
