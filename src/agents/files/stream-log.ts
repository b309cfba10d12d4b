import { textField } from '../../model/json-fields.ts';
import { lastJsonLine } from '../../model/json-lines.ts';
import { agentNamedBy, orchestratedTask } from './agent-logs.ts';
import type { FileFormat } from './format.ts';
import { type Reader, understood } from './reader.ts';

const NAME = /^(.+)_stream\.jsonl$/;

/** `<agent>_stream.jsonl`: Claude's stream-json. A last line of type `result` means that it finished. */
const readStreamLog: Reader = ({ path, text, cut }) => {
  const last = lastJsonLine(text, cut);
  const type = textField(last, 'type');
  const failed = last?.is_error === true;
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(NAME, path),
    sessionId: textField(last, 'session_id'),
    operation: type,
    status: type === 'result' ? (textField(last, 'subtype') ?? (failed ? 'error' : 'success')) : null,
    terminal: type === 'result',
  });
};

export const streamLog: FileFormat = {
  reader: { part: 'tail', read: readStreamLog },
  lies: [['task-logs', NAME]],
  joins: 'agent',
  project: 'place',
  aged: 'sign',
  signOfLife: 'agent',
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: 4,
  leftOver: ['abandoned'],
  swept: 'archive',
  evidence: 'agent',
};
