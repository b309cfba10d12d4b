import { numberField, textField } from '../json-fields.ts';
import { jsonLines } from '../json-lines.ts';
import { parseTime } from '../times.ts';
import { notUnderstood, type Reader, understood } from '../understood.ts';
import { agentOfFile, orchestratedTask } from './agent-logs.ts';
import { isTerminalStatus } from './agent-status.ts';

/**
 * `<agent>_progress.jsonl`. The orchestrator's watchdog types fake `progress_reminder` lines into the
 * pane of a silent agent: they are no heartbeat, and neither is the mtime they leave.
 */
export const readProgressLog: Reader = ({ path, text, cut }) => {
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
    agentId: agentOfFile(path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message') ?? textField(last, 'sub_task') ?? textField(last, 'action'),
    status,
    counters: progress === null ? {} : { progress },
    terminal: last !== null && isTerminalStatus(status, progress),
    updatedAt: parseTime(last?.timestamp),
    foreignWrite: reminded,
  });
};
