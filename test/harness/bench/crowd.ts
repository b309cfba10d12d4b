import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

/** How many one parent has: shells are slow at waiting for more. */
const BATCH = 500;

/** Long enough for the longest run; short enough that what a killed bench leaves behind ends by itself. */
const SLEEP_SECONDS = 3600;

/**
 * Who the crowd belongs to. `workers`: of ordinary programs, as on most machines with thousands of processes.
 * `orphans`: of our own user below PID 1, the worst case: each one's environment must be read to know that no agent
 * started it.
 */
type Shape = 'workers' | 'orphans';

/** The outer shell ends at once, so that what it started is adopted: nobody's business but PID 1's. */
const BATCHES: Readonly<Record<Shape, (count: number, ready: string) => string>> = {
  workers: (count, ready) => `perl -e '
    for (1..${count}) { fork or exec "sleep", ${SLEEP_SECONDS} }
    open my $ready, ">", "${ready}"; close $ready;
    1 while wait > 0;
  ' &`,
  orphans: (count, ready) => `(
    i=0
    while [ $i -lt ${count} ]; do sleep ${SLEEP_SECONDS} & i=$((i+1)); done
    : > '${ready}'
    wait
  ) &`,
};

/** Thousands of processes that concern no agent. */
export class Crowd {
  readonly #sandbox = new Sandbox();
  #count = 0;
  #shape: Shape = 'workers';

  /** Grows or shrinks to `count`. */
  async be(count: number, shape: Shape = 'workers'): Promise<void> {
    if (count === this.#count && shape === this.#shape) return;
    if (count < this.#count || shape !== this.#shape) await this.#end();
    this.#shape = shape;
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
      const shell = spawn('sh', ['-c', BATCHES[this.#shape](Math.min(left, BATCH), ready)], {
        cwd: this.#sandbox.path('work'),
        env: this.#sandbox.env,
        stdio: 'ignore',
        detached: true,
      });
      shell.unref();
      await until('the crowd to gather', () => existsSync(ready), { timeoutMs: 60_000 });
    }
  }

  /** The sleepers first: their parents then reap them and end by themselves, and PID 1 is not flooded with zombies. */
  async #end(): Promise<void> {
    for (const { pid, comm } of this.#sandbox.running()) {
      if (comm === 'sleep') process.kill(pid, 'SIGKILL');
    }
    await until('the crowd to leave', () => this.#sandbox.running().length === 0, { timeoutMs: 60_000 });
    this.#count = 0;
  }
}
