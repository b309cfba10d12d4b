import { leftSomething } from '../act/left-something.ts';
import { type Deed, perform } from '../act/perform.ts';
import { sendSignals } from '../act/signal/send-signals.ts';
import { outcomeOf } from '../act/terminate/run.ts';
import { terminate } from '../act/terminate/terminate.ts';
import { endZombies } from '../act/zombies/nudge.ts';
import type { Collector } from '../collect/collector.ts';
import type { ActRequest } from '../model/act-request.ts';
import type { Config } from '../model/config.ts';
import type { Finding } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import type { ChoreOutcome, Outcome, Plan } from '../model/plan.ts';
import type { System } from '../observe/system.ts';
import { summarise, summariseAll } from '../words/outcomes.ts';
import { actText } from './act-log.ts';
import type { Fixer } from './fixer.ts';
import type { LogLine } from './live.ts';

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
  readonly fixer: Fixer;
  /** The time of this machine, for the log: an invented one has its own. */
  readonly now: () => number;
  readonly onOutcome: (outcome: Outcome) => void;
}

export interface Performed {
  readonly outcomes: readonly Outcome[];
  readonly chores: readonly ChoreOutcome[];
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
    sessions: input.fixer.sessionsOf(plan),
    boot,
    directory: input.stateDirectory,
    run: () => carryOut(input),
  });
  if (performed.status === 'held') throw new Error(performed.why);
  const { outcomes, chores = [], summary, worse } = performed.deed;
  const at = input.now();
  const rows = [
    ...outcomes.map(({ outcome, pid, name, freed, why }) => ({
      what: outcome,
      pid,
      name,
      bytes: freed,
      why,
    })),
    ...chores.map(({ outcome, act, target, why }) => {
      return { what: outcome, pid: null, name: `${act} ${target}`, bytes: 0, why };
    }),
  ];
  return {
    outcomes,
    chores,
    summary,
    worse,
    log: [
      {
        at,
        text: actText('tui', summary, rows),
        entry: { by: 'tui', why: askedFor(request), rows, note: null },
        tone: failed(request, outcomes, chores) ? 'bad' : 'good',
      },
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
    case 'fix':
      return `f: ${request.finding.id}: ${request.finding.title}`;
  }
};

/** A chosen signal may well leave its target running: CONT, STOP and USR1 are meant to. */
const failed = (
  request: ActRequest,
  outcomes: readonly Outcome[],
  chores: readonly ChoreOutcome[],
): boolean => {
  if (chores.some(({ outcome }) => outcome === 'failed')) return true;
  return signalsOnly(request)
    ? outcomes.some(({ outcome }) => outcome === 'denied')
    : leftSomething(outcomes);
};

const signalsOnly = (request: ActRequest): boolean =>
  request.act === 'signal' || (request.act === 'fix' && request.finding.action === 'continue');

const nudges = (request: ActRequest): boolean =>
  request.act === 'zombies' || (request.act === 'fix' && request.finding.action === 'zombies');

type Done = Deed & Pick<Performed, 'summary' | 'worse'> & Partial<Pick<Performed, 'chores'>>;

const carryOut = async (input: PerformInput): Promise<Done> => {
  const { plan, request, fixer } = input;
  const startedAt = performance.now();
  const done =
    request.act !== 'fix'
      ? await signalAll(input)
      : fixer.touchesFiles(plan)
        ? await fixFiles(input)
        : await fixProcesses(input, request.finding);
  return { ...done, durationMs: performance.now() - startedAt };
};

const fixFiles = async ({ fixer, plan, signal, graceMs, onOutcome }: PerformInput): Promise<Done> => {
  const swept = await fixer.sweep(plan, { signal, graceMs, onOutcome });
  return { ...swept, summary: summariseAll(swept.outcomes, swept.chores), worse: [] };
};

/** What mends a finding is planned once more: nothing is done that would not be planned now. */
const fixProcesses = async (input: PerformInput, finding: Finding): Promise<Done> => {
  const { fixer, plan, signal, onOutcome } = input;
  const worse = await fixer.whyNot(plan, finding);
  if (worse.length > 0) {
    const why = `read the plan again: ${worse[0]}`;
    const outcomes = plan.steps.map(step => outcomeOf(step, 'refused', why));
    outcomes.forEach(onOutcome);
    return { outcomes, durationMs: 0, summary: why, worse };
  }
  const done: Done =
    plan.steps.length === 0
      ? { outcomes: [], durationMs: 0, summary: '', worse: [] }
      : await signalAll(input);
  if (done.worse.length > 0 || plan.chores === undefined) return done;
  const chores = await fixer.stopSessions(plan, signal);
  return { ...done, chores, sessions: chores, summary: summariseAll(done.outcomes, chores) };
};

const signalAll = async ({
  collector,
  system,
  config,
  plan,
  request,
  signal,
  graceMs,
  onOutcome,
}: PerformInput): Promise<Done> => {
  // The TUI asks for the pid of every soft-protected process before it lets a plan run.
  const confirmed = new Set(plan.steps.filter(step => step.confirm).map(keyOf));
  const snapshotAgain = () => collector.collect({ all: true, fresh: true });
  if (signalsOnly(request)) {
    const sent = await sendSignals({ system, plan, signal, confirmed, snapshotAgain });
    sent.outcomes.forEach(onOutcome);
    return { ...sent, durationMs: 0 };
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
  const ended = nudges(request)
    ? await endZombies({ ...common, quietSeconds: config.thresholds.zombie.quietSeconds })
    : await terminate(common);
  return { ...ended, summary: summarise(ended.outcomes) };
};
