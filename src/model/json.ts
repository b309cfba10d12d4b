/** Lenient views of JSON that an LLM or a shell wrote: a field of the wrong type counts as absent. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

export const parseJson = (text: string): Parsed => {
  if (text.trim() === '') return { ok: false, why: 'empty' };
  try {
    return { ok: true, value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) };
  } catch {
    return { ok: false, why: 'not valid JSON (half written?)' };
  }
};

export const asObject = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A number, or a text that is one. */
export const numberField = (object: JsonObject | null, name: string): number | null => {
  const value = object?.[name];
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
};

export const pidField = (object: JsonObject | null, name: string): number | null => {
  const pid = numberField(object, name);
  return pid !== null && Number.isInteger(pid) && pid > 0 && pid < 2 ** 31 ? pid : null;
};

const parseLine = (line: string): JsonObject | null => {
  try {
    return asObject(JSON.parse(line));
  } catch {
    return null; // half a line, or text among the JSON
  }
};

/** The complete JSON objects of a log's tail, oldest first; a first line cut in half is dropped. */
export const jsonLines = (text: string, cut: boolean): JsonObject[] =>
  text
    .split('\n')
    .slice(cut ? 1 : 0)
    .map(parseLine)
    .filter(object => object !== null);

/**
 * The last object of a log, and only if nothing that could be a newer one follows it: an unfinished
 * last line means that it is still being written. Lines that are not JSON at all are passed over.
 */
export const lastJsonLine = (text: string, cut: boolean): JsonObject | null => {
  const lines = text.split('\n').slice(cut ? 1 : 0);
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = (lines[i] as string).trim();
    if (line.startsWith('{')) return parseLine(line);
  }
  return null;
};

const closingBrace = (text: string, open: number): number => {
  let depth = 0;
  let inString = false;
  for (let i = open; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return i;
  }
  return -1;
};

/** The whole objects of the array `name` in the first part of a JSON document that was too long to read. */
export const wholeObjectsOf = (text: string, name: string): JsonObject[] => {
  const start = new RegExp(`"${name}"\\s*:\\s*\\[`).exec(text);
  const objects: JsonObject[] = [];
  let at = start === null ? -1 : start.index + start[0].length;
  while (at !== -1) {
    while (/[\s,]/.test(text[at] ?? '')) at += 1;
    const end = text[at] === '{' ? closingBrace(text, at) : -1;
    if (end === -1) break;
    const object = parseLine(text.slice(at, end + 1));
    if (object !== null) objects.push(object);
    at = end + 1;
  }
  return objects;
};

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textAt = (fields: JsonObject, ...names: string[]): string | null => {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
};

/** A finite number, or a text that is one. */
export const numberAt = (fields: JsonObject, ...names: string[]): number | null => {
  for (const name of names) {
    const value = fields[name];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
};

export const objectAt = (fields: JsonObject, name: string): JsonObject | null => {
  const value = fields[name];
  return isJsonObject(value) ? value : null;
};

/** A whole number from 0 on. */
export const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** Milliseconds that a Date can hold. */
export const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15;

export const isText = (value: unknown): value is string => typeof value === 'string';
