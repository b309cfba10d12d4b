/** Servers are still being started, sessions still registering. */
const PAUSE_SECONDS = 120;

/** A look that comes this much later than it should was slept through. */
const LATE_SECONDS = 20;

export interface Moment {
  /** Seconds of a clock that stands still while the machine sleeps. */
  readonly monotonic: number;
  /** Seconds since boot, sleep included. */
  readonly uptime: number;
}

/** Tells when the machine has just started or woken up: then nobody knows yet who belongs to whom. */
export class Pauses {
  #dueSeconds: number;
  #before: Moment | null = null;
  #wokeAt: number | null = null;

  constructor(intervalSeconds: number) {
    this.#dueSeconds = intervalSeconds;
  }

  /** The looks that follow come so far apart on purpose; gives the seconds back to whoever waits for them. */
  spaced(seconds: number): number {
    this.#dueSeconds = seconds;
    return seconds;
  }

  /** To be told of every look; true when the machine slept since the last. */
  note(now: Moment): boolean {
    const before = this.#before;
    this.#before = now;
    if (before === null) return false;
    const late = now.monotonic - before.monotonic > this.#dueSeconds + LATE_SECONDS;
    const asleep = now.uptime - before.uptime - (now.monotonic - before.monotonic) > 1;
    const slept = asleep || late;
    if (slept) this.#wokeAt = now.monotonic;
    return slept;
  }

  /** Why nothing is done now; null when it may be. */
  why({ monotonic, uptime }: Moment): string | null {
    if (uptime < PAUSE_SECONDS) return `the machine started ${Math.round(uptime)} s ago`;
    if (this.#wokeAt === null || monotonic - this.#wokeAt >= PAUSE_SECONDS) return null;
    return `the machine woke up ${Math.round(monotonic - this.#wokeAt)} s ago`;
  }
}
