import { type Clock, REAL_CLOCK } from '../act/clock.ts';
import { whyNeverAsleep } from '../agents/resume.ts';
import type { Collector } from '../engine/collector.ts';
import { Engine, withPss } from '../engine/engine.ts';
import { History } from '../engine/history.ts';
import type { JudgedSnapshot } from '../judge/judge.ts';
import { Sightings } from '../judge/seen-twice.ts';
import { type RememberedSession, resumeFromAnywhere, wayBackName } from '../model/asleep.ts';
import type { Config } from '../model/config.ts';
import type { FindingId } from '../model/finding.ts';
import type { PressureFacts } from '../model/health.ts';
import { keyOf } from '../model/identity.ts';
import type { HostFacts } from '../model/observation.ts';
import type { Outcome } from '../model/plan.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { formatMoment, plural } from '../model/units.ts';
import { readPressure } from '../observe/health.ts';
import type { System } from '../observe/system.ts';
import type { GuardReport } from '../remember/latest.ts';
import { Account, type AuditedAct, AuditFollower, endingText, sweepText } from './bookkeeping.ts';
import { type Held, Holding } from './hold.ts';
import type { Memory } from './memory.ts';
import {
  Budget,
  type Ending,
  type GuardAct,
  planGuard,
  rootsOf,
  Warned,
  type WarnedFinding,
  warnedBy,
} from './policy.ts';
import { Pressed } from './pressure.ts';
import { allowedSweep, isEmptySweep, mayNeedSweep, SweepSightings } from './sweep-policy.ts';

/** A sweep looks at every file twice, a second apart. */
const SWEEP_SECONDS = 30;
/** Archives past their retention are no finding: looked for now and then. */
const RETENTION_SECONDS = 3600;

const WHY = {
  leaks: 'policy: proven leaks',
  zombieServers: 'policy: servers that do not reap their children',
  overMemory: 'policy: agents over the memory limit, after a warning',
  sleepIdle: 'policy: sessions idle too long, put to sleep after a warning',
  sleepUnderPressure: 'policy: memory is short, an idle session is put to sleep after a warning',
  idleAgents: 'policy: agents idle too long, after a warning',
  builds: 'policy: newer builds of a project with too many',
  hungCalls: 'policy: servers that hung calls wait for',
} as const satisfies Record<Ending, string>;

