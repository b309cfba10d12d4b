/** A refresh that takes more than this part of the interval makes the machine busier than it shows. */
const BUSY_SHARE = 0.25;
const MOST_BACK_OFF = 8;

/** Milliseconds of CPU time this process has used. */
const ownCpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export interface SamplerOptions {
  readonly intervalSeconds: number;
  /** One sample; never called again before it has settled. */
  readonly sample: () => Promise<void>;
  readonly onBackOff: (slowed: boolean) => void;
  readonly cpuMs?: () => number;
}

/** Calls for a sample at an interval, one at a time, more slowly when a sample takes long. */
export class Sampler {
  readonly #options: SamplerOptions;
  #intervalMs: number;
  #backOff = 1;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #started = false;
  #pauses = 0;
  #missed = false;
  #stopped = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalSeconds * 1000;
  }

  /** Begins with a sample after `firstMs`, the interval at most. */
  start(firstMs = Number.POSITIVE_INFINITY): void {
    this.#started = true;
    this.#schedule(firstMs);
  }

  setInterval(seconds: number): void {
    this.#intervalMs = seconds * 1000;
    this.#backOff = 1;
    this.#schedule();
  }

  /** A sample that begins from now on: one under way may have looked before there was anything new to see. */
  now(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (this.#pauses > 0) {
      this.#missed = true;
      return Promise.resolve();
    }
    if (this.#running === null) return this.#begin();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.now();
    });
    return this.#next;
  }

  /** No samples until `resume`: another sample is being taken. Resolves when none is under way. */
  async pause(): Promise<void> {
    this.#pauses += 1;
    this.#clear();
    await this.#running;
  }

  /** Every pause needs its own; what was asked for meanwhile is done after the last. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    if (this.#missed) void this.now();
    else this.#schedule();
    this.#missed = false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clear();
    await this.#running;
  }

  #begin(): Promise<void> {
    this.#clear();
    this.#running = this.#sample().finally(() => {
      this.#running = null;
      this.#schedule();
    });
    return this.#running;
  }

  async #sample(): Promise<void> {
    const cpuMs = this.#options.cpuMs ?? ownCpu;
    const began = cpuMs();
    await this.#options.sample();
    const share = (cpuMs() - began) / (this.#intervalMs * this.#backOff);
    if (share > BUSY_SHARE && this.#backOff < MOST_BACK_OFF) this.#setBackOff(this.#backOff * 2);
    // A quarter of the limit, not the limit: otherwise it would swing to and fro.
    else if (share < BUSY_SHARE / 4 && this.#backOff > 1) this.#setBackOff(this.#backOff / 2);
  }

  #setBackOff(factor: number): void {
    this.#backOff = factor;
    this.#options.onBackOff(factor > 1);
  }

  #schedule(mostMs = Number.POSITIVE_INFINITY): void {
    this.#clear();
    if (!this.#started || this.#pauses > 0 || this.#stopped || this.#running !== null) return;
    this.#timer = setTimeout(() => void this.now(), Math.min(mostMs, this.#intervalMs * this.#backOff));
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
