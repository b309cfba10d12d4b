import { type Json, type JsonObject, same } from './difference.ts';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsEqual = (names: readonly string[], a: JsonObject, b: JsonObject): boolean =>
  names.every(name => same(a[name] ?? null, b[name] ?? null));

const PROCESS = ['verdict', 'name', 'isSession', 'kind'] as const;
const FINDING = ['id', 'processes', 'files'] as const;
const HEARTBEAT = ['format', 'status', 'state', 'sessionId'] as const;

/** Members by their key, in the same order; what lies under one key is the same object until it changes. */
const membersAgree = (
  a: Json | undefined,
  b: Json | undefined,
  agree: (a: JsonObject, b: JsonObject) => boolean,
): boolean => {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || !isObject(a.items) || !isObject(b.items)) return false;
  if (!Array.isArray(a.order) || !Array.isArray(b.order) || !same(a.order, b.order)) return false;
  for (const key of a.order) {
    const [before, now] = [a.items[String(key)], b.items[String(key)]];
    if (before === now) continue;
    if (!isObject(before) || !isObject(now) || !agree(before, now)) return false;
  }
  return true;
};

const stateOf = ({ facts }: JsonObject): Json => (isObject(facts) ? (facts.state ?? null) : null);

const zombiesIn = (totals: Json | undefined): Json => (isObject(totals) ? (totals.zombies ?? null) : null);

/**
 * Two recorded pictures differ in nothing but weights and words: the same processes with the same verdicts, findings
 * about the same things, the same results. Nothing is checked, and a picture that makes no sense agrees with none: this
 * only saves a look at what would tell nothing new.
 */
export const sameOutline = (a: Json, b: Json): boolean => {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return false;
  return (
    zombiesIn(a.totals) === zombiesIn(b.totals) &&
    membersAgree(
      a.processes,
      b.processes,
      (p, q) => fieldsEqual(PROCESS, p, q) && stateOf(p) === stateOf(q),
    ) &&
    membersAgree(a.findings, b.findings, (p, q) => fieldsEqual(FINDING, p, q)) &&
    membersAgree(a.heartbeats, b.heartbeats, (p, q) => fieldsEqual(HEARTBEAT, p, q))
  );
};
