import {
  completeEarlierActs,
  type Execution,
  type ExecutionResult,
  executeSteps,
  executeWith,
  type StepsResult,
} from '../act/execute.ts';
import { sendEscape } from '../act/send-escape.ts';
import { stopBackgroundSession } from '../act/stop-claude-session.ts';
import { executeSweep, type SweepResult } from '../act/sweep/execute-sweep.ts';
import { gatherSweepFacts } from '../act/sweep/sweep-facts.ts';
import type { TerminateOptions } from '../act/terminate/terminate.ts';
import { outcomeFor } from '../act/terminate/tracked.ts';
import { wakeSession } from '../act/wake.ts';
import { whyNeverAsleep } from '../agents/resume.ts';
import type { Past } from '../judge/history.ts';
import type { JudgedSnapshot } from '../judge/judge.ts';
import { planClean } from '../judge/plan/clean.ts';
import { handPolicy, leakPolicy } from '../judge/plan/compose.ts';
import { planEnd, planSignal } from '../judge/plan/end.ts';
import { planFix, planFixFiles, shownFixFiles, whyNotFixedAgain } from '../judge/plan/fix.ts';
import { freeStep, paneOfAgent, stillHangs } from '../judge/plan/free-call.ts';
import { planSleep } from '../judge/plan/sleep.ts';
import { planSweep } from '../judge/plan/sweep.ts';
import { asPlan, type SweepPlan } from '../judge/plan/sweep-plan.ts';
import { planZombies } from '../judge/plan/zombies.ts';
import { runningSessions, type SessionEvent } from '../judge/remembered.ts';
import { confirmedBy } from '../judge/seen-twice.ts';
import { type RememberedSession, sessionKey } from '../model/asleep.ts';
import type { Config } from '../model/config.ts';
import { type Finding, sameFinding } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import {
  type ActRequest,
  type AskedBy,
  bytesBack,
  EMPTY_PLAN,
  type FixWay,
  type FreedCall,
  type OtherOutcome,
  type OtherStep,
  type Outcome,
  type OutcomeKind,
  type Plan,
  SLEEP_GRACE_MS,
  type SleepingSession,
  type Step,
} from '../model/plan.ts';
import { summariseAll } from '../model/plan-text.ts';
import { isZombie } from '../model/process.ts';
import { awaitsSample, identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { plural } from '../model/units.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { Yielder } from '../observe/time-slice.ts';
import { noteSessions, type SessionNote, tryRemember } from '../remember/asleep.ts';
import type { AgentFiles } from './agent-files.ts';
import { ACTIVITY_MS, type Collector, rest, type SampleOptions } from './collector.ts';
import type { Prepared } from './prepare.ts';

export interface EngineOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  /** What earlier samples showed, for findings that need a past. */
  readonly past?: Past | undefined;
  /** Where executions are recorded. Absent: the user's state directory; null: nowhere. */
  readonly directory?: string | null | undefined;
  readonly graceMs?: number | undefined;
}

export interface PlanOptions {
  readonly by: AskedBy;
  /** What the user was looking at, or the first of two samples: a leak must be in this one too. */
  readonly shown?: Snapshot | undefined;
  /** Plan from this one instead of a fresh sample. */
  readonly snapshot?: Snapshot | undefined;
}

export interface ExecuteOptions
  extends Pick<TerminateOptions, 'signal' | 'onProgress' | 'confirmed' | 'graceMs' | 'kills'> {
  readonly by: AskedBy;
  /** Why it was asked for, for the record: the key, the flags, the policy. */
  readonly why: string;
  /** Where agents' files are read from when the plan is rechecked. */
  readonly files?: AgentFiles | undefined;
}

/** What became of a plan: of its processes, and of its files and sessions. */
export interface Executed extends Execution {
  readonly otherOutcomes: readonly OtherOutcome[];
  readonly summary: string;
  readonly warnings: readonly string[];
  /** What changed for the worse since the plan was made; then nothing was done. */
  readonly worse: readonly string[];
  readonly stopped: string | null;
  /** Of a plan that sweeps. */
  readonly sweep?: SweepResult;
}

