import { numberField, textField } from '../../model/json-fields.ts';
import { jsonLines } from '../../model/json-lines.ts';
import { parseTime } from '../../model/time.ts';
import { agentNamedBy, orchestratedTask } from './agent-logs.ts';
import { isTerminalStatus } from './agent-status.ts';
import type { FileFormat } from './format.ts';
import { notUnderstood, type Reader, understood } from './reader.ts';

const NAME = /^(.+)_progress\.jsonl$/;

/**
 * `<agent>_progress.jsonl`. The orchestrator's watchdog types fake `progress_reminder` lines into the
 * pane of a silent agent: they are no heartbeat, and neither is the mtime they leave.
 */
const readProgressLog: Reader = ({ path, text, cut }) => {
  const lines = jsonLines(text, cut);
  const beats = lines.filter(line => line.action !== 'progress_reminder');
  const last = beats.at(-1) ?? null;
  const reminded = lines.length > 0 && lines.at(-1) !== last;
  if (last === null && !reminded)
    return notUnderstood(text.trim() === '' ? 'empty' : 'no complete JSON line');
  const progress = numberField(last, 'progress') ?? numberField(last, 'overall_progress');
  const status = textField(last, 'status');
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(NAME, path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message') ?? textField(last, 'sub_task') ?? textField(last, 'action'),
    status,
    counters: progress === null ? {} : { progress },
    terminal: last !== null && isTerminalStatus(status, progress),
    updatedAt: parseTime(last?.timestamp),
    foreignWrite: reminded,
  });
};

export const progressLog: FileFormat = {
  reader: { part: 'tail', read: readProgressLog },
  lies: [['task-progress', NAME]],
  joins: 'agent',
  project: 'place',
  aged: 'sign',
  signOfLife: 'agent',
  limits: 'heartbeat-stale',
  vouchedFor: 'stream-log',
  shown: true,
  telling: 2,
  leftOver: ['abandoned'],
  swept: 'archive',
  evidence: 'agent',
};
