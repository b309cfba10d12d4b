import { asObject, numberField, parseJson, textField } from '../../model/json-fields.ts';
import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { inTaskDirectories } from './places.ts';
import { notUnderstood, type Reader, taskOfPath, understood } from './reader.ts';

/** A loop guard: a bare integer, `{continuation_count, max_continuations}` or `{cycle_count, max_cycles}`. */
const readLoopGuard: Reader = ({ path, text }) => {
  const task = taskOfPath(path);
  const integer = /^\s*(\d{1,9})\s*$/.exec(text)?.[1];
  if (integer !== undefined) return understood({ task, counters: { count: Number(integer) } });
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why === 'empty' ? 'empty' : 'neither an integer nor JSON');
  const guard = asObject(parsed.value);
  const count = numberField(guard, 'continuation_count') ?? numberField(guard, 'cycle_count');
  if (count === null) return notUnderstood('holds no count');
  const max = numberField(guard, 'max_continuations') ?? numberField(guard, 'max_cycles');
  return understood({
    task,
    sessionId: textField(guard, 'session_id'),
    status: textField(guard, 'current_state'),
    counters: max === null ? { count } : { count, max },
    createdAt: parseTime(guard?.created) ?? parseTime(guard?.started),
    updatedAt: parseTime(guard?.last_updated),
  });
};

export const loopGuard: FileFormat = {
  reader: { part: 'head', read: readLoopGuard },
  lies: ['.postflight-loop-guard', '.continuation-loop-guard', '.orchestrator-loop-guard'].flatMap(
    inTaskDirectories,
  ),
  joins: 'task-here',
  project: 'place',
  aged: 'sign',
  signOfLife: null,
  limits: 'loop-guard',
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: [],
  swept: 'remove',
  evidence: null,
};
