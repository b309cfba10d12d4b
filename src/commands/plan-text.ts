import type { ExecutionResult } from '../act/execute.ts';
import type { Progress } from '../act/terminate/tracked.ts';
import type { Engine, Executed, ExecuteOptions } from '../engine/engine.ts';
import { keyOf } from '../model/identity.ts';
import {
  type Outcome,
  type Plan,
  planRest,
  planRows,
  rowReason,
  spellBack,
  weightOf,
} from '../model/plan.ts';
import { countSteps, endingSignals, LEFT_ALONE, liveWarnings } from '../model/plan-text.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { cut, wrap } from '../model/text.ts';
import { OUTCOME_TONES } from '../model/ui-settings.ts';
import { formatAge, formatBytes } from '../model/units.ts';
import { type Paint, painter } from '../output.ts';

export interface PlanTextOptions {
  readonly width: number;
  readonly color: boolean;
  /** What would be done, or is about to be done. */
  readonly heading: string;
  readonly graceSeconds: number;
  /** The machine that the plan was made for. */
  readonly snapshot: Snapshot;
  /** The outcomes come next, one line for each: the list is not printed twice. */
  readonly acts?: boolean;
}

/** What is live first; then every pid with its memory, age, verdict and reason; refusals below. */
export const planText = (plan: Plan, options: PlanTextOptions): string => {
  const { width, color, heading, graceSeconds, snapshot, acts = false } = options;
  const paint = painter(color);
  // What is done only under a condition must say the condition, however long it is.
  const nudges = plan.steps.some(step => step.signal === 'SIGCHLD');
  const fitted = (line: string): readonly string[] =>
    nudges ? wrap(line, width, ' '.repeat(33)) : [cut(line, width)];
  const live = liveWarnings(plan, snapshot, nudges ? 'may end' : 'ends');
  const lines = live.flatMap(text => wrap(text, width, '  ').map(line => paint(line, 'bad')));
  if (plan.steps.length > 0) {
    const told = `${nudges ? 'Zombies:' : heading} ${countSteps(plan)}, ${spellBack(plan)}; ${endingSignals(plan, graceSeconds)}${acts ? '.' : ':'}`;
    lines.push(...wrap(told, width, '  ').map(line => paint(line, 'strong')));
    for (const row of acts ? [] : planRows(plan.steps)) {
      const { step, below } = row;
      const why = rowReason(row);
      const numbers = `${String(step.pid).padStart(8)} ${formatBytes(weightOf(step)).padStart(5)} ${formatAge(step.ageSeconds).padStart(6)} `;
      const verdict = (step.subject?.verdict ?? '').padEnd(8);
      lines.push(
        ...fitted(`${numbers} ${verdict} ${below ? '  ' : ''}${step.name}${why === '' ? '' : `: ${why}`}`),
      );
    }
  }
  if (plan.refused.length > 0) {
    lines.push(paint(LEFT_ALONE, 'strong'));
    for (const refusal of plan.refused)
      lines.push(cut(`${String(refusal.pid).padStart(8)}  ${refusal.name}: ${refusal.why}`, width));
  }
  return lines.map(line => `${line}\n`).join('');
};

/** As the plan is read, tree by tree; what joined meanwhile comes last. */
export const inPlanOrder = ({ steps }: Plan, outcomes: readonly Outcome[]): readonly Outcome[] => {
  const order = new Map(planRows(steps).map(({ step }, at) => [keyOf(step), at]));
  const placeOf = (outcome: Outcome): number => order.get(keyOf(outcome)) ?? order.size;
  return [...outcomes].sort((a, b) => placeOf(a) - placeOf(b));
};

export const outcomeLine = (outcome: Outcome, width: number, paint: Paint): string =>
  `${paint(outcome.outcome.padEnd(9), OUTCOME_TONES[outcome.outcome])} ${cut(`${String(outcome.pid).padStart(8)}  ${outcome.name}${outcome.why === '' ? '' : `: ${outcome.why}`}`, width - 10)}`;

export interface ProgressLine {
  readonly show: (progress: Progress) => void;
  readonly clear: () => void;
}

const ERASE_LINE = '\r\x1b[2K';

/** One line that is rewritten while a person waits; silent without a terminal. */
const progressLine = (
  err: { write(text: string): void; readonly isTTY?: boolean },
  total: number,
): ProgressLine => {
  if (err.isTTY !== true) return { show: () => {}, clear: () => {} };
  return {
    show: progress => {
      if (progress.type === 'wait') {
        const seconds = (ms: number): string => (ms / 1000).toFixed(1);
        err.write(
          `${ERASE_LINE}waiting for ${progress.left} of ${total} (${seconds(progress.elapsedMs)} of ${seconds(progress.graceMs)} s)`,
        );
      } else if (progress.type === 'signal') {
        err.write(`${ERASE_LINE}${progress.signal} to ${progress.step.pid} ${progress.step.name}`);
      }
    },
    clear: () => err.write(ERASE_LINE),
  };
};

export const planJson = (plan: Plan) => ({
  steps: plan.steps.map(({ pid, start, name, signal, rss, pss, why }) => ({
    ...{ pid, start, name, signal, rss },
    pss: pss ?? null,
    why,
  })),
  ...planRest(plan),
});

export const outcomesJson = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ pid, start, name, outcome, why, freed }) => ({ pid, start, name, outcome, why, freed }));

/** Executes a plan for a command, with a progress line on a terminal. */
export const executeShown = (
  engine: Engine,
  plan: Plan,
  err: Parameters<typeof progressLine>[0],
  {
    graceSeconds,
    ...options
  }: Omit<ExecuteOptions, 'graceMs' | 'onProgress'> & { readonly graceSeconds: number },
): Promise<ExecutionResult<Executed>> => {
  const progress = progressLine(err, plan.steps.length);
  return engine
    .execute(plan, { ...options, graceMs: graceSeconds * 1000, onProgress: progress.show })
    .finally(progress.clear);
};
