import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

/** A shell is quick at starting sleeps, and slow at waiting for more than this many. */
const BATCH = 500;

/** Long enough for the longest run; short enough that what a killed bench leaves behind ends by itself. */
const SLEEP_SECONDS = 3600;

/** The outer shell ends at once, so that the inner one is adopted: nobody's business but PID 1's. */
const batch = (count: number, ready: string): string => `(
  i=0
  while [ $i -lt ${count} ]; do sleep ${SLEEP_SECONDS} & i=$((i+1)); done
  : > '${ready}'
  wait
) &`;

/**
 * Thousands of processes that concern no agent. They are orphans of our own user, which is the worst case:
 * each one's environment must be read once to know that no agent started it.
 */
export class Crowd {
  readonly #sandbox = new Sandbox();
  #count = 0;

  /** Grows or shrinks to `count`. */
  async be(count: number): Promise<void> {
    if (count === this.#count) return;
    if (count < this.#count) await this.#end();
    await this.#start(count - this.#count);
    this.#count = count;
  }

  /** Ends them all, and fails when one is left. */
  async close(): Promise<void> {
    await this.#end();
    await this.#sandbox.close();
  }

  async #start(count: number): Promise<void> {
    for (let left = count; left > 0; left -= BATCH) {
      const ready = this.#sandbox.path('ready');
      rmSync(ready, { force: true });
      const shell = spawn('sh', ['-c', batch(Math.min(left, BATCH), ready)], {
        cwd: this.#sandbox.path('work'),
        env: this.#sandbox.env,
        stdio: 'ignore',
        detached: true,
      });
      shell.unref();
      await until('the crowd to gather', () => existsSync(ready), { timeoutMs: 60_000 });
    }
  }

  /** The sleepers first: their shells then reap them and end by themselves, and PID 1 is not flooded with zombies. */
  async #end(): Promise<void> {
    for (const { pid, comm } of this.#sandbox.running()) {
      if (comm === 'sleep') process.kill(pid, 'SIGKILL');
    }
    await until('the crowd to leave', () => this.#sandbox.running().length === 0, { timeoutMs: 60_000 });
    this.#count = 0;
  }
}
