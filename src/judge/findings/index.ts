import { type Finding, type FindingId, SEVERITIES } from '../../model/finding.ts';
import { concurrentBuilds } from './concurrent-builds.ts';
import type { Detector, Scene } from './detector.ts';
import { duplicateServer } from './duplicate-server.ts';
import { leak } from './leak.ts';
import { memoryGrowth } from './memory-growth.ts';
import { overMemory } from './over-memory.ts';
import { spinning } from './spinning.ts';
import { stopped } from './stopped.ts';
import { stuckIo } from './stuck-io.ts';
import { tooManyAgents } from './too-many-agents.ts';
import { zombie } from './zombie.ts';

/** Everything reaptop can say is wrong; a new finding is one entry here. */
const DETECTORS = {
  leak,
  zombie,
  'duplicate-server': duplicateServer,
  'over-memory': overMemory,
  'memory-growth': memoryGrowth,
  'too-many-agents': tooManyAgents,
  'concurrent-builds': concurrentBuilds,
  stopped,
  'stuck-io': stuckIo,
  spinning,
} satisfies Partial<Record<FindingId, Detector>>;

/** Worst first, then in the table's order. */
export const findAll = (scene: Scene): Finding[] =>
  Object.values<Detector>(DETECTORS)
    .flatMap(detect => detect(scene))
    .sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
