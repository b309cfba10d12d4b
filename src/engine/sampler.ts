/** A refresh that takes more than this part of the interval makes the machine busier than it shows. */
const BUSY_SHARE = 0.25;
const MOST_BACK_OFF = 8;

export interface SamplerOptions {
  readonly intervalSeconds: number;
  /** One sample; never called again before it has settled. */
  readonly sample: () => Promise<void>;
  readonly onBackOff: (slowed: boolean) => void;
}

/** Calls for a sample at an interval, one at a time, more slowly when a sample takes long. */
export class Sampler {
  readonly #options: SamplerOptions;
  #intervalMs: number;
  #backOff = 1;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #paused = false;
  #stopped = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalSeconds * 1000;
  }

  start(): void {
    this.#schedule();
  }

  setInterval(seconds: number): void {
    this.#intervalMs = seconds * 1000;
    this.#backOff = 1;
    this.#schedule();
  }

  /** A sample now; joins one that is under way. */
  now(): Promise<void> {
    this.#running ??= this.#sample().finally(() => {
      this.#running = null;
      this.#schedule();
    });
    return this.#running;
  }

  /** No samples until `resume`: somebody else looks at the machine. Resolves when none is under way. */
  async pause(): Promise<void> {
    this.#paused = true;
    this.#clear();
    await this.#running;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clear();
    await this.#running;
  }

  async #sample(): Promise<void> {
    this.#clear();
    const began = process.cpuUsage();
    await this.#options.sample();
    const spent = process.cpuUsage(began);
    const share = (spent.user + spent.system) / 1000 / (this.#intervalMs * this.#backOff);
    if (share > BUSY_SHARE && this.#backOff < MOST_BACK_OFF) this.#setBackOff(this.#backOff * 2);
    // A quarter of the limit, not the limit: otherwise it would swing to and fro.
    else if (share < BUSY_SHARE / 4 && this.#backOff > 1) this.#setBackOff(this.#backOff / 2);
  }

  #setBackOff(factor: number): void {
    this.#backOff = factor;
    this.#options.onBackOff(factor > 1);
  }

  #schedule(): void {
    this.#clear();
    if (this.#paused || this.#stopped || this.#running !== null) return;
    this.#timer = setTimeout(() => void this.now(), this.#intervalMs * this.#backOff);
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
