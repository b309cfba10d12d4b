import { asObject, numberField, textField } from '../../model/json-fields.ts';
import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { inTaskDirectories } from './places.ts';
import { objectReader, taskOfPath } from './reader.ts';

const RETURNED = new Set([
  'researched',
  'planned',
  'implemented',
  'partial',
  'failed',
  'blocked',
  'completed',
]);

/** `.return-meta.json`: written `in_progress` when an agent starts, with a final status when it returns. */
const readReturnMeta = objectReader((object, { path }) => {
  const metadata = asObject(object.metadata);
  const partial = asObject(object.partial_progress);
  const status = textField(object, 'status');
  const done = numberField(metadata, 'phases_completed') ?? numberField(partial, 'phases_completed');
  const total = numberField(metadata, 'phases_total') ?? numberField(partial, 'phases_total');
  return {
    sessionId: textField(metadata, 'session_id'),
    task: taskOfPath(path),
    phase: done === null ? null : total === null ? String(done) : `${done}/${total}`,
    operation: textField(partial, 'stage') ?? textField(metadata, 'agent_type'),
    status,
    terminal: status !== null && RETURNED.has(status),
    createdAt: parseTime(object.started_at),
  };
});

export const returnMeta: FileFormat = {
  reader: { part: 'head', read: readReturnMeta },
  lies: [...inTaskDirectories('.return-meta.json'), ['spec-task', /^\.return-meta-[\w-]+\.json$/]],
  joins: 'task-here',
  project: 'place',
  aged: 'sign',
  signOfLife: null,
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: [],
  swept: null,
  evidence: null,
};
