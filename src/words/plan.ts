import { plural } from '../model/format.ts';
import { type Plan, type Step, spellBack } from '../model/plan.ts';

const isNudge = (step: Step): boolean => step.signal === 'SIGCHLD';

/**
 * How many, and what becomes of them: `3 processes`; for zombies `nudge 2; end 1 only if it stays idle`, because the
 * same parent is nudged first and ended only when that did not help.
 */
export const countSteps = ({ steps }: Pick<Plan, 'steps'>): string => {
  const nudged = steps.filter(isNudge).length;
  const ended = steps.length - nudged;
  if (nudged === 0) return plural(ended, 'process', 'processes');
  return ended === 0
    ? `nudge ${nudged}`
    : `nudge ${nudged}; end ${ended} only if ${ended === 1 ? 'it stays' : 'they stay'} idle`;
};

/** `, about 3.1 GiB reclaimable`, where there is something. */
export const reclaimable = (plan: Plan): string => (plan.bytes > 0 ? `, ${spellBack(plan)} reclaimable` : '');