export interface SweepLimits {
  readonly retentionDays: number;
  readonly stillSeconds?: number | undefined;
}

export interface PlannedSweep {
  readonly moment: JudgedSnapshot;
  readonly sweep: SweepPlan;
  /** The same as a plan to execute. */
  readonly plan: Plan;
}

/** A session that is to come back; `run`: its command is entered, and not only typed. */
interface Wake {
  readonly session: RememberedSession;
  readonly run: boolean;
}

type Fix = Pick<Extract<ActRequest, { act: 'fix' }>, 'finding' | 'way'>;

/** What is recorded beside the signals of a plan; files have records of their own. */
const RECORDED: ReadonlySet<OtherStep['act']> = new Set([
  'claude-stop',
  'free-call',
  'send-escape',
  'sleep',
  'wake',
]);

/** An agent notices within a second that its call is over. */
const FREED_MS = 5000;
const FREED_STEP_MS = 250;

/** Not where its log cannot be read: unknown is not over. An agent that has ended is not free. */
const isFreed = ({ agent, calls }: FreedCall, processes: readonly JudgedProcess[]): boolean => {
  const session = processes.find(p => keyOf(p.facts) === keyOf(agent))?.session;
  if (session == null) return false;
  if (calls.length === 0) return session.doing !== null && session.doing !== 'busy';
  return session.calls !== undefined && !session.calls.some(({ id }) => calls.includes(id));
};

interface KnownSweep {
  readonly sweep: SweepPlan;
  readonly replan: () => Promise<SweepPlan>;
}

/** Its agent has ended, and the conversation is in its log. */
const SLEPT: ReadonlySet<OutcomeKind> = new Set(['ended', 'zombie', 'respawned']);

/** The servers of an agent notice within a second that it has ended. */
const SERVERS_MS = 3000;
const SERVERS_STEP_MS = 50;

/** An agent registers within seconds, and later on a machine that is short of memory. */
const WAKE_MS = 20_000;
const WAKE_STEP_MS = 500;

/** A process between fork and exec looks leaked, but not for this long. */
const BETWEEN_MS = 300;

/**
 * Sample, plan, execute: the same for the screen, guard, `clean`, `sweep`, fixes and hooks. A plan is made from a
 * sample, shown or checked by the face that asked for it, rechecked against a fresh sample, and then executed and recorded.
 */
