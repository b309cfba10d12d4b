import { type Clock, REAL_CLOCK } from '../act/clock.ts';
import { completeEarlierActs } from '../act/perform.ts';
import { History } from '../collect/history.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { GuardReport } from '../remember/latest.ts';
import { Account } from './account.ts';
import type { ActingGround } from './acting.ts';
import { AuditFollower } from './audit-follower.ts';
import { Budget } from './budget.ts';
import type { Held } from './held-file.ts';
import { Holding } from './holding.ts';
import type { GuardOptions } from './options.ts';
import { Pauses } from './pauses.ts';
import { Sightings } from './sightings.ts';
import { actOn } from './step.ts';
import { SweepSightings } from './sweeping.ts';
import { Warned, warnedBy } from './warned.ts';

/** The unattended half: looks, remembers, and acts by policy. */
export class Guard {
  readonly options: GuardOptions;
  readonly clock: Clock;
  readonly sightings = new Sightings();
  readonly sweepSightings = new SweepSightings();
  readonly warned = new Warned();
  readonly budget: Budget;
  readonly account = new Account();
  readonly since: number;
  readonly #history = new History();
  readonly #pauses: Pauses;
  readonly #audit: AuditFollower;
  readonly #said = new Set<string>();
  readonly #holding: Holding;
  #begun = false;
  waiting = 0;
  sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: GuardOptions) {
    this.options = options;
    this.clock = options.clock ?? REAL_CLOCK;
    this.since = this.wall();
    this.budget = new Budget(options.config.policy.endsPerHour);
    this.#pauses = new Pauses(options.intervalSeconds);
    this.#audit = new AuditFollower(options.directory);
    this.#holding = new Holding(options.system, options.directory);
    this.#recountEnds();
  }

  /** Until it is told to stop. */
  async run(): Promise<void> {
    const { abort, intervalSeconds } = this.options;
    for (let next = this.clock.now(); !abort.aborted; ) {
      await this.look({ act: true });
      next = Math.max(next + intervalSeconds * 1000, this.clock.now());
      await this.clock.wait(next - this.clock.now(), abort);
    }
  }

  /** One pass: two looks, far enough apart for what both agree on to be done. Says what was done. */
  async once(): Promise<void> {
    const { abort, config } = this.options;
    await this.look({ act: true });
    await this.clock.wait(this.#pauses.spaced(config.policy.sightingSeconds) * 1000, abort);
    if (abort.aborted) return;
    this.sweptAt = Number.NEGATIVE_INFINITY;
    await this.look({ act: true });
  }

  async look({ act }: { readonly act: boolean }): Promise<void> {
    const began = this.clock.now();
    const moment = await this.#collect();
    const durationMs = this.clock.now() - began;
    if (moment !== null) {
      await this.#begin(moment);
      await this.#remember(moment);
      if (act && this.whyPaused() === null) await this.#act(moment);
    }
    this.#report(moment, durationMs);
  }

  at(): number {
    return this.clock.now() / 1000;
  }

  wall(): number {
    return (this.options.wall ?? Date.now)();
  }

  /** Why nothing is done now; null when it may be. */
  whyPaused(): string | null {
    const { held } = this.#holding;
    if (held !== null) return `held: ${held.why}`;
    return this.#pauses.why({ monotonic: this.at(), uptime: this.options.uptime() });
  }

  ground(boot: string | null): ActingGround {
    const { collector, system, config, graceMs, abort, directory } = this.options;
    return { collector, system, config, graceMs, abort, directory, boot };
  }

  /** The same sentence once: a full disk is not news every ten seconds. */
  warn(text: string | null): void {
    if (text === null || this.#said.has(text)) return;
    this.#said.add(text);
    this.options.say(`warning: ${text}`);
  }

  /** What a guard or a clean-up that was killed left unsaid is completed first. */
  async #begin({ host }: Snapshot): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    await completeEarlierActs(this.options.system, 'guard', host.bootId, this.options.directory);
  }

  async #collect(): Promise<JudgedMoment | null> {
    try {
      const moment = await this.options.collector.collect({ past: this.#history });
      if (this.#pauses.note({ monotonic: this.at(), uptime: this.options.uptime() })) this.#forget();
      return moment;
    } catch (error) {
      // Nothing is known, so nothing that was seen before counts any more.
      this.#forget();
      this.#holding.forget();
      this.warn(`this look failed, and nothing was done: ${(error as Error).message}`);
      return null;
    }
  }

  #forget(): void {
    this.sightings.forget();
    this.sweepSightings.forget();
    this.warned.forget();
  }

  async #remember(moment: JudgedMoment): Promise<void> {
    this.#history.record(moment);
    this.sightings.note(moment, this.at());
    for (const { id, title } of this.warned.note(moment, warnedBy(this.options.config.policy), this.at()))
      this.options.say(
        `${id}: ${title}; it is ended in ${this.options.config.policy.warnSeconds} s if that stays so`,
      );
    await this.#hold(moment);
    for (const warning of await this.options.memory.keep(moment, this.options.collector.lineage))
      this.warn(warning);
  }

  async #hold(moment: Snapshot): Promise<void> {
    const { change, warning } = await this.#holding.note(moment);
    this.warn(warning);
    if (change === 'allowed') {
      this.#forget();
      this.options.say('allowed: guard goes on');
    }
    if (change === 'held')
      this.options.say(
        `held: ${this.#holding.held?.why}. Nothing is ended until a person says: reaptop guard allow`,
      );
  }

  async #act(moment: JudgedMoment): Promise<void> {
    try {
      await actOn(this, moment);
    } catch (error) {
      this.warn(`the plan could not be carried out: ${(error as Error).message}`);
    }
  }

  /** Trees that an earlier guard ended within this hour count: killing guard is no way around its budget. */
  #recountEnds(): void {
    const wall = this.wall();
    for (const { at, event, by, roots } of this.#audit.next())
      if (event === 'intent' && by === 'guard')
        this.budget.spend(roots, this.at() - Math.max(0, wall - at) / 1000);
  }

  #report(moment: Snapshot | null, durationMs: number): void {
    const { onLook, memory } = this.options;
    const { held } = this.#holding;
    onLook?.({ snapshot: moment, durationMs, audited: this.#audit.next(), held, waiting: this.waiting });
    if (moment !== null) this.warn(memory.publish(moment, this.#standing(held)));
  }

  /** What others are told of us: the status line, doctor and `guard status`. */
  #standing(held: Held | null): Omit<GuardReport, 'writer'> {
    return {
      since: this.since,
      intervalSeconds: this.options.intervalSeconds,
      held,
      paused: held === null ? this.whyPaused() : null,
      endsLastHour: this.budget.spentAt(this.at()),
      endsPerHour: this.options.config.policy.endsPerHour,
      waiting: this.waiting,
      ended: this.account.ended,
      reclaimedBytes: this.account.reclaimedBytes,
      acts: this.account.acts,
      warnings: [...this.#said].slice(-10),
    };
  }
}
