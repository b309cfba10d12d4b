import type { ReadingMember } from '../../model/heartbeat.ts';
import { asArray, asObject, type JsonObject, parseJson, textField } from '../../model/json-fields.ts';
import { wholeObjectsOf } from '../../model/json-lines.ts';
import { parseTime } from '../../model/time.ts';
import { type FileFormat, NO_SIGN_OF_LIFE } from './format.ts';
import { notUnderstood, type Reader, understood } from './reader.ts';

const OVER = new Set(['completed', 'abandoned', 'expanded', 'cancelled', 'failed']);

const toMember = (project: JsonObject | null): ReadingMember[] => {
  const id = textField(project, 'project_number');
  if (id === null) return [];
  const status = textField(project, 'status');
  return [
    {
      id,
      status,
      terminal: status !== null && OVER.has(status),
      sessionId: textField(project, 'session_id'),
      tmuxSession: null,
      pid: null,
      startedAt: parseTime(project?.started),
      updatedAt: parseTime(project?.last_updated),
    },
  ];
};

/** `specs/state.json`: every task of the project and its status. Of a long one, the tasks in its first part. */
const readProjectState: Reader = ({ text, cut }) => {
  if (cut) return understood({ members: wholeObjectsOf(text, 'active_projects').flatMap(toMember) });
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why);
  const state = asObject(parsed.value);
  if (state === null) return notUnderstood('not a JSON object');
  return understood({ members: asArray(state.active_projects).map(asObject).flatMap(toMember) });
};

export const projectState: FileFormat = {
  ...NO_SIGN_OF_LIFE,
  reader: { part: 'head', read: readProjectState },
  lies: [['specs', 'state.json']],
  joins: 'project',
  leftOver: [],
  swept: null,
  evidence: null,
};
