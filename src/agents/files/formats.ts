import type { ReadingFormat } from '../../model/heartbeat.ts';
import { agentProgress } from './agent-progress.ts';
import { registry } from './agent-registry.ts';
import { diagnosticLock } from './diagnostic-lock.ts';
import { findingsLog } from './findings-log.ts';
import type { FileFormat } from './format.ts';
import { loopGuard } from './loop-guard.ts';
import { phaseProgress } from './phase-progress.ts';
import { postflightMarker } from './postflight-marker.ts';
import { progressLog } from './progress-log.ts';
import { projectState } from './project-state.ts';
import { returnMeta } from './return-meta.ts';
import { streamLog } from './stream-log.ts';
import { deployLog, orchestratorDatabase, prompt, transcript } from './unread.ts';
import { userSource } from './user-source.ts';
import { workflow } from './workflow.ts';

/**
 * Every file format we know, one record each: how it is read and where it lies, whom it speaks of, when it
 * is worth a word, whether it is shown, and what becomes of it.
 */
export const FORMATS: Readonly<Record<ReadingFormat, FileFormat>> = {
  'agent-progress': agentProgress,
  'postflight-marker': postflightMarker,
  'loop-guard': loopGuard,
  'diagnostic-lock': diagnosticLock,
  'return-meta': returnMeta,
  'phase-progress': phaseProgress,
  'project-state': projectState,
  workflow,
  registry,
  'orchestrator-database': orchestratorDatabase,
  'progress-log': progressLog,
  'findings-log': findingsLog,
  'stream-log': streamLog,
  prompt,
  'deploy-log': deployLog,
  transcript,
  user: userSource,
};

/** The record of the file that a reading is of. */
export const formatOf = ({ format }: { readonly format: ReadingFormat }): FileFormat => FORMATS[format];
