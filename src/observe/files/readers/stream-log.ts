import { textField } from '../json-fields.ts';
import { lastJsonLine } from '../json-lines.ts';
import { type Reader, understood } from '../understood.ts';
import { agentOfFile, orchestratedTask } from './agent-logs.ts';

/** `<agent>_stream.jsonl`: Claude's stream-json. A last line of type `result` means that it finished. */
export const readStreamLog: Reader = ({ path, text, cut }) => {
  const last = lastJsonLine(text, cut);
  const type = textField(last, 'type');
  const failed = last?.is_error === true;
  return understood({
    task: orchestratedTask(path),
    agentId: agentOfFile(path),
    sessionId: textField(last, 'session_id'),
    operation: type,
    status: type === 'result' ? (textField(last, 'subtype') ?? (failed ? 'error' : 'success')) : null,
    terminal: type === 'result',
  });
};