/** The unattended half: looks, remembers, and acts by policy. */
export class Guard {
  readonly #options: GuardOptions;
  readonly #clock: Clock;
  readonly #engine: Engine;
  readonly #sightings = new Sightings();
  readonly #sweepSightings = new SweepSightings();
  readonly #warned = new Warned();
  readonly #pressed = new Pressed();
  readonly #budget: Budget;
  readonly #account = new Account();
  readonly #since: number;
  readonly #history = new History();
  readonly #pauses: Pauses;
  readonly #audit: AuditFollower;
  readonly #said = new Set<string>();
  /** Calls whose server was ended. */
  readonly #freed = new Set<string>();
  readonly #holding: Holding;
  #begun = false;
  /** Processes that the budget keeps for later. */
  #waiting = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#clock = options.clock ?? REAL_CLOCK;
    const { collector, system, config, graceMs, directory } = options;
    this.#engine = new Engine({
      collector,
      system,
      config,
      env: process.env,
      past: this.#history,
      directory,
      graceMs,
    });
    this.#since = this.#wall();
    this.#budget = new Budget(options.config.policy.endsPerHour);
    this.#pauses = new Pauses(options.intervalSeconds);
    this.#audit = new AuditFollower(options.directory);
    this.#holding = new Holding(options.system, options.directory);
    this.#recountEnds();
  }

  /** Until it is told to stop. */
  async run(): Promise<void> {
    const { abort, intervalSeconds } = this.#options;
    for (let next = this.#clock.now(); !abort.aborted; ) {
      await this.look({ act: true });
      next = Math.max(next + intervalSeconds * 1000, this.#clock.now());
      await this.#clock.wait(next - this.#clock.now(), abort);
    }
  }

  /** One pass: two looks, far enough apart for what both agree on to be done. Says what was done. */
  async once(): Promise<void> {
    const { abort, config } = this.#options;
    await this.look({ act: true });
    await this.#clock.wait(this.#pauses.spaced(config.policy.sightingSeconds) * 1000, abort);
    if (abort.aborted) return;
    this.#sweptAt = Number.NEGATIVE_INFINITY;
    await this.look({ act: true });
  }

  async look({ act }: { readonly act: boolean }): Promise<void> {
    const began = this.#clock.now();
    const moment = await this.#collect();
    const durationMs = this.#clock.now() - began;
    if (moment !== null) {
      await this.#begin();
      await this.#remember(moment);
      if (act && this.whyPaused() === null) await this.#act(moment);
    }
    await this.#report(moment, durationMs);
  }

  #at(): number {
    return this.#clock.now() / 1000;
  }

  #wall(): number {
    return (this.#options.wall ?? Date.now)();
  }

  /** Trees ended within the last hour. */
  endsLastHour(): number {
    return this.#budget.spentAt(this.#at());
  }

  /** Why nothing is done now; null when it may be. */
  whyPaused(): string | null {
    const { held } = this.#holding;
    if (held !== null) return `held: ${held.why}`;
    return this.#pauses.why({ monotonic: this.#at(), uptime: this.#options.uptime() });
  }

  /** The same sentence once: a full disk is not news every ten seconds. */
  #warn(text: string | null): void {
    if (text === null || this.#said.has(text)) return;
    this.#said.add(text);
    this.#options.say(`warning: ${text}`);
  }

  /** What a guard or a clean-up that was killed left unsaid is completed first. */
  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    await this.#engine.completeEarlierActs('guard');
  }

  async #collect(): Promise<JudgedSnapshot | null> {
    try {
      const moment = await this.#engine.sample();
      if (this.#pauses.note({ monotonic: this.#at(), uptime: this.#options.uptime() })) this.#forget();
      return moment;
    } catch (error) {
      // Nothing is known, so nothing that was seen before counts any more.
      this.#forget();
      this.#holding.forget();
      this.#warn(`this sample failed; nothing was done: ${(error as Error).message}`);
      return null;
    }
  }

  #forget(): void {
    this.#sightings.forget();
    this.#sweepSightings.forget();
    this.#warned.forget();
    this.#pressed.forget();
  }

  async #remember(moment: JudgedSnapshot): Promise<void> {
    this.#history.record(moment);
    this.#sightings.note(moment, this.#at());
    for (const { id, title, agent } of this.#warned.note(
      moment,
      warnedBy(this.#options.config.policy),
      this.#at(),
    ))
      if (!this.#isSpared(id, agent))
        this.#options.say(`${id}: ${title}; it is ${this.#fateOf(id)} unless that changes`);
    this.#notePressure(moment);
    await this.#hold(moment);
    const { memory, collector } = this.#options;
    for (const warning of await memory.keep(moment, collector.lineage)) this.#warn(warning);
    const lost = memory.lostSessions();
    if (lost.length > 0) this.#options.say(lostText(lost));
  }

  /** It would be put to sleep, and sessions of its family never are. */
  #isSpared(id: WarnedFinding, { agent }: JudgedProcess): boolean {
    return id === 'idle-agent' && !this.#options.config.policy.idleAgents && whyNeverAsleep(agent) !== null;
  }

  #fateOf(id: WarnedFinding): string {
    const { policy } = this.#options.config;
    const sleeps = id === 'idle-agent' && policy.sleepIdle;
    return `${sleeps ? 'put to sleep' : 'ended'} in ${policy.warnSeconds} s`;
  }

  #notePressure(moment: Snapshot): void {
    const { config, say, pressure = readPressure } = this.#options;
    if (!config.policy.sleepUnderPressure) return;
    const at = this.#at();
    const warning = this.#pressed.note(moment, pressure(moment.host), this.#account.resting(at), at);
    if (warning !== null)
      say(`${warning}: it is put to sleep in ${config.policy.warnSeconds} s unless that changes`);
  }

  async #hold(moment: Snapshot): Promise<void> {
    const { change, warning } = await this.#holding.note(moment);
    this.#warn(warning);
    if (change === 'allowed') {
      this.#forget();
      this.#options.say('allowed: guard goes on');
    }
    if (change === 'held')
      this.#options.say(
        `held: ${this.#holding.held?.why}. Nothing is ended until you run: reaptop guard allow`,
      );
  }

  async #act(moment: JudgedSnapshot): Promise<void> {
    try {
      this.#waiting = 0;
      if (this.#mayEnd(moment)) await this.#endByPolicy();
      if (!this.#options.abort.aborted && this.#maySweep(moment)) await this.#sweepByPolicy(moment);
    } catch (error) {
      this.#warn(`the plan failed: ${(error as Error).message}`);
    }
  }

  /** Whether it is worth sampling every process of the machine to make a plan. */
  #mayEnd(moment: Snapshot): boolean {
    const { policy } = this.#options.config;
    const at = this.#at();
    return (
      (policy.leaks && this.#sightings.anyFor(policy.sightingSeconds, at)) ||
      (policy.zombieServers && says(moment, 'zombie')) ||
      (policy.builds && says(moment, 'concurrent-builds')) ||
      (policy.hungCalls && says(moment, 'call-hung')) ||
      this.#warned.due(moment, warnedBy(policy), policy.warnSeconds, at).length > 0 ||
      (policy.sleepUnderPressure && this.#pressed.due(policy.warnSeconds, at) !== null)
    );
  }

  async #endByPolicy(): Promise<void> {
    const { collector, config, abort } = this.#options;
    const sleeps = config.policy.sleepIdle || config.policy.sleepUnderPressure;
    const fresh = await (sleeps ? this.#engine.sampleClosely() : this.#engine.sample({ all: true }));
    this.#sightings.note(fresh, this.#at());
    const { acts, waiting } = planGuard({
      snapshot: fresh,
      lineageMembers: target => collector.lineage.membersOf(target),
      config,
      sightings: this.#sightings,
      warned: this.#warned,
      at: this.#at(),
      left: this.#budget.left(this.#at()),
      resting: this.#account.resting(this.#at()),
      pressed: this.#pressed.due(config.policy.warnSeconds, this.#at()),
      freed: this.#freed,
    });
    this.#waiting = waiting.length;
    if (waiting.length > 0)
      this.#warn(
        `${config.policy.endsPerHour} trees were ended within an hour: the rest is only reported (policy.endsPerHour)`,
      );
    for (const act of acts) {
      if (abort.aborted) return;
      await this.#end(act);
    }
  }

  async #end({ what, plan: light }: GuardAct): Promise<void> {
    const plan = await withPss(light, this.#options.system);
    const { abort, onOutcomes, say } = this.#options;
    const result = await this.#engine.execute(plan, { by: 'guard', why: WHY[what], signal: abort });
    // Another clean-up is running: the next sample shows what is left.
    if (result.status === 'held') return;
    if (what === 'sleepUnderPressure') this.#pressed.forget();
    for (const { calls } of plan.frees ?? []) for (const id of calls) this.#freed.add(id);
    for (const warning of result.warnings) this.#warn(warning);
    const { outcomes, otherOutcomes } = result.execution;
    for (const { outcome, target, why } of otherOutcomes)
      if (outcome !== 'done') this.#warn(`${target}: ${why}`);
    onOutcomes?.(outcomes);
    this.#budget.spend(rootsOf(plan).length, this.#at());
    this.#account.take(
      outcomes,
      new Map(plan.steps.map(step => [keyOf(step), keyOf(step.root)])),
      this.#at(),
    );
    const text = endingText(what, outcomes);
    this.#account.note(text, this.#wall());
    say(text);
  }

  #maySweep(moment: Snapshot): boolean {
    const { policy } = this.#options.config;
    if (!policy.sweep && !policy.staleFiles) return false;
    const idle = this.#at() - this.#sweptAt;
    return (
      idle >= RETENTION_SECONDS ||
      (idle >= Math.min(SWEEP_SECONDS, policy.sightingSeconds) && mayNeedSweep(moment))
    );
  }

  /** One pass of `sweep`, as far as the policy goes. */
  async #sweepByPolicy(first: JudgedSnapshot): Promise<void> {
    const { config, abort, onOutcomes, say } = this.#options;
    const { policy } = config;
    this.#sweptAt = this.#at();
    const planned = await this.#engine.planSweep({ retentionDays: policy.retentionDays }, first);
    this.#sweepSightings.note(planned.sweep, this.#at());
    const allowed = allowedSweep(planned.sweep, planned.moment, policy, (name, seconds) =>
      this.#sweepSightings.isConfirmed(name, seconds, this.#at()),
    );
    if (isEmptySweep(allowed)) return;
    const plan = this.#engine.narrowed(planned, allowed);
    const result = await this.#engine.execute(plan, { by: 'guard', why: 'policy: sweep', signal: abort });
    if (result.status === 'held' || result.execution.sweep === undefined) return;
    const { sweep, outcomes } = result.execution;
    for (const warning of [...result.warnings, ...sweep.warnings]) this.#warn(warning);
    onOutcomes?.(outcomes);
    this.#account.take(outcomes, new Map(), this.#at());
    const text = sweepText(sweep);
    this.#account.note(text, this.#wall());
    say(text);
  }

  /** Trees that an earlier guard ended within this hour count: killing guard is no way around its budget. */
  #recountEnds(): void {
    const wall = this.#wall();
    for (const { at, event, by, roots } of this.#audit.next())
      if (event === 'intent' && by === 'guard')
        this.#budget.spend(roots, this.#at() - Math.max(0, wall - at) / 1000);
  }

  async #report(moment: Snapshot | null, durationMs: number): Promise<void> {
    const { onLook, memory } = this.#options;
    const { held } = this.#holding;
    onLook?.({ snapshot: moment, durationMs, audited: this.#audit.next(), held, waiting: this.#waiting });
    if (moment !== null) this.#warn(await memory.publish(moment, this.#standing(held)));
  }

  /** What the status line, doctor and `guard status` show of guard. */
  #standing(held: Held | null): Omit<GuardReport, 'writer'> {
    return {
      since: this.#since,
      intervalSeconds: this.#options.intervalSeconds,
      held,
      paused: held === null ? this.whyPaused() : null,
      endsLastHour: this.endsLastHour(),
      endsPerHour: this.#options.config.policy.endsPerHour,
      waiting: this.#waiting,
      ended: this.#account.ended,
      reclaimedBytes: this.#account.reclaimedBytes,
      acts: this.#account.acts,
      warnings: [...this.#said].slice(-10),
    };
  }
}

