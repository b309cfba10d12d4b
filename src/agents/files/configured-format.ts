import type { HeartbeatSource } from '../../model/config.ts';
import { asObject, type JsonObject, jsonLines, parseJson, pidField } from '../../model/json.ts';
import { textField } from '../../model/redact.ts';
import { parseTime } from '../../model/time.ts';
import { type FileReader, type HowRead, notUnderstood, understood } from './format-type.ts';

/** `a.b[0].c`, with or without a leading `$.`; undefined when nothing is there. */
const valueAt = (value: unknown, path: string): unknown => {
  const keys = path
    .replace(/^\$\.?/, '')
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter(key => key !== '');
  return keys.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined,
    value,
  );
};

const documentOf = (path: string, text: string, cut: boolean): JsonObject | string => {
  if (path.endsWith('.jsonl')) return jsonLines(text, cut).at(-1) ?? 'no complete JSON line';
  if (cut) return 'larger than 64 KiB';
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed.why;
  return asObject(parsed.value) ?? 'not a JSON object';
};

/** The reader of a source that a user's config describes. A source with no field paths needs no JSON. */
export const userSourceReader = (source: HeartbeatSource): FileReader => {
  const wanted = [source.time, source.status, source.task, source.operation, source.session, source.pid];
  const needsText = wanted.some(path => path !== undefined);
  return ({ path, text, cut }) => {
    if (!needsText) return understood({});
    const document = documentOf(path, text, cut);
    if (typeof document === 'string') return notUnderstood(document);
    const at = (field: string | undefined): JsonObject => ({
      value: field === undefined ? undefined : valueAt(document, field),
    });
    const status = textField(at(source.status), 'value');
    const format = source.timeFormat ?? 'auto';
    return understood({
      sessionId: textField(at(source.session), 'value'),
      task: textField(at(source.task), 'value'),
      operation: textField(at(source.operation), 'value'),
      status,
      terminal: status !== null && (source.terminal ?? []).includes(status),
      pid: pidField(at(source.pid), 'value'),
      updatedAt: format === 'mtime' ? null : parseTime(at(source.time).value, format),
    });
  };
};

/** How a source that a user's config describes is read. */
export const howSourceIsRead = (source: HeartbeatSource): HowRead => ({
  part: source.glob.endsWith('.jsonl') ? 'tail' : 'head',
  read: userSourceReader(source),
});
