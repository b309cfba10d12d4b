import { takeRunLock } from '../act/record/lock.ts';
import { sendSignals } from '../act/signal/send-signals.ts';
import { leftSomething, summarise } from '../act/summary.ts';
import { terminate } from '../act/terminate/terminate.ts';
import { endZombies } from '../act/zombies/nudge.ts';
import type { Collector } from '../collect/collector.ts';
import type { Config } from '../model/config.ts';
import { keyOf } from '../model/identity.ts';
import type { Outcome, Plan } from '../model/plan.ts';
import type { System } from '../observe/system.ts';
import type { ActRequest, LogLine } from './live.ts';

export interface PerformInput {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly plan: Plan;
  readonly request: ActRequest;
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: Outcome) => void;
}

export interface Performed {
  readonly outcomes: readonly Outcome[];
  readonly summary: string;
  readonly log: readonly LogLine[];
}

/** Runs a plan that the user read and confirmed, under the same lock and into the same log as `clean`. */
export const performPlan = async (input: PerformInput): Promise<Performed> => {
  const lock = await takeRunLock(input.system, 'tui');
  if (lock.status === 'held') throw new Error(lock.why);
  const startedAt = Date.now();
  try {
    const { outcomes, summary } = await carryOut(input);
    const { auditAct } = await import('../act/record/audit.ts');
    const warnings = [
      lock.warning,
      auditAct({ by: 'tui', plan: input.plan, outcomes, durationMs: Date.now() - startedAt }),
    ];
    const at = Date.now();
    return {
      outcomes,
      summary,
      log: [
        { at, text: summary, tone: failed(input.request, outcomes) ? 'bad' : 'good' },
        ...warnings.filter(text => text !== null).map(text => ({ at, text, tone: 'warn' as const })),
      ],
    };
  } finally {
    lock.release();
  }
};

/** A chosen signal may well leave its target running: CONT, STOP and USR1 are meant to. */
const failed = (request: ActRequest, outcomes: readonly Outcome[]): boolean =>
  request.act === 'signal' ? outcomes.some(({ outcome }) => outcome === 'denied') : leftSomething(outcomes);

const carryOut = async ({
  collector,
  system,
  config,
  plan,
  request,
  signal,
  onOutcome,
}: PerformInput): Promise<{ outcomes: readonly Outcome[]; summary: string }> => {
  // The TUI asks for the pid of every soft-protected process before it lets a plan run.
  const confirmed = new Set(plan.steps.filter(step => step.confirm).map(keyOf));
  if (request.act === 'signal') {
    const sent = await sendSignals({ system, plan, signal, confirmed });
    sent.outcomes.forEach(onOutcome);
    return sent;
  }
  const common = {
    system,
    plan,
    signal,
    confirmed,
    snapshotAgain: () => collector.collect({ all: true }),
    onProgress: (progress: { readonly type: string; readonly outcome?: Outcome }) => {
      if (progress.type === 'outcome' && progress.outcome !== undefined) onOutcome(progress.outcome);
    },
  };
  const { outcomes } =
    request.act === 'zombies'
      ? await endZombies({ ...common, quietSeconds: config.thresholds.zombie.quietSeconds })
      : await terminate(common);
  return { outcomes, summary: summarise(outcomes) };
};
