import { formatAge, formatBytes } from '../model/format.ts';
import { type Outcome, type Plan, spellBack, weightOf } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { cut } from '../model/text.ts';
import { liveWarnings } from '../words/live-plan.ts';
import { countSteps, endingSignals, LEFT_ALONE } from '../words/plan.ts';
import { OUTCOME_TONES } from '../words/tones.ts';
import { wrap } from '../words/wrap.ts';
import { type Paint, painter } from './paint.ts';

export interface PlanTextOptions {
  readonly width: number;
  readonly color: boolean;
  /** What would be done, or is about to be done. */
  readonly heading: string;
  readonly graceSeconds: number;
  /** The machine that the plan was made for. */
  readonly snapshot: Snapshot;
}

/** What is live first; then every pid with its memory, age, verdict and reason; refusals below. */
export const planText = (plan: Plan, options: PlanTextOptions): string => {
  const { width, color, heading, graceSeconds, snapshot } = options;
  const paint = painter(color);
  // What is done only under a condition must say the condition, however long it is.
  const nudges = plan.steps.some(step => step.signal === 'SIGCHLD');
  const fitted = (line: string): readonly string[] =>
    nudges ? wrap(line, width, ' '.repeat(33)) : [cut(line, width)];
  const live = liveWarnings(plan, snapshot, nudges ? 'may end' : 'ends');
  const lines = live.flatMap(text => wrap(text, width, '  ').map(line => paint(line, 'bad')));
  if (plan.steps.length > 0) {
    const told = `${nudges ? 'Zombies:' : heading} ${countSteps(plan)}, ${spellBack(plan)}; ${endingSignals(plan, graceSeconds)}:`;
    lines.push(...wrap(told, width, '  ').map(line => paint(line, 'strong')));
    for (const step of plan.steps) {
      const numbers = `${String(step.pid).padStart(8)} ${formatBytes(weightOf(step)).padStart(5)} ${formatAge(step.ageSeconds).padStart(6)} `;
      const verdict = (step.subject?.verdict ?? '').padEnd(8);
      lines.push(...fitted(`${numbers} ${verdict} ${step.name}: ${step.why}`));
    }
  }
  if (plan.refused.length > 0) {
    lines.push(paint(LEFT_ALONE, 'strong'));
    for (const refusal of plan.refused)
      lines.push(cut(`${String(refusal.pid).padStart(8)}  ${refusal.name}: ${refusal.why}`, width));
  }
  return lines.map(line => `${line}\n`).join('');
};

export const outcomeLine = (outcome: Outcome, width: number, paint: Paint): string =>
  `${paint(outcome.outcome.padEnd(9), OUTCOME_TONES[outcome.outcome])} ${cut(`${String(outcome.pid).padStart(8)}  ${outcome.name}${outcome.why === '' ? '' : `: ${outcome.why}`}`, width - 10)}`;
