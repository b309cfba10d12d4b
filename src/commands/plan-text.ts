import { formatAge, formatBytes } from '../model/format.ts';
import { type Outcome, type Plan, spellBack, weightOf } from '../model/plan.ts';
import { cut } from '../model/text.ts';
import { countSteps } from '../words/plan.ts';
import { OUTCOME_TONES } from '../words/tones.ts';
import { wrap } from '../words/wrap.ts';
import { type Paint, painter } from './paint.ts';

export interface PlanTextOptions {
  readonly width: number;
  readonly color: boolean;
  /** What would be done, or is about to be done. */
  readonly heading: string;
}

/** Every pid with its memory, age and reason; refusals below; the total last. */
export const planText = (plan: Plan, { width, color, heading }: PlanTextOptions): string => {
  const paint = painter(color);
  const lines: string[] = [];
  // What is done only under a condition must say the condition, however long it is.
  const nudges = plan.steps.some(step => step.signal === 'SIGCHLD');
  const fitted = (line: string): readonly string[] =>
    nudges ? wrap(line, width, ' '.repeat(24)) : [cut(line, width)];
  if (plan.steps.length > 0) {
    lines.push(paint(`${nudges ? 'Zombies:' : heading} ${countSteps(plan)}, ${spellBack(plan)}:`, 'strong'));
    for (const step of plan.steps) {
      const numbers = `${String(step.pid).padStart(8)} ${formatBytes(weightOf(step)).padStart(5)} ${formatAge(step.ageSeconds).padStart(6)} `;
      lines.push(...fitted(`${numbers} ${step.name}: ${step.why}`));
    }
  }
  if (plan.refused.length > 0) {
    lines.push(paint('Left alone:', 'strong'));
    for (const refusal of plan.refused)
      lines.push(cut(`${String(refusal.pid).padStart(8)}  ${refusal.name}: ${refusal.why}`, width));
  }
  return lines.map(line => `${line}\n`).join('');
};

export const outcomeLine = (outcome: Outcome, width: number, paint: Paint): string =>
  `${paint(outcome.outcome.padEnd(9), OUTCOME_TONES[outcome.outcome])} ${cut(`${String(outcome.pid).padStart(8)}  ${outcome.name}${outcome.why === '' ? '' : `: ${outcome.why}`}`, width - 10)}`;
