import { textField } from '../../model/json-fields.ts';
import { jsonLines } from '../../model/json-lines.ts';
import { parseTime } from '../../model/time.ts';
import { agentNamedBy, orchestratedTask } from './agent-logs.ts';
import { type FileFormat, NO_SIGN_OF_LIFE } from './format.ts';
import { type Reader, understood } from './reader.ts';

const NAME = /^(.+)_findings\.jsonl$/;

/** `<agent>_findings.jsonl`: what an agent reported. An empty one is normal. */
const readFindingsLog: Reader = ({ path, text, cut }) => {
  const lines = jsonLines(text, cut);
  const last = lines.at(-1) ?? null;
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(NAME, path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message'),
    status: textField(last, 'severity'),
    // Of a log longer than what was read, the number of its lines is not known.
    counters: cut ? {} : { findings: lines.length },
    updatedAt: parseTime(last?.timestamp),
  });
};

export const findingsLog: FileFormat = {
  ...NO_SIGN_OF_LIFE,
  reader: { part: 'tail', read: readFindingsLog },
  lies: [['task-findings', NAME]],
  joins: 'agent',
  leftOver: ['abandoned'],
  swept: 'archive',
  evidence: null,
};
