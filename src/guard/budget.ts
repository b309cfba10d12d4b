import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Plan, Refusal, Step } from '../model/plan.ts';

const HOUR_SECONDS = 3600;

/** Roots ended within the last hour. Counted when asked for, not when they succeed: a plan that fails again and again costs too. */
export class Budget {
  readonly #perHour: number;
  #spent: readonly { readonly at: number; readonly roots: number }[] = [];

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  spend(roots: number, at: number): void {
    if (roots > 0) this.#spent = [...this.#spent, { at, roots }];
  }

  /** What the clock says is still to come was spent all the same. */
  spentAt(at: number): number {
    this.#spent = this.#spent.filter(entry => at - entry.at < HOUR_SECONDS);
    return this.#spent.reduce((sum, { roots }) => sum + roots, 0);
  }

  left(at: number): number {
    return Math.max(0, this.#perHour - this.spentAt(at));
  }
}

export const rootsOf = (plan: Plan): readonly IdentityKey[] => [
  ...new Set(plan.steps.map(step => keyOf(step.root))),
];

const bytesOf = (steps: readonly Step[]): number => steps.reduce((sum, step) => sum + step.rss, 0);

/** As many whole trees as may still be ended, oldest process first; a tree is never cut. */
export const withinBudget = (
  plan: Plan,
  left: number,
): { readonly plan: Plan; readonly waiting: readonly Refusal[] } => {
  const age = new Map(plan.steps.map(step => [keyOf(step), step.ageSeconds ?? 0]));
  const roots = [...rootsOf(plan)].sort((a, b) => (age.get(b) ?? 0) - (age.get(a) ?? 0));
  const taken = new Set(roots.slice(0, left));
  if (taken.size === roots.length) return { plan, waiting: [] };
  const steps = plan.steps.filter(step => taken.has(keyOf(step.root)));
  const waiting = plan.steps
    .filter(step => !taken.has(keyOf(step.root)))
    .map(({ pid, start, name }) => ({
      pid,
      start,
      name,
      why: 'the hourly limit of ended trees is reached',
    }));
  return { plan: { ...plan, steps, bytes: bytesOf(steps) }, waiting };
};
