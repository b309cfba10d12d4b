import { type Finding, type FindingId, SEVERITIES } from '../../model/finding.ts';
import { agentDeadRegistryActive } from './agent-dead-registry-active.ts';
import { agentFinishedSessionAlive } from './agent-finished-session-alive.ts';
import { callHung } from './call-hung.ts';
import { concurrentBuilds } from './concurrent-builds.ts';
import type { Detector, FindingContext } from './detector.ts';
import { duplicateServer } from './duplicate-server.ts';
import { heartbeatMissing } from './heartbeat-missing.ts';
import { heartbeatStale } from './heartbeat-stale.ts';
import { idleAgent } from './idle-agent.ts';
import { leak } from './leak.ts';
import { leftoverFiles } from './leftover-files.ts';
import { lockStale } from './lock-stale.ts';
import { loopGuardFinding } from './loop-guard.ts';
import { markerAge } from './marker-age.ts';
import { memoryGrowth } from './memory-growth.ts';
import { overMemory } from './over-memory.ts';
import { sessionHung } from './session-hung.ts';
import { spinning } from './spinning.ts';
import { stopped } from './stopped.ts';
import { stuckIo } from './stuck-io.ts';
import { tooManyAgents } from './too-many-agents.ts';
import { zombie } from './zombie.ts';

/** Everything reaptop can say is wrong; a new finding is one entry here. */
const DETECTORS = {
  leak,
  'call-hung': callHung,
  zombie,
  'duplicate-server': duplicateServer,
  'over-memory': overMemory,
  'memory-growth': memoryGrowth,
  'too-many-agents': tooManyAgents,
  'idle-agent': idleAgent,
  'concurrent-builds': concurrentBuilds,
  'heartbeat-stale': heartbeatStale,
  'heartbeat-missing': heartbeatMissing,
  'marker-age': markerAge,
  'loop-guard': loopGuardFinding,
  'lock-stale': lockStale,
  'agent-finished-session-alive': agentFinishedSessionAlive,
  'agent-dead-registry-active': agentDeadRegistryActive,
  'leftover-files': leftoverFiles,
  'session-hung': sessionHung,
  stopped,
  'stuck-io': stuckIo,
  spinning,
} satisfies Record<FindingId, Detector>;

/** Worst first, then in the table's order. */
export const findAll = (context: FindingContext): Finding[] =>
  Object.values<Detector>(DETECTORS)
    .flatMap(detect => detect(context))
    .sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
