import type { Sampler } from './sampler.ts';

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
    // Whoever asked is told of a failure; the next in the queue has nothing to do with it.
    this.#last = result.catch(() => {});
    return result;
  }

  /** Settles when nobody plans or acts any more. */
  async over(): Promise<void> {
    await this.#last;
  }
}
