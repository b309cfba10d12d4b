import type { ReadingFormat } from '../../model/heartbeat.ts';
import type { FileAct } from './sweep-plan.ts';

/** What becomes of each kind of file once its agent is finished. A kind that is not here is never touched. */
export const SWEPT_FORMATS: ReadonlyMap<ReadingFormat, FileAct['act']> = new Map([
  ['stream-log', 'archive'],
  ['progress-log', 'archive'],
  ['findings-log', 'archive'],
  ['deploy-log', 'archive'],
  ['agent-progress', 'archive'],
  ['prompt', 'delete'],
  ['diagnostic-lock', 'remove'],
  ['postflight-marker', 'remove'],
  ['loop-guard', 'remove'],
  ['workflow', 'remove'],
]);
