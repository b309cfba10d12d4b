import { asArray, asObject, numberField, textField } from '../../model/json-fields.ts';
import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { objectReader, taskOfPath } from './reader.ts';

/** `progress/phase-N-progress.json`: the objectives of one phase and how far they are. */
const readPhaseProgress = objectReader((object, { path }) => {
  const objectives = asArray(object.objectives).map(asObject);
  const done = objectives.filter(o => o?.status === 'done').length;
  const current = textField(object, 'current_objective');
  const named = objectives.find(o => current !== null && textField(o, 'id') === current);
  const handoffs = numberField(object, 'handoff_count');
  return {
    task: taskOfPath(path),
    phase: textField(object, 'phase') ?? /phase-(\d+)-/.exec(path)?.[1] ?? null,
    operation: textField(named ?? null, 'description') ?? current ?? textField(object, 'phase_name'),
    counters: { done, objectives: objectives.length, ...(handoffs === null ? {} : { handoffs }) },
    terminal: objectives.length > 0 && done === objectives.length,
    createdAt: parseTime(object.started_at),
    updatedAt: parseTime(object.last_updated),
  };
});

export const phaseProgress: FileFormat = {
  reader: { part: 'head', read: readPhaseProgress },
  lies: [['spec-progress', /^phase-.+-progress\.json$/]],
  joins: 'task-above',
  project: 'place',
  aged: 'sign',
  signOfLife: 'task',
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: 3,
  leftOver: [],
  swept: null,
  evidence: null,
};
