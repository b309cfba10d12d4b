import type { Outcome } from '../model/plan.ts';

/** Exit code 4: something in the plan outlived it, or the system forbade it. */
export const leftSomething = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ outcome }) => outcome === 'survived' || outcome === 'denied');
