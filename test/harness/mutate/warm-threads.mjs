import { ThreadsPoolWorker } from 'vitest/node';

/** Every run adds listeners to its thread, and what a mutant may have left in a module ends with it. */
const RUNS_PER_THREAD = 40;

/** Threads that have loaded everything and wait for the next mutant. */
const waiting = [];

/**
 * A thread that outlives a run. A mutant is switched on inside code that is loaded already, so that the next one needs
 * neither a new thread nor the modules anew, which was most of its time. For pure code only: whatever a module keeps
 * is seen by the mutants that follow.
 */
class WarmThread extends ThreadsPoolWorker {
  name = 'warm-threads';
  #runs = 0;
  #asked = false;
  #listeners = [];

  on(event, callback) {
    this.#listeners.push([event, callback]);
    super.on(event, callback);
  }

  off(event, callback) {
    this.#listeners = this.#listeners.filter(([e, c]) => e !== event || c !== callback);
    super.off(event, callback);
  }

  /** One that is asked to stop has finished its run; one that is stopped unasked hangs, and is not kept. */
  send(message) {
    if (message.type !== 'stop' || this.#runs >= RUNS_PER_THREAD) return super.send(message);
    this.#asked = true;
    const stopped = { type: 'stopped', __vitest_worker_response__: true };
    for (const [event, callback] of this.#listeners) if (event === 'message') callback(stopped);
  }

  async start() {
    const kept = waiting.pop();
    if (kept === undefined) await super.start();
    else {
      this._thread = kept.thread;
      this._thread.ref();
    }
    this.#runs = (kept?.runs ?? 0) + 1;
  }

  async stop() {
    if (!this.#asked) return super.stop();
    for (const [event, callback] of this.#listeners) super.off(event, callback);
    this.thread.unref();
    waiting.push({ thread: this.thread, runs: this.#runs });
    this._thread = undefined;
  }
}

/** Stryker asks for ordinary threads in every project: this one gets others. */
export const warmThreads = project => ({
  name: 'warm-threads',
  configureVitest: ({ project: { name, config } }) => {
    if (name !== project) return;
    config.pool = 'warm-threads';
    config.poolRunner = { name: 'warm-threads', createPoolWorker: options => new WarmThread(options) };
  },
});
