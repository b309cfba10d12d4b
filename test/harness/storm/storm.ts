import { Sandbox } from '../../support/sandbox.ts';
import { Bystanders } from './bystanders.ts';
import type { Leaks } from './leaks.ts';
import { liesIn, type Told } from './lies.ts';
import { end } from './machine.ts';
import { WAYS, type Way } from './ways.ts';

export interface StormOptions {
  /** Stop after this many clean-ups, */
  readonly cleanups: number;
  /** or after this long. */
  readonly seconds: number;
  /** The highest pid of this namespace. */
  readonly pidMax: number;
  say(line: string): void;
}

export interface Tally {
  cleanups: number;
  byWay: Record<string, number>;
  /** Leaks that were there, and what became of them. */
  leaks: number;
  outcomes: Record<string, number>;
  recycled: number;
  guarded: number;
  hurt: string[];
  lies: string[];
  /** Leaks that three clean-ups neither ended nor reported. */
  left: string[];
  /** Leaks that a clean-up left to the next one. */
  later: number;
  seconds: number;
}

/** After so many clean-ups of one world all is set up anew: live sessions, tmux, home. */
const WORLD_CLEANUPS = 40;
/** What one clean-up leaves (it fled, it was read in the middle of an exec) the next ones find. */
const TRIES = 6;
const SAMPLE_MS = 40;

const TURNS: readonly (keyof typeof WAYS)[] = ['clean', 'clean', 'tui', 'clean', 'clean', 'sweep', 'clean'];

/** Runs a clean-up and looks, all the time, who lives. */
const watched = async (leaks: Leaks, run: () => Promise<Told>): Promise<Told> => {
  const timer = setInterval(() => leaks.look(), SAMPLE_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
};

class World {
  readonly #sandbox = new Sandbox();
  readonly #options: StormOptions;
  readonly #tally: Tally;
  #bystanders!: Bystanders;

  constructor(options: StormOptions, tally: Tally) {
    this.#options = options;
    this.#tally = tally;
  }

  async open(): Promise<void> {
    this.#bystanders = await Bystanders.gather(this.#sandbox);
  }

  async close(): Promise<void> {
    this.#tally.recycled += this.#bystanders.recycled;
    this.#tally.guarded += this.#bystanders.guarded;
    await this.#sandbox.close();
  }

  /** One set of leaks, until they are gone. */
  async round(turn: number): Promise<void> {
    const tally = this.#tally;
    const name = TURNS[turn % TURNS.length]!;
    const leaks = await WAYS[name].leave(this.#sandbox, turn);
    tally.leaks += leaks.known.length;
    for (let n = 0; n < TRIES && leaks.living.length > 0; n += 1) {
      const way = n === 0 ? name : WAYS[name].again;
      await this.#cleanUp(way, WAYS[way], leaks);
      if (n + 1 < TRIES) tally.later += leaks.living.length;
    }
    for (const identity of leaks.living) {
      tally.left.push(`${identity.pid}:${identity.start}`);
      end(identity);
    }
  }

  async #cleanUp(name: string, way: Way, leaks: Leaks): Promise<void> {
    const tally = this.#tally;
    const stopChurn = this.#bystanders.churn(this.#options.pidMax, 6);
    const stopHawk = this.#bystanders.hawk(leaks.living, this.#sandbox.path('ready-hawk'));
    let told: Told;
    try {
      told = await watched(leaks, () => way.clean(this.#sandbox));
    } finally {
      stopChurn();
      stopHawk();
    }
    tally.cleanups += 1;
    tally.byWay[name] = (tally.byWay[name] ?? 0) + 1;
    for (const { outcome } of told.outcomes) tally.outcomes[outcome] = (tally.outcomes[outcome] ?? 0) + 1;
    for (const lie of liesIn(told, leaks)) this.#report(tally.lies, 'LIE', lie);
    const stranger = told.outcomes.filter(o => !leaks.has(o) && o.outcome !== 'refused');
    for (const hurt of this.#bystanders.count()) this.#report(tally.hurt, 'HURT', hurt);
    for (const o of stranger)
      this.#options.say(`${o.pid}:${o.start} was no leak and got: ${o.outcome} (${o.why})`);
  }

  #report(list: string[], kind: string, what: string): void {
    list.push(what);
    this.#options.say(`${kind}: ${what}`);
  }
}

/** Leaks and innocents, again and again, on numbers that come round; tells who was hurt and what was not so. */
export const storm = async (options: StormOptions): Promise<Tally> => {
  const tally: Tally = {
    cleanups: 0,
    byWay: {},
    leaks: 0,
    outcomes: {},
    recycled: 0,
    guarded: 0,
    hurt: [],
    lies: [],
    left: [],
    later: 0,
    seconds: 0,
  };
  const started = Date.now();
  const over = (): boolean => {
    tally.seconds = Math.round((Date.now() - started) / 1000);
    return tally.cleanups >= options.cleanups || tally.seconds >= options.seconds;
  };
  let turn = 0;
  while (!over()) {
    const world = new World(options, tally);
    await world.open();
    const until = tally.cleanups + WORLD_CLEANUPS;
    try {
      while (!over() && tally.cleanups < until) {
        await world.round(turn);
        turn += 1;
      }
    } finally {
      await world.close();
    }
    options.say(
      `${tally.cleanups} clean-ups, ${tally.hurt.length} hurt, ${tally.lies.length} lies, ${tally.seconds} s`,
    );
  }
  return tally;
};
