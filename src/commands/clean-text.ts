import type { Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { planHeading } from '../words/plan.ts';
import type { CleanOptions } from './clean-options.ts';
import { planText } from './plan-text.ts';

/** The plan as it is read before anything happens, and what to do next. */
export const describePlan = (
  plan: Plan,
  snapshot: Snapshot,
  acts: boolean,
  options: CleanOptions,
): string => {
  const warnings = snapshot.warnings.map(warning => `! ${warning}\n`).join('');
  const heading = planHeading(acts, options.dryRun);
  const text = planText(plan, { ...options, heading, snapshot });
  if (plan.steps.length === 0) {
    const what = options.zombieParents
      ? 'no parent has zombies that can be dealt with'
      : nothingBecause(snapshot, options);
    return `${warnings}${text}Nothing to do: ${what}.\n`;
  }
  return `${warnings}${text}${acts ? '' : 'Nothing was signalled. Run it with --force.\n'}`;
};

const nothingBecause = ({ totals }: Snapshot, options: CleanOptions): string => {
  const looked = `${totals.related} of ${totals.processes} processes concern an agent`;
  if (options.pids.length > 0) return 'none of these processes may be ended';
  return totals.leaks === 0
    ? `nothing is proven leaked (${looked})`
    : `no leak that may be ended is ${options.ageThresholdMinutes} min old (--age-threshold sets the limit)`;
};