/** `lost 2 sessions at 03:14 (it was killed, or crashed): proofs: claude --resume …`. */
const lostText = (sessions: readonly RememberedSession[]): string => {
  const at = formatMoment(sessions[0]?.at ?? 0);
  const whys = [...new Set(sessions.map(({ why }) => why ?? ''))].filter(Boolean).join('; ');
  const ways = sessions.map(session => `${wayBackName(session)}: ${resumeFromAnywhere(session)}`).join(', ');
  return `lost ${plural(sessions.length, 'session')} at ${at} (${whys}): ${ways}`;
};

const says = ({ findings }: Snapshot, id: FindingId): boolean => findings.some(finding => finding.id === id);

export interface GuardOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly intervalSeconds: number;
  readonly graceMs: number;
  /** The state directory; null when there is no place for one. */
  readonly directory: string | null;
  readonly memory: Memory;
  readonly abort: AbortSignal;
  /** One line for the journal. */
  readonly say: (line: string) => void;
  /** Called after every look, for metrics. */
  readonly onLook?: (look: LookReport) => void;
  readonly onOutcomes?: (outcomes: readonly Outcome[]) => void;
  readonly clock?: Clock;
  readonly wall?: () => number;
  /** Seconds since boot, sleep included. */
  readonly uptime: () => number;
  /** How short memory is; absent: as the kernel says. */
  readonly pressure?: (host: HostFacts) => PressureFacts;
}

