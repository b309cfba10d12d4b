import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { isCount, isTime } from '../../model/json.ts';
import type { HostFacts, TmuxServer } from '../../model/observation.ts';
import type { JudgedProcess, Snapshot, Totals } from '../../model/snapshot.ts';

/** Lines of another format are passed over as wrong ones are. */
const FORMAT = 1;

/**
 * One line of a segment. `n` counts from the last full picture: a difference is of the line right before it, so that
 * after a torn line nothing counts until the next full picture.
 */
type Line =
  | {
      readonly v: typeof FORMAT;
      readonly n: 0;
      readonly at: number;
      readonly clock: number;
      readonly full: Json;
    }
  | { readonly n: number; readonly at: number; readonly clock: number; readonly d: Difference | null };

/** One recorded moment; parts that did not change since the one before are the same objects. */
export interface Frame {
  readonly at: number;
  readonly clock: number;
  readonly picture: Json;
}

/** Turns snapshots into lines: a full picture first, then what changed. */
export class LineWriter {
  #picture: Json | null = null;
  #n = 0;

  /** The next line is a full picture: a new segment begins, or a line may not have been written whole. */
  startAnew(): void {
    this.#picture = null;
  }

  next(snapshot: Snapshot): string {
    const picture = pictureOf(snapshot) as unknown as Json;
    const when = { at: snapshot.takenAt, clock: snapshot.clock };
    const line: Line =
      this.#picture === null
        ? { v: FORMAT, n: 0, ...when, full: picture }
        : { n: this.#n + 1, ...when, d: differenceOf(this.#picture, picture) };
    this.#picture = picture;
    this.#n = line.n;
    return `${JSON.stringify(line)}\n`;
  }
}

export interface Decoded {
  readonly frames: readonly Frame[];
  /** Lines that were torn, wrong, or differences of such. */
  readonly skipped: number;
}

type Apply = (before: Json, difference: unknown) => Json;

/** Everything that can be read of a segment's text, in the order of its lines. A last line without its end is torn. */
export const decodeLines = (text: string): Decoded => {
  const frames: Frame[] = [];
  const skipped = eachLine(text, applyDifference, ({ at, clock, picture }) =>
    frames.push({ at, clock, picture }),
  );
  return { frames, skipped };
};

/** Shows every moment in turn, and says how many lines it had to skip. The next one is made of the objects of the last. */
export const passLines = (text: string, show: (frame: Frame) => void): number =>
  eachLine(text, changeInPlace, show);

const eachLine = (text: string, apply: Apply, show: (frame: Frame) => void): number => {
  let skipped = 0;
  let last: ReadLine | null = null;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length : end + 1;
    if (line === '') continue;
    last = readLine(line, last, apply);
    if (last === null) skipped += 1;
    else show(last);
  }
  return skipped;
};

interface ReadLine extends Frame {
  readonly n: number;
}

const readLine = (line: string, last: ReadLine | null, apply: Apply): ReadLine | null => {
  try {
    const { v, n, at, clock, full, d } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (!isCount(n) || !isTime(at) || typeof clock !== 'number' || !Number.isFinite(clock)) return null;
    if (n === 0) return v === FORMAT && full !== undefined ? { n, at, clock, picture: full as Json } : null;
    if (last === null || n !== last.n + 1) return null;
    return { n, at, clock, picture: d === null ? last.picture : apply(last.picture, d) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Misfit || error instanceof TypeError) return null;
    throw error;
  }
};

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | StoredObject;
export interface StoredObject {
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

const isObject = (value: unknown): value is StoredObject =>
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

const objectDifference = (before: StoredObject, after: StoredObject): Difference | null => {
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

/** Parts that did not change are the same objects as before, so that they need not be checked again. */
export const applyDifference = (before: Json, difference: unknown): Json =>
  apply(before, difference, object => ({ ...object }));

/**
 * The same, into the very objects of `before`: five times as fast, for a walk through moments that keeps none. What
 * does not fit may be applied in part when it is noticed: such a picture is worth nothing any more.
 */
export const changeInPlace = (before: Json, difference: unknown): Json =>
  apply(before, difference, object => object as Changing);

const apply = (before: Json, difference: unknown, changing: (object: StoredObject) => Changing): Json => {
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

/** A list whose members change one by one: by key, and in which order. */
export interface Keyed<T> {
  readonly order: readonly string[];
  readonly items: Readonly<Record<string, T>>;
}

/**
 * A judged moment as it is kept: what the tree, the findings and the detail show, and never an environment. Ages are kept
 * as the moment they count from (a process's is its birth): a number that changes every ten seconds would be most of the
 * recording.
 */
export interface Picture {
  readonly host: HostFacts;
  readonly totals: Totals;
  readonly warnings: readonly string[];
  readonly processes: Keyed<Json>;
  readonly findings: Keyed<Json>;
  readonly heartbeats: Keyed<Json>;
  readonly tmux: readonly TmuxServer[];
}

const keyedBy = <T>(
  list: readonly T[],
  keyFor: (item: T) => string,
  kept: (item: T) => Json,
): Keyed<Json> => {
  const items = new Map<string, Json>();
  for (const item of list) {
    const name = keyFor(item);
    let key = name;
    for (let n = 2; items.has(key); n += 1) key = `${name}#${n}`;
    items.set(key, kept(item));
  }
  return { order: [...items.keys()], items: Object.fromEntries(items) };
};

/** `undefined` is not in JSON, and a difference would report forever that such a field went. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const rounded = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits));

const sinceOf = (seconds: number | null, takenAt: number): number | null =>
  seconds === null ? null : Math.round(takenAt - seconds * 1000);

const keptProcess =
  (takenAt: number) =>
  ({ facts, session, ageSeconds: _, doubt: __, servesOne: ___, ...p }: JudgedProcess): Json =>
    plain({
      ...p,
      facts: {
        ...facts,
        env: null,
        // What moves at every sample and is shown nowhere.
        activity: undefined,
        details: facts.details === null ? null : { ...facts.details, io: null, outputAt: undefined },
        cpu: rounded(facts.cpu, 1),
        cpuSeconds: rounded(facts.cpuSeconds, 2),
      },
      session:
        session === null
          ? null
          : {
              ...session,
              seconds: sinceOf(session.seconds, takenAt),
              // How long each has taken follows from its beginning.
              calls: session.calls?.map(call => ({ ...call, seconds: null })),
            },
    });

const findingKey = ({ id, processes, files }: Snapshot['findings'][number]): string => {
  const [first] = processes;
  return `${id} ${first === undefined ? (files[0] ?? '') : (keyOf(first) satisfies IdentityKey)}`;
};

/** Only related processes are kept: a recording is about agents. */
const pictureOf = (snapshot: Snapshot): Picture => ({
  host: snapshot.host,
  totals: snapshot.totals,
  warnings: snapshot.warnings,
  processes: keyedBy(
    snapshot.processes.filter(p => p.related),
    p => keyOf(p.facts),
    keptProcess(snapshot.takenAt),
  ),
  findings: keyedBy(snapshot.findings, findingKey, plain),
  heartbeats: keyedBy(
    snapshot.heartbeats,
    beat => beat.path,
    beat => plain({ ...beat, ageSeconds: sinceOf(beat.ageSeconds, snapshot.takenAt) }),
  ),
  tmux: snapshot.tmux,
});
