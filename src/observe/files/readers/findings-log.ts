import { textField } from '../json-fields.ts';
import { jsonLines } from '../json-lines.ts';
import { parseTime } from '../times.ts';
import { type Reader, understood } from '../understood.ts';
import { agentOfFile, orchestratedTask } from './agent-logs.ts';

/** `<agent>_findings.jsonl`: what an agent reported. An empty one is normal. */
export const readFindingsLog: Reader = ({ path, text, cut }) => {
  const lines = jsonLines(text, cut);
  const last = lines.at(-1) ?? null;
  return understood({
    task: orchestratedTask(path),
    agentId: agentOfFile(path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message'),
    status: textField(last, 'severity'),
    // Of a log longer than what was read, the number of its lines is not known.
    counters: cut ? {} : { findings: lines.length },
    updatedAt: parseTime(last?.timestamp),
  });
};
