import { asObject, type JsonObject, parseJson, textField } from '../../model/json-fields.ts';
import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { inTaskDirectories } from './places.ts';
import { notUnderstood, type Reader, taskOfPath, understood } from './reader.ts';

/**
 * Many markers come from a heredoc whose variables were never filled in (`"task_number": $task_number`)
 * and are no JSON. Their plain pairs can still be told apart.
 */
const salvage = (text: string): JsonObject | null => {
  const pairs = [
    ...text.slice(0, 4096).matchAll(/"(\w{1,40})"\s*:\s*(?:"([^"\\]{0,400})"|(-?\d{1,15})|(true|false))/g),
  ];
  if (pairs.length === 0) return null;
  return Object.fromEntries(
    pairs.map(([, name, text, number, flag]) => [
      name,
      text ?? (number === undefined ? flag === 'true' : Number(number)),
    ]),
  );
};

/** `.postflight-pending`, global or of one task: the skill has work to do after its subagent stops. */
const readPostflightMarker: Reader = ({ path, text }) => {
  const parsed = parseJson(text);
  const marker = parsed.ok ? asObject(parsed.value) : salvage(text);
  if (marker === null) return notUnderstood(parsed.ok ? 'not a JSON object' : parsed.why);
  return understood({
    sessionId: textField(marker, 'session_id'),
    task: textField(marker, 'task_number') ?? taskOfPath(path),
    operation: textField(marker, 'operation') ?? textField(marker, 'skill'),
    // The documented emergency exit: the hook will remove the marker the next time it runs.
    status: marker.stop_hook_active === true ? 'stop_hook_active' : textField(marker, 'skill'),
    createdAt: parseTime(marker.created),
  });
};

export const postflightMarker: FileFormat = {
  reader: { part: 'head', read: readPostflightMarker },
  lies: inTaskDirectories('.postflight-pending'),
  joins: 'task-here',
  project: 'place',
  aged: 'creation',
  signOfLife: null,
  limits: 'marker-age',
  vouchedFor: null,
  shown: true,
  telling: 5,
  leftOver: [],
  swept: 'remove',
  evidence: null,
};
