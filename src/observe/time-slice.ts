/** Work this long, then let keys and paints in. A cold look at 5,000 processes takes 300 ms in one go. */
const WORK_SLICE_MS = 12;

/** Milliseconds. `performance` would load a module of 1.3 ms for this. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Lets everything in that waits: keys, timers, paints. */
export const turnOfLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Divides long work: asked between two steps, it lets the event loop turn when the last turn was long ago. */
export class Yielder {
  #since = now();

  /** Null when there is no need, so that many small steps cost no turn of the loop. */
  maybeYield(): Promise<void> | null {
    if (now() - this.#since < WORK_SLICE_MS) return null;
    return turnOfLoop().then(() => {
      this.#since = now();
    });
  }
}
