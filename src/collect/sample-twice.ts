import type { JudgedMoment } from '../judge/judge.ts';
import { confirmedBy } from '../judge/rules/confirm.ts';
import { awaitsSample, type Snapshot } from '../model/snapshot.ts';
import { ACTIVITY_SECONDS } from './activity.ts';
import type { Collector } from './collector.ts';

/** A process that only looks leaked between fork and exec no longer does after this long. */
const BETWEEN_MS = 300;
/** The kernel tells its uptime in steps of 10 ms. */
const ACTIVITY_MS = 1000 * ACTIVITY_SECONDS + 20;

const rest = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** What both of two samples say: a second apart where work is in question, else as long as an exec may take. */
export const sampleTwice = async (collector: Collector): Promise<Snapshot> => {
  const first = await collector.collect({ all: true });
  await rest(awaitsSample(first) ? ACTIVITY_MS : BETWEEN_MS);
  return confirmedBy(first, await collector.collect({ all: true }));
};

/** One sample, and a second one only where a verdict hangs on it. */
export const sampleWhole = async (collector: Collector, all: boolean): Promise<JudgedMoment> => {
  const first = await collector.collect({ all });
  if (!awaitsSample(first)) return first;
  await rest(ACTIVITY_MS);
  return collector.collect({ all });
};