export class Engine {
  readonly #options: EngineOptions;
  /** What plans that sweep do to files and sessions: their own steps only describe it. */
  readonly #sweeps = new WeakMap<Plan, KnownSweep>();
  /** Plans that fix a finding are made once more before they are executed. */
  readonly #fixes = new WeakMap<Plan, Fix>();
  readonly #wakes = new WeakMap<Plan, Wake>();
  #boot: string | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  async sample(options: SampleOptions = {}): Promise<JudgedSnapshot> {
    const { collector, past } = this.#options;
    const moment = await collector.collect({ ...(past === undefined ? {} : { past }), ...options });
    this.#boot = moment.host.bootId;
    return moment;
  }

  /** What both of two samples say: a second apart where work is in question, else as long as an exec may take. */
  async sampleTwice(): Promise<Snapshot> {
    const first = await this.sample({ all: true });
    await rest(awaitsSample(first) ? ACTIVITY_MS : BETWEEN_MS);
    return confirmedBy(first, await this.sample({ all: true }));
  }

  /** What would be done; nothing is signalled. */
  async plan(request: ActRequest, { by, shown, snapshot }: PlanOptions): Promise<Plan> {
    if (request.act === 'fix') return this.#planFix(request, shown);
    if (request.act === 'sleep') {
      const moment = snapshot ?? (await this.sampleClosely());
      const plan = planSleep({ ...this.#context(moment), ...request, by });
      return by === 'tui' ? { ...plan, otherWay: 'end' } : plan;
    }
    const fresh = snapshot ?? (await this.sample({ all: true }));
    const confirmed = request.act === 'clean' && shown !== undefined ? confirmedBy(shown, fresh) : fresh;
    const plan = await withPss(this.#planFrom(request, confirmed, by), this.#options.system);
    return maySleepInstead(request, confirmed) ? { ...plan, otherWay: 'sleep' } : plan;
  }

  /** What finished agents left. Two samples: CPU is only known between two. */
  async planSweep(limits: SweepLimits, first?: JudgedSnapshot): Promise<PlannedSweep> {
    const before = first ?? (await this.sample({ all: true }));
    const facts = await gatherSweepFacts(before.files);
    const planFor = (moment: JudgedSnapshot): SweepPlan =>
      planSweep({ ...this.#context(moment), files: moment.files, facts, ...limits });
    if (first === undefined) await rest(BETWEEN_MS);
    const moment = await this.sample({ all: true, fresh: true });
    const sweep = await this.#weighed(planFor(moment));
    return {
      moment,
      sweep,
      plan: this.#known(asPlan(sweep), {
        sweep,
        replan: async () => planFor(await this.sample({ all: true, fresh: true })),
      }),
    };
  }

  /** The part of a sweep that a policy allows, as a plan to execute. */
  narrowed({ plan }: PlannedSweep, sweep: SweepPlan): Plan {
    const known = this.#sweeps.get(plan);
    if (known === undefined) throw new Error('this plan was not made here');
    return this.#known(asPlan(sweep), { ...known, sweep });
  }

  /** Under the run lock: intent, recheck, signals, files and sessions, verified outcomes, record. */
  execute(plan: Plan, options: ExecuteOptions): Promise<ExecutionResult<Executed>> {
    const { system, directory } = this.#options;
    const { by, why } = options;
    const boot = this.#boot;
    const sessions = this.#sessionsOf(plan);
    const run = async (): Promise<Executed> => {
      const startedAt = performance.now();
      const done = await this.#run(plan, options);
      return { ...done, durationMs: performance.now() - startedAt };
    };
    return executeWith({ system, by, why, plan, sessions, boot, directory, run });
  }

  /** For a run with nothing to execute: the record of one that was killed is completed all the same. */
  completeEarlierActs(by: AskedBy): Promise<void> {
    const { system, directory } = this.#options;
    return completeEarlierActs(system, by, this.#boot, directory);
  }

  async #run(plan: Plan, options: ExecuteOptions): Promise<Executed> {
    const known = this.#sweeps.get(plan);
    if (known !== undefined) return this.#sweep(known, options);
    if (plan.sleep !== undefined) return this.#sleep(plan, plan.sleep, options);
    const wake = this.#wakes.get(plan);
    if (wake !== undefined) return this.#wake(plan, wake, options);
    const fix = this.#fixes.get(plan);
    if (fix !== undefined) return this.#fix(plan, fix, options);
    if (plan.frees === undefined && (plan.otherSteps ?? []).length > 0)
      throw new Error('this plan was not made here');
    if (plan.frees === undefined) return this.#steps(plan, options);
    // What was hung when a policy planned this may have come back meanwhile.
    const moment = await this.sample({ all: true, fresh: true });
    const stays = new Set(
      plan.frees.flatMap(freed =>
        freed.server === null || stillHangs(freed, moment) ? [] : [keyOf(freed.server)],
      ),
    );
    const frees = plan.frees.filter(({ server }) => server !== null && !stays.has(keyOf(server)));
    const steps = plan.steps.filter(step => !stays.has(keyOf(step.root)));
    const left = { ...plan, steps, frees, otherSteps: frees.map(freeStep) };
    return steps.length === 0 ? NOTHING : this.#withOthers(left, await this.#steps(left, options), options);
  }

  async #steps(plan: Plan, options: ExecuteOptions): Promise<Executed & StepsResult> {
    const { system, config, graceMs } = this.#options;
    const { files, signal, onProgress, confirmed, kills } = options;
    const closely = plan.sleep !== undefined;
    const done = await executeSteps({
      system,
      plan,
      signal,
      onProgress,
      confirmed,
      kills,
      graceMs: options.graceMs ?? graceMs,
      quietSeconds: config.thresholds.zombie.quietSeconds,
      resample: () =>
        this.sample({ all: true, fresh: true, closely, ...(files === undefined ? {} : { files }) }),
    });
    return { ...done, otherOutcomes: [] };
  }

  /** Who uses what is below live agents, and what works there, which shows only between two samples. */
  async sampleClosely(): Promise<JudgedSnapshot> {
    await this.sample({ all: true, closely: true });
    await rest(ACTIVITY_MS);
    return this.sample({ all: true, closely: true, fresh: true });
  }

  /** One after the other: each is judged again right before its own signal, and its way back is on disk by then. */
  async #sleep(
    plan: Plan,
    { sessions, minimumIdleSeconds }: NonNullable<Plan['sleep']>,
    options: ExecuteOptions,
  ): Promise<Executed> {
    // What works is known between two samples only; the second is the recheck.
    await this.sample({ all: true, closely: true });
    await rest(ACTIVITY_MS);
    const outcomes: Outcome[] = [];
    const otherOutcomes: OtherOutcome[] = [];
    const warnings: string[] = [];
    for (const session of sessions) {
      const step = plan.steps.find(one => keyOf(one) === keyOf(session.agent));
      const chore = plan.otherSteps?.[sessions.indexOf(session)];
      if (step === undefined || chore === undefined) continue;
      const one: Plan = { ...plan, steps: [step], sleep: { sessions: [session], minimumIdleSeconds } };
      const done = await this.#sleepOne(one, session, chore, options);
      outcomes.push(...done.outcomes);
      otherOutcomes.push(done.other);
      warnings.push(...done.warnings);
    }
    const summary = summariseAll(outcomes, otherOutcomes);
    return { ...NOTHING, outcomes, otherOutcomes, sessions: otherOutcomes, summary, warnings };
  }

  async #sleepOne(
    plan: Plan,
    { way, members }: SleepingSession,
    chore: OtherStep,
    options: ExecuteOptions,
  ): Promise<Pick<Executed, 'outcomes' | 'warnings'> & { readonly other: OtherOutcome }> {
    const refused = (why: string) => {
      const outcomes = plan.steps.map(step => outcomeFor(step, 'refused', why));
      for (const outcome of outcomes) options.onProgress?.({ type: 'outcome', outcome });
      return { outcomes, warnings: [], other: { ...chore, outcome: 'skipped', why } as const };
    };
    const { system } = this.#options;
    const left = system.readOnly ?? (options.signal?.aborted === true ? 'it was cancelled' : null);
    if (left !== null) return refused(left);
    const unwritten = this.#remember([{ ...way, state: 'asleep', at: Date.now() }]);
    if (unwritten !== null) return refused(`its way back could not be written: ${unwritten}`);
    const { outcomes, warnings } = await this.#steps(plan, { ...options, graceMs: SLEEP_GRACE_MS });
    const outcome = outcomes.find(one => keyOf(one) === keyOf(way));
    if (outcome === undefined || !SLEPT.has(outcome.outcome)) {
      const state = outcome?.outcome === 'gone' ? 'gone' : 'running';
      const failed = this.#remember([
        state === 'gone' ? { ...way, state } : { ...way, state, at: Date.now() },
      ]);
      return {
        outcomes,
        warnings: failed === null ? warnings : [...warnings, failed],
        other: { ...chore, outcome: 'skipped', why: outcome?.why ?? 'it was not ended' },
      };
    }
    const { freed, remain } = await this.#freedWith(members);
    const more =
      remain === 0
        ? ''
        : `; ${plural(remain, 'process', 'processes')} of it remain, and are judged like any other`;
    return {
      outcomes: outcomes.map(one => (one === outcome ? { ...one, freed, about: true } : one)),
      warnings,
      other: { ...chore, outcome: 'done', why: `asleep; ${chore.why}${more}` },
    };
  }

  /** What came back with a session: its servers end a moment later. */
  async #freedWith(members: SleepingSession['members']): Promise<{ freed: number; remain: number }> {
    const { system } = this.#options;
    for (const until = performance.now() + SERVERS_MS; ; await rest(SERVERS_STEP_MS)) {
      let remain = 0;
      let freed = 0;
      for (const { pid, start, bytes } of members) {
        const now = await system.presence(pid);
        const runs =
          now.status === 'unreadable' ||
          (now.status === 'present' && now.identity.start === start && !isZombie(now));
        if (runs) remain += 1;
        else freed += bytes;
      }
      if (remain === 0 || performance.now() >= until) return { freed, remain };
    }
  }

  /** Why it is not on disk now; null: it is. */
  #remember(events: readonly SessionEvent[]): string | null {
    const { system } = this.#options;
    // Nothing of an invented machine is written down.
    if (system.inventedRecords !== undefined) return null;
    const directory = this.#directory();
    if (directory === null) return 'there is no state directory';
    return tryRemember(directory, events);
  }

  #directory(): string | null {
    const { directory } = this.#options;
    return directory === undefined ? statePlace().directory : directory;
  }

  /** Sessions that run, sleep or are lost, after what is seen now has been written down. */
  remembered(snapshot: Snapshot): SessionNote {
    const { system } = this.#options;
    const directory = this.#directory();
    if (system.readOnly !== null || system.inventedRecords !== undefined || directory === null)
      return { sessions: [], lost: [], warning: null };
    return noteSessions(directory, snapshot);
  }

  /** A plan that brings a session back. */
  planWake(session: RememberedSession, run: boolean): Plan {
    const why = run ? 'its command is entered' : 'its command is typed; you press Enter';
    const plan: Plan = {
      ...EMPTY_PLAN,
      otherSteps: [
        { act: 'wake', target: `${session.agent} ${session.id}`, why: `${why}: ${session.resume}` },
      ],
    };
    this.#wakes.set(plan, { session, run });
    return plan;
  }

  async #wake(plan: Plan, { session, run }: Wake, options: ExecuteOptions): Promise<Executed> {
    const [chore] = plan.otherSteps as readonly [OtherStep];
    const { env } = this.#options;
    const ended = (outcome: OtherOutcome['outcome'], why: string): Executed => {
      const otherOutcomes = [{ ...chore, outcome, why }];
      return { ...NOTHING, otherOutcomes, sessions: otherOutcomes, summary: why };
    };
    const left = this.#whyNotNow(options.signal);
    if (left !== null) return ended('skipped', left);
    const moment = await this.sample({ all: true, fresh: true });
    const running = runningSessions(moment).find(way => sessionKey(way) === sessionKey(session));
    if (running !== undefined) return ended('gone', `it runs already: ${running.agent} (${running.pid})`);
    const result = await wakeSession(session, moment, { env, run });
    if (result.status !== 'typed')
      return ended(result.status === 'failed' ? 'failed' : 'skipped', result.why);
    const where = `in tmux ${result.session} ${result.pane}${result.isNew ? ', a new window' : ', where it was'}`;
    if (!run) return ended('done', `typed ${where}: press Enter there`);
    for (const until = performance.now() + WAKE_MS; performance.now() < until; await rest(WAKE_STEP_MS)) {
      const now = runningSessions(await this.sample({ all: true, fresh: true }));
      const back = now.find(way => sessionKey(way) === sessionKey(session));
      if (back === undefined) continue;
      this.#remember([{ ...back, state: 'running', at: Date.now() }]);
      return ended('done', `awake as ${back.agent} (${back.pid}) ${where}`);
    }
    return ended('done', `started ${where}; it has not registered yet`);
  }

  async #sweep({ sweep, replan }: KnownSweep, options: ExecuteOptions): Promise<Executed> {
    const { system, env, graceMs } = this.#options;
    const { signal, onProgress } = options;
    const result = await executeSweep({
      plan: sweep,
      replan,
      system,
      env,
      signal,
      onProgress,
      graceMs: options.graceMs ?? graceMs,
      resample: () => this.sample({ all: true, fresh: true }),
    });
    const otherOutcomes = otherOutcomesOf(result);
    const summary = summariseAll(result.outcomes, otherOutcomes);
    return { ...result, otherOutcomes, summary, worse: [], stopped: null, sweep: result };
  }

  /** A fix is planned once more: nothing is done that would not be planned now. */
  async #fix(plan: Plan, { finding, way }: Fix, options: ExecuteOptions): Promise<Executed> {
    const moment = await this.sample({ all: true, fresh: plan.frees !== undefined });
    const worse = whyNotFixedAgain(plan, this.#fixFrom(finding, moment, way), finding.action, moment);
    if (worse.length > 0) {
      const summary = `read the plan again: ${worse[0]}`;
      const outcomes = plan.steps.map(step => outcomeFor(step, 'refused', summary));
      for (const outcome of outcomes) options.onProgress?.({ type: 'outcome', outcome });
      return { ...NOTHING, outcomes, summary, worse };
    }
    const done = plan.steps.length === 0 ? NOTHING : await this.#steps(plan, options);
    return this.#withOthers(plan, done, options, moment);
  }

  /** What is no signal, after the signals. */
  async #withOthers(
    plan: Plan,
    done: Executed,
    options: ExecuteOptions,
    moment?: JudgedSnapshot,
  ): Promise<Executed> {
    if (done.worse.length > 0 || plan.otherSteps === undefined) return done;
    const otherOutcomes: OtherOutcome[] = [];
    for (const chore of plan.otherSteps) {
      if (chore.act === 'claude-stop') otherOutcomes.push(await this.#stopSession(chore, options.signal));
      if (chore.act === 'free-call') otherOutcomes.push(await this.#awaitFreed(chore, plan));
      if (chore.act === 'send-escape' && moment !== undefined)
        otherOutcomes.push(await this.#interrupt(chore, plan, moment, options.signal));
    }
    return {
      ...done,
      otherOutcomes,
      sessions: otherOutcomes,
      summary: summariseAll(done.outcomes, otherOutcomes),
    };
  }

  /** Why nothing that is no signal may be done now; null: it may. */
  #whyNotNow(signal: AbortSignal | undefined): string | null {
    const { system } = this.#options;
    return (
      system.readOnly ??
      (signal?.aborted === true ? 'it was cancelled' : null) ??
      (system.inventedRecords === undefined ? null : 'this machine is invented: nothing was run')
    );
  }

  /** Escape in the agent's own pane, and whether it helped. */
  async #interrupt(
    chore: OtherStep,
    plan: Plan,
    moment: JudgedSnapshot,
    signal: AbortSignal | undefined,
  ): Promise<OtherOutcome> {
    const { env, system } = this.#options;
    const left = this.#whyNotNow(signal);
    if (left !== null) return { ...chore, outcome: 'skipped', why: left };
    const key = plan.frees?.[0] === undefined ? null : keyOf(plan.frees[0].agent);
    const agent = moment.processes.find(p => keyOf(p.facts) === key);
    const pane = agent === undefined ? null : paneOfAgent(agent, moment);
    if (agent === undefined || pane === null) return { ...chore, outcome: 'skipped', why: 'it is gone' };
    const target = { agent: identityOf(agent), family: agent.agent, pane };
    const result = await sendEscape(target, { system, env });
    if (result.status !== 'sent')
      return { ...chore, outcome: result.status === 'refused' ? 'skipped' : 'failed', why: result.why };
    return this.#awaitFreed(chore, plan);
  }

  /** Samples until the calls of a plan are over, for five seconds at most: what is done is verified, not assumed. */
  async #awaitFreed(chore: OtherStep, { frees = [] }: Plan): Promise<OtherOutcome> {
    const { system } = this.#options;
    if (system.inventedRecords !== undefined)
      return { ...chore, outcome: 'skipped', why: 'this machine is invented' };
    let pending = frees;
    for (const until = performance.now() + FREED_MS; ; await rest(FREED_STEP_MS)) {
      const { processes } = await this.sample({ all: true });
      pending = pending.filter(freed => !isFreed(freed, processes));
      if (pending.length === 0)
        return { ...chore, outcome: 'done', why: 'the call is over; the agent goes on' };
      if (performance.now() >= until) break;
    }
    const why = `it is still pending after ${FREED_MS / 1000} s`;
    return { ...chore, outcome: 'failed', why };
  }

  /** `claude stop ID`. */
  async #stopSession(chore: OtherStep, signal: AbortSignal | undefined): Promise<OtherOutcome> {
    const { env } = this.#options;
    const left = this.#whyNotNow(signal);
    if (left !== null) return { ...chore, outcome: 'skipped', why: left };
    const result = await stopBackgroundSession(chore.target, { env });
    return result.status === 'stopped'
      ? { ...chore, outcome: 'done' }
      : { ...chore, outcome: 'failed', why: result.why };
  }

  #context(snapshot: Snapshot) {
    const { lineage } = this.#options.collector;
    return { snapshot, lineageMembers: (target: string) => lineage.membersOf(target) };
  }

  #planFrom(request: Exclude<ActRequest, { act: 'fix' | 'sleep' }>, snapshot: Snapshot, by: AskedBy): Plan {
    const context = this.#context(snapshot);
    switch (request.act) {
      case 'end': {
        const policy = handPolicy(request.force ? 'SIGKILL' : 'SIGTERM');
        return planEnd({ ...context, targets: request.targets, policy });
      }
      case 'clean': {
        const { suspects = false, minimumAgeSeconds = 0, kinds, pids, within, asked } = request;
        return planClean({
          ...context,
          policy: leakPolicy(by, { suspects, minimumAgeSeconds, asked }),
          kinds,
          pids,
          within,
        });
      }
      case 'zombies': {
        const limits = this.#options.config.thresholds.zombie;
        const { minimumAgeSeconds = limits.minimumAgeSeconds, quietSeconds = limits.quietSeconds } = request;
        const { targets, nudgeOnly } = request;
        return planZombies({ ...context, by, minimumAgeSeconds, quietSeconds, targets, nudgeOnly });
      }
      case 'signal':
        return planSignal({ snapshot, targets: request.targets, signal: request.signal });
    }
  }

  async #planFix({ finding, way }: Fix, shown: Snapshot | undefined): Promise<Plan> {
    if (finding.action === 'sweep' || finding.action === 'remove-file') return this.#planFixFiles(finding);
    const closely = finding.action === 'sleep' && way !== 'end';
    const moment = await (closely ? this.sampleClosely() : this.sample({ all: true }));
    const plan = await withPss(this.#fixFrom(finding, moment, way, shown), this.#options.system);
    this.#fixes.set(plan, { finding, way });
    return plan;
  }

  /** As `clean` does it: a leak must have been seen before. */
  #fixFrom(
    finding: Finding,
    moment: JudgedSnapshot,
    way: FixWay | undefined,
    shown: Snapshot = moment,
  ): Plan {
    const snapshot = finding.action === 'clean' ? confirmedBy(shown, moment) : moment;
    return planFix({ ...this.#context(snapshot), finding, way, config: this.#options.config });
  }

  async #planFixFiles(finding: Finding): Promise<Plan> {
    const { config, system } = this.#options;
    if (system.inventedRecords !== undefined || system.readOnly !== null)
      return shownFixFiles(
        nothingOf(finding, system.readOnly ?? 'this machine is invented: it has no files'),
      );
    const facts = await gatherSweepFacts((await this.sample({ all: true })).files);
    const replan = async (): Promise<SweepPlan> => {
      const moment = await this.sample({ all: true, fresh: true });
      const now = sameFinding(finding, moment.findings);
      if (now === undefined) return nothingOf(finding, 'it is already resolved');
      const { retentionDays } = config.policy;
      return planFixFiles({ ...this.#context(moment), files: moment.files, facts, retentionDays }, now);
    };
    const sweep = await this.#weighed(await replan());
    return this.#known(shownFixFiles(sweep), { sweep, replan });
  }

  async #weighed(sweep: SweepPlan): Promise<SweepPlan> {
    return { ...sweep, ending: await withPss(sweep.ending, this.#options.system) };
  }

  #known(plan: Plan, known: KnownSweep): Plan {
    this.#sweeps.set(plan, known);
    return plan;
  }

  /** tmux sessions and jobs that are to end, for the record. */
  #sessionsOf(plan: Plan): readonly object[] {
    const jobs = (plan.otherSteps ?? []).filter(({ act }) => RECORDED.has(act));
    return [...(this.#sweeps.get(plan)?.sweep.sessions ?? []), ...jobs];
  }
}

/** The engine of a command; `files`: where agents' files are read from. */
export const engineOf = ({ collectorWith, system, config, env }: Prepared, files: AgentFiles): Engine =>
  new Engine({ collector: collectorWith(files), system, config, env });

/** The kernel adds up every mapping for one answer: beyond this many a plan would keep its reader waiting. */
const MOST_READ = 1000;

/**
 * Reads what each member of a plan holds for itself: ten forks that share 200 MiB give back 200 MiB, not two
 * gigabytes. What cannot be read keeps its RSS, and the total is called "about".
 */
export const withPss = async (plan: Plan, system: Pick<System, 'proportionalMemory'>): Promise<Plan> => {
  // Its one step stands for a whole tree.
  if (plan.sleep !== undefined) return plan;
  const slice = new Yielder();
  const steps: Step[] = [];
  for (const step of plan.steps) {
    const counts = step.rss > 0 && steps.length < MOST_READ;
    steps.push(counts ? { ...step, pss: await system.proportionalMemory(step.pid) } : step);
    await slice.maybeYield();
  }
  return { ...plan, steps, bytes: bytesBack(steps) };
};

const NOTHING: Executed = {
  outcomes: [],
  otherOutcomes: [],
  durationMs: 0,
  summary: '',
  warnings: [],
  worse: [],
  stopped: null,
};

/** Who ends one idle session may want it back. */
const maySleepInstead = (request: ActRequest, { processes }: Snapshot): boolean => {
  if (request.act !== 'end' || request.force || request.targets.length !== 1) return false;
  const key = keyOf(request.targets[0]!);
  const p = processes.find(one => keyOf(one.facts) === key);
  return p?.isSession === true && p.session?.doing === 'idle' && whyNeverAsleep(p.agent) === null;
};

const nothingOf = ({ files, title }: Finding, why: string): SweepPlan => ({
  ending: { steps: [], refused: [], files: [], bytes: 0 },
  sessions: [],
  files: [],
  refused: (files.length > 0 ? files : [title]).map(what => ({ what, why })),
  archivedBytes: 0,
  freedBytes: 0,
});

const SESSION_OUTCOMES = {
  ended: 'done',
  gone: 'gone',
  refused: 'skipped',
  skipped: 'skipped',
  failed: 'failed',
} as const;

const otherOutcomesOf = ({ sessions, files }: SweepResult): readonly OtherOutcome[] => [
  ...sessions.map(({ session, outcome, why }): OtherOutcome => {
    return { act: 'end-session', target: session, outcome: SESSION_OUTCOMES[outcome], why };
  }),
  ...files.map(({ act, path, outcome, why }): OtherOutcome => ({ act, target: path, outcome, why })),
];
