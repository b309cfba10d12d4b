import { type JsonObject, pidField, textField } from '../../model/json-fields.ts';
import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { inTaskDirectories } from './places.ts';
import { objectReader, taskOfPath } from './reader.ts';

const NOT_COUNTERS = new Set(['task_number', 'phase', 'last_update', 'pid', 'version']);
const MOST_COUNTERS = 12;

/** Every other number in the file counts something: `diagnostic_calls`, `skipped_diagnostics`… */
const countersOf = (object: JsonObject): Record<string, number> =>
  Object.fromEntries(
    Object.entries(object)
      .filter(
        ([name, value]) => typeof value === 'number' && /^\w{1,40}$/.test(name) && !NOT_COUNTERS.has(name),
      )
      .slice(0, MOST_COUNTERS) as [string, number][],
  );

/** `.agent-progress.json`: the heartbeat a Lean agent writes between its steps. */
const readAgentProgress = objectReader((object, { path }) => {
  const status = textField(object, 'status');
  return {
    sessionId: textField(object, 'session_id'),
    task: textField(object, 'task_number') ?? taskOfPath(path),
    phase: textField(object, 'phase'),
    operation: textField(object, 'operation'),
    proof: textField(object, 'proof'),
    status,
    counters: countersOf(object),
    terminal: status === 'completed' || status === 'ended' || textField(object, 'operation') === 'completed',
    updatedAt: parseTime(object.last_update),
    createdAt: parseTime(object.started_at),
    // Not in the original: `reaptop beat` and kin may say which process they speak for.
    pid: pidField(object, 'pid'),
  };
});

export const agentProgress: FileFormat = {
  reader: { part: 'head', read: readAgentProgress },
  lies: [...inTaskDirectories('.agent-progress.json'), ['task', '.agent-progress.json']],
  joins: 'task-here',
  project: 'place',
  aged: 'sign',
  signOfLife: 'task',
  limits: 'heartbeat-stale',
  vouchedFor: null,
  shown: true,
  telling: 1,
  leftOver: ['abandoned', 'says-so', 'task-over'],
  swept: 'archive',
  evidence: null,
};
