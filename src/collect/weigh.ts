import { bytesBack, type Plan, type Step } from '../model/plan.ts';
import type { System } from '../observe/system.ts';
import { TimeSlice } from '../observe/time-slice.ts';

/** The kernel adds up every mapping for one answer: beyond this many a plan would keep its reader waiting. */
const MOST_WEIGHED = 1000;

/**
 * Reads what each member of a plan holds for itself: ten forks that share 200 MiB give back 200 MiB, not two
 * gigabytes. What cannot be read keeps its RSS, and the total is called "about".
 */
export const weigh = async (plan: Plan, system: Pick<System, 'proportionalMemory'>): Promise<Plan> => {
  const breath = new TimeSlice();
  const steps: Step[] = [];
  for (const step of plan.steps) {
    const counts = step.rss > 0 && steps.length < MOST_WEIGHED;
    steps.push(counts ? { ...step, pss: await system.proportionalMemory(step.pid) } : step);
    await breath.due();
  }
  return { ...plan, steps, bytes: bytesBack(steps) };
};
