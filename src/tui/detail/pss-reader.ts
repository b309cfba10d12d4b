import type { Live } from '../../engine/live-state.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';

/** PSS costs the kernel a walk of the page tables: once per selection, then this seldom. */
const EVERY_MS = 10_000;

/** Proportional memory of the process in the detail pane, read when it is needed. */
export class PssReader {
  readonly #live: Live;
  readonly #changed: () => void;
  #known: { readonly key: string; readonly at: number; readonly bytes: number | null } | null = null;

  constructor(live: Live, changed: () => void) {
    this.#live = live;
    this.#changed = changed;
  }

  of(key: string | null): number | null {
    return this.#known?.key === key ? this.#known.bytes : null;
  }

  /** `at`: the time of the snapshot. */
  want(key: string, process: JudgedProcess, at: number): void {
    const known = this.#known?.key === key ? this.#known : null;
    if (known && at - known.at < EVERY_MS) return;
    this.#known = { key, at, bytes: known?.bytes ?? null };
    this.#live.proportionalMemory(process.facts.pid).then(
      bytes => {
        if (this.#known?.key === key) this.#known = { key, at, bytes };
        this.#changed();
      },
      () => {}, // it ended between the snapshot and the question: the pane shows RSS alone
    );
  }
}
