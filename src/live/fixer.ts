import { stopBackgroundSession } from '../act/claude-stop.ts';
import type { Deed } from '../act/perform.ts';
import { gatherSweepFacts } from '../act/sweep/facts.ts';
import { runSweep, type SweepResult } from '../act/sweep/run.ts';
import type { Collector } from '../collect/collector.ts';
import { weigh } from '../collect/weigh.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import type { Past } from '../judge/past.ts';
import { planFix, whyNotFixedAgain } from '../judge/plan/fix.ts';
import { planFixFiles, shownFixFiles } from '../judge/plan/fix-files.ts';
import type { SweepPlan } from '../judge/plan/sweep-plan.ts';
import { confirmedBy } from '../judge/rules/confirm.ts';
import type { Config } from '../model/config.ts';
import { type Finding, sameFinding } from '../model/finding.ts';
import type { Chore, ChoreOutcome, Outcome, Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';

export interface FixerOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
}

interface FixingFiles {
  readonly plan: SweepPlan;
  readonly again: () => Promise<SweepPlan>;
}

export interface FixedFiles extends Deed {
  readonly chores: readonly ChoreOutcome[];
}

/** Plans what mends a finding, and does what of it is no signal. What it plans is made by the planners of the commands. */
export class Fixer {
  readonly #options: FixerOptions;
  readonly #past: Past;
  /** What a plan that was shown does to files: its own steps and chores only tell of it. */
  readonly #files = new WeakMap<Plan, FixingFiles>();

  constructor(options: FixerOptions, past: Past) {
    this.#options = options;
    this.#past = past;
  }

  async plan(finding: Finding, shown: Snapshot): Promise<Plan> {
    if (finding.action === 'sweep' || finding.action === 'remove-file') return this.#planFiles(finding);
    const moment = await this.#look();
    return weigh(this.#planProcesses(finding, moment, shown), this.#options.system);
  }

  /** Why a plan that was read is not to be carried out any more: it would not be made again. */
  async whyNot(plan: Plan, finding: Finding): Promise<readonly string[]> {
    const moment = await this.#look();
    const fresh = this.#planProcesses(finding, moment, moment);
    return whyNotFixedAgain(plan, fresh, finding.action, moment);
  }

  touchesFiles(plan: Plan): boolean {
    return this.#files.has(plan);
  }

  /** tmux sessions and jobs that are to end, for the record. */
  sessionsOf(plan: Plan): readonly object[] {
    const jobs = (plan.chores ?? []).filter(({ act }) => act === 'claude-stop');
    return [...(this.#files.get(plan)?.plan.sessions ?? []), ...jobs];
  }

  async sweep(
    plan: Plan,
    { signal, graceMs, onOutcome }: Sweeping,
  ): Promise<SweepResult & Pick<FixedFiles, 'chores'>> {
    const files = this.#files.get(plan);
    if (files === undefined) throw new Error('this plan was not made here');
    const { system, env } = this.#options;
    const result = await runSweep({
      plan: files.plan,
      planAgain: files.again,
      system,
      env,
      snapshotAgain: () => this.#look(true),
      signal,
      graceMs,
      onProgress: progress => {
        if (progress.type === 'outcome') onOutcome(progress.outcome);
      },
    });
    return { ...result, chores: choresOf(result) };
  }

  /** `claude stop ID`, one after the other. */
  async stopSessions(plan: Plan, signal: AbortSignal): Promise<readonly ChoreOutcome[]> {
    const done: ChoreOutcome[] = [];
    for (const chore of plan.chores ?? [])
      if (chore.act === 'claude-stop') done.push(await this.#stopSession(chore, signal));
    return done;
  }

  async #stopSession(chore: Chore, signal: AbortSignal): Promise<ChoreOutcome> {
    const { env, system } = this.#options;
    const left = system.readOnly ?? (signal.aborted ? 'it was cancelled' : null);
    if (left !== null) return { ...chore, outcome: 'skipped', why: left };
    if (system.around !== undefined)
      return { ...chore, outcome: 'skipped', why: 'this machine is invented: nothing was run' };
    const result = await stopBackgroundSession(chore.target, { env });
    return result.status === 'stopped'
      ? { ...chore, outcome: 'done' }
      : { ...chore, outcome: 'failed', why: result.why };
  }

  #look(fresh = false): Promise<JudgedMoment> {
    return this.#options.collector.collect({ all: true, past: this.#past, fresh });
  }

  #planProcesses(finding: Finding, moment: JudgedMoment, shown: Snapshot): Plan {
    const { collector, config } = this.#options;
    // As `c` does it: a leak must have been seen before.
    const snapshot = finding.action === 'clean' ? confirmedBy(shown, moment) : moment;
    return planFix({
      snapshot,
      lineageMembers: target => collector.lineage.membersOf(target),
      finding,
      config,
    });
  }

  async #planFiles(finding: Finding): Promise<Plan> {
    const { collector, config, system } = this.#options;
    if (system.around !== undefined || system.readOnly !== null)
      return shownFixFiles(
        nothingOf(finding, system.readOnly ?? 'this machine is invented: it has no files'),
      );
    const facts = await gatherSweepFacts((await this.#look()).files);
    const again = async (): Promise<SweepPlan> => {
      const moment = await this.#look();
      const now = sameFinding(finding, moment.findings);
      if (now === undefined) return nothingOf(finding, 'this is no longer so');
      const lineageMembers = (target: string) => collector.lineage.membersOf(target);
      const request = { snapshot: moment, lineageMembers, files: moment.files, facts };
      return planFixFiles({ ...request, retentionDays: config.policy.retentionDays }, now);
    };
    // The second look: how much CPU something uses is only known between two.
    const planned = await again();
    const plan = { ...planned, ending: await weigh(planned.ending, system) };
    const shown = shownFixFiles(plan);
    this.#files.set(shown, { plan, again });
    return shown;
  }
}

interface Sweeping {
  readonly signal: AbortSignal;
  readonly graceMs: number | undefined;
  readonly onOutcome: (outcome: Outcome) => void;
}

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

const choresOf = ({ sessions, files }: SweepResult): readonly ChoreOutcome[] => [
  ...sessions.map(({ session, outcome, why }): ChoreOutcome => {
    return { act: 'end-session', target: session, outcome: SESSION_OUTCOMES[outcome], why };
  }),
  ...files.map(({ act, path, outcome, why }): ChoreOutcome => ({ act, target: path, outcome, why })),
];
