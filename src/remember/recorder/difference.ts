/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * How one value becomes another: `=` a new value; `~` changes by key and `-` the keys that went; `@` a run of a list
 * that was replaced: where it begins, how many went, what came instead. Lists change in one place, as the rows of a tree
 * do when a process comes or goes.
 */
export type Difference =
  | { readonly '=': Json }
  | { readonly '~'?: { readonly [key: string]: Difference }; readonly '-'?: readonly string[] }
  | { readonly '@': readonly [at: number, gone: number, come: readonly Json[]] };

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const same = (a: Json, b: Json): boolean => {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => same(v, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && same(a[key]!, b[key]!))
  );
};

/** null: nothing changed. */
export const differenceOf = (before: Json, after: Json): Difference | null => {
  if (before === after) return null;
  if (Array.isArray(before) && Array.isArray(after)) return listDifference(before, after);
  if (isObject(before) && isObject(after)) return objectDifference(before, after);
  return same(before, after) ? null : { '=': after };
};

const objectDifference = (before: JsonObject, after: JsonObject): Difference | null => {
  const changes: [string, Difference][] = [];
  for (const [key, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, key) ? differenceOf(before[key]!, value) : { '=': value };
    if (change !== null) changes.push([key, change]);
  }
  const gone = Object.keys(before).filter(key => !Object.hasOwn(after, key));
  if (changes.length + gone.length === 0) return null;
  return {
    ...(changes.length === 0 ? {} : { '~': Object.fromEntries(changes) }),
    ...(gone.length === 0 ? {} : { '-': gone }),
  };
};

const listDifference = (before: readonly Json[], after: readonly Json[]): Difference | null => {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && same(before[head]!, after[head]!)) head += 1;
  if (head === before.length && head === after.length) return null;
  let tail = 0;
  while (tail < shorter - head && same(before[before.length - 1 - tail]!, after[after.length - 1 - tail]!))
    tail += 1;
  return { '@': [head, before.length - head - tail, after.slice(head, after.length - tail)] };
};

/** A difference that does not fit what it is applied to: the line was torn, or is of another picture. */
export class Misfit extends Error {}

/** An object of the picture while a difference is applied to it. */
type Changing = Record<string, Json>;

/** Parts that did not change are the same objects as before, so that whoever checked them need not do so again. */
export const applyDifference = (before: Json, difference: unknown): Json =>
  apply(before, difference, object => ({ ...object }));

/**
 * The same, into the very objects of `before`: five times as fast, for whoever goes through moments and keeps none. What
 * does not fit may be applied in part when it is noticed: such a picture is worth nothing any more.
 */
export const changeInPlace = (before: Json, difference: unknown): Json =>
  apply(before, difference, object => object as Changing);

const apply = (before: Json, difference: unknown, changing: (object: JsonObject) => Changing): Json => {
  if (!isObject(difference)) throw new Misfit('a difference is an object');
  if (Object.hasOwn(difference, '=')) return difference['=']!;
  if (Object.hasOwn(difference, '@')) return applyToList(before, difference['@']!);
  if (!isObject(before)) throw new Misfit('keys change only in an object');
  const changes = difference['~'] ?? {};
  const gone = difference['-'] ?? [];
  if (!isObject(changes) || !Array.isArray(gone)) throw new Misfit('changes by key, and the keys that went');
  const after = changing(before);
  for (const key of gone) {
    if (!Object.hasOwn(after, String(key))) throw new Misfit(`there is no ${String(key)} to remove`);
    delete after[String(key)];
  }
  for (const key of Object.keys(changes)) {
    const change = changes[key]!;
    const known = Object.hasOwn(after, key);
    if (!known && !(isObject(change) && Object.hasOwn(change, '=')))
      throw new Misfit(`there is no ${key} to change`);
    put(after, key, apply(known ? after[key]! : null, change, changing));
  }
  return after;
};

/** A file may say any key: this one would change what the object is. */
const put = (object: Changing, key: string, value: Json): void => {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
};

const applyToList = (before: Json, splice: Json): Json => {
  const [at, gone, come] = Array.isArray(splice) ? splice : [];
  const sound =
    Number.isInteger(at) && Number.isInteger(gone) && Array.isArray(come) && Array.isArray(before);
  if (!sound || at < 0 || gone < 0 || at + gone > before.length)
    throw new Misfit('a run of a list that is not there');
  return [...before.slice(0, at), ...come, ...before.slice(at + gone)];
};