/** What one look found and did. */
export interface LookReport {
  /** null: the look failed. */
  readonly snapshot: Snapshot | null;
  readonly durationMs: number;
  readonly audited: readonly AuditedAct[];
  readonly held: Held | null;
  readonly waiting: number;
}

/** Servers are still being started, sessions still registering. */
const PAUSE_SECONDS = 120;

/** A look that comes this much later than it should was slept through. */
const LATE_SECONDS = 20;

export interface ClockReading {
  /** Seconds of a clock that stands still while the machine sleeps. */
  readonly monotonic: number;
  /** Seconds since boot, sleep included. */
  readonly uptime: number;
}

/** Detects that the machine just started or woke up: owners are not known yet then. */
export class Pauses {
  #dueSeconds: number;
  #before: ClockReading | null = null;
  #wokeAt: number | null = null;

  constructor(intervalSeconds: number) {
    this.#dueSeconds = intervalSeconds;
  }

  /** The next samples come this far apart on purpose; returns the seconds. */
  spaced(seconds: number): number {
    this.#dueSeconds = seconds;
    return seconds;
  }

  /** Call it at every sample; true when the machine slept since the last. */
  note(now: ClockReading): boolean {
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
  why({ monotonic, uptime }: ClockReading): string | null {
    if (uptime < PAUSE_SECONDS) return `the machine started ${Math.round(uptime)} s ago`;
    if (this.#wokeAt === null || monotonic - this.#wokeAt >= PAUSE_SECONDS) return null;
    return `the machine woke up ${Math.round(monotonic - this.#wokeAt)} s ago`;
  }
}
