import { leftSomething } from '../act/left-something.ts';
import { type Deed, perform } from '../act/perform.ts';
import { sendSignals } from '../act/signal/send-signals.ts';
import { terminate } from '../act/terminate/terminate.ts';
import { endZombies } from '../act/zombies/nudge.ts';
import type { Collector } from '../collect/collector.ts';
import type { Config } from '../model/config.ts';
import { keyOf } from '../model/identity.ts';
import type { Outcome, Plan } from '../model/plan.ts';
import type { System } from '../observe/system.ts';
import { summarise } from '../words/outcomes.ts';
import type { ActRequest, LogLine } from './live.ts';

export interface PerformInput {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly plan: Plan;
  readonly request: ActRequest;
  /** The boot that the plan belongs to. */
  readonly boot: string | null;
  readonly signal: AbortSignal;
  /** Where it is recorded; null: nowhere, because nothing real is done. */
  readonly stateDirectory?: string | null;
  readonly graceMs?: number | undefined;
  readonly onOutcome: (outcome: Outcome) => void;
}

export interface Performed {
  readonly outcomes: readonly Outcome[];
  readonly summary: string;
  readonly log: readonly LogLine[];
  /** What has changed for the worse since the plan was made; then nothing was signalled. */
  readonly worse: readonly string[];
}

/** Runs a plan that the user read and confirmed, under the same lock and into the same log as `clean`. */
export const performPlan = async (input: PerformInput): Promise<Performed> => {
  const { system, plan, request, boot } = input;
  const performed = await perform({
    system,
    by: 'tui',
    why: askedFor(request),
    plan,
    boot,
    directory: input.stateDirectory,
    run: () => carryOut(input),
  });
  if (performed.status === 'held') throw new Error(performed.why);
  const { outcomes, summary, worse } = performed.deed;
  const at = Date.now();
  return {
    outcomes,
    summary,
    worse,
    log: [
      { at, text: summary, tone: failed(request, outcomes) ? 'bad' : 'good' },
      ...(input.stateDirectory === null ? [] : performed.warnings).map(text => ({
        at,
        text,
        tone: 'warn' as const,
      })),
    ],
  };
};

/** The key that was pressed, for the record. */
const askedFor = (request: ActRequest): string => {
  switch (request.act) {
    case 'end':
      return request.force ? 'X: kill now' : 'x: end';
    case 'clean':
      return 'c: clean what is proven leaked';
    case 'zombies':
      return 'z: deal with zombies';
    case 'signal':
      return `S: ${request.signal}`;
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
  graceMs,
  onOutcome,
}: PerformInput): Promise<Deed & Pick<Performed, 'summary' | 'worse'>> => {
  const startedAt = performance.now();
  // The TUI asks for the pid of every soft-protected process before it lets a plan run.
  const confirmed = new Set(plan.steps.filter(step => step.confirm).map(keyOf));
  const snapshotAgain = () => collector.collect({ all: true });
  if (request.act === 'signal') {
    const sent = await sendSignals({ system, plan, signal, confirmed, snapshotAgain });
    sent.outcomes.forEach(onOutcome);
    return { ...sent, durationMs: performance.now() - startedAt };
  }
  const common = {
    system,
    plan,
    signal,
    graceMs,
    confirmed,
    snapshotAgain,
    onProgress: (progress: { readonly type: string; readonly outcome?: Outcome }) => {
      if (progress.type === 'outcome' && progress.outcome !== undefined) onOutcome(progress.outcome);
    },
  };
  const ended =
    request.act === 'zombies'
      ? await endZombies({ ...common, quietSeconds: config.thresholds.zombie.quietSeconds })
      : await terminate(common);
  return { ...ended, summary: summarise(ended.outcomes) };
};
