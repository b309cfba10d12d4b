import type { HeartbeatSource } from '../../model/config.ts';
import type { ReadingFormat } from '../../model/heartbeat.ts';
import { readAgentProgress } from './readers/agent-progress.ts';
import { readAgentRegistry } from './readers/agent-registry.ts';
import { readDiagnosticLock } from './readers/diagnostic-lock.ts';
import { readFindingsLog } from './readers/findings-log.ts';
import { readLoopGuard } from './readers/loop-guard.ts';
import { readPhaseProgress } from './readers/phase-progress.ts';
import { readPostflightMarker } from './readers/postflight-marker.ts';
import { readProgressLog } from './readers/progress-log.ts';
import { readProjectState } from './readers/project-state.ts';
import { readReturnMeta } from './readers/return-meta.ts';
import { readStreamLog } from './readers/stream-log.ts';
import { readNothing } from './readers/unread.ts';
import { userSourceReader } from './readers/user-source.ts';
import { readWorkflow } from './readers/workflow.ts';
import type { Reader } from './understood.ts';

/** How one kind of file is read: which part of it, and by whom. */
export interface FileFormat {
  readonly format: ReadingFormat;
  /** Name of the user's source; null for the built-in formats. */
  readonly source: string | null;
  readonly part: 'head' | 'tail' | 'none';
  readonly read: Reader;
}

const builtIn = (format: ReadingFormat, part: FileFormat['part'], read: Reader): FileFormat => ({
  format,
  source: null,
  part,
  read,
});

export const FORMATS = {
  'agent-progress': builtIn('agent-progress', 'head', readAgentProgress),
  'postflight-marker': builtIn('postflight-marker', 'head', readPostflightMarker),
  'loop-guard': builtIn('loop-guard', 'head', readLoopGuard),
  'diagnostic-lock': builtIn('diagnostic-lock', 'none', readDiagnosticLock),
  'return-meta': builtIn('return-meta', 'head', readReturnMeta),
  'phase-progress': builtIn('phase-progress', 'head', readPhaseProgress),
  'project-state': builtIn('project-state', 'head', readProjectState),
  workflow: builtIn('workflow', 'head', readWorkflow),
  registry: builtIn('registry', 'head', readAgentRegistry),
  'orchestrator-database': builtIn('orchestrator-database', 'none', readNothing),
  'progress-log': builtIn('progress-log', 'tail', readProgressLog),
  'findings-log': builtIn('findings-log', 'tail', readFindingsLog),
  'stream-log': builtIn('stream-log', 'tail', readStreamLog),
  prompt: builtIn('prompt', 'none', readNothing),
  'deploy-log': builtIn('deploy-log', 'none', readNothing),
} as const satisfies Record<Exclude<ReadingFormat, 'transcript' | 'user'>, FileFormat>;

export const userFormat = (source: HeartbeatSource): FileFormat => ({
  format: 'user',
  source: source.name,
  part: source.glob.endsWith('.jsonl') ? 'tail' : 'head',
  read: userSourceReader(source),
});
