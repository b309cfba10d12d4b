import { asObject, type JsonObject } from './json-fields.ts';

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
 * last line means that somebody is still writing. Lines that are not JSON at all are passed over.
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
