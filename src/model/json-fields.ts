import { redactWord } from './redact.ts';
import { visible } from './text.ts';

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

const TEXT_LIMIT = 400;
const READ_BEFORE_CUT = 4 * TEXT_LIMIT;

/** Secrets are masked before the cut, so that half of one cannot slip through. */
export const safeText = (text: string): string => visible(redactWord(text)).slice(0, TEXT_LIMIT);

/**
 * A text worth showing. `null` and `undefined` as words, and unexpanded `$session_id`, come from
 * shell templates that were never filled in.
 */
export const textField = (object: JsonObject | null, name: string): string | null => {
  const value = object?.[name];
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return null;
  const text = value.slice(0, READ_BEFORE_CUT).trim();
  if (text === '' || text === 'null' || text === 'undefined' || /^\$\{?\w+\}?$/.test(text)) return null;
  return safeText(text);
};

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
