import type * as z from 'zod';
import { plural } from '../../model/format.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Json, JsonObject } from './difference.ts';
import type { Frame } from './lines.ts';
import {
  findingSchema,
  heartbeatSchema,
  hostSchema,
  processSchema,
  tmuxSchema,
  totalsSchema,
  wordsSchema,
} from './picture-schema.ts';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checked once: from moment to moment most objects are the very same ones. */
const checkedBy = <T>(schema: z.ZodType<T>): ((value: Json | undefined) => T | null) => {
  const known = new WeakMap<object, T | false>();
  return value => {
    if (typeof value !== 'object' || value === null) return null;
    let found = known.get(value);
    if (found === undefined) {
      const parsed = schema.safeParse(value);
      found = parsed.success ? parsed.data : false;
      known.set(value, found);
    }
    return found === false ? null : found;
  };
};

const processOf = checkedBy(processSchema);
const findingOf = checkedBy(findingSchema);
const heartbeatOf = checkedBy(heartbeatSchema);
const hostOf = checkedBy(hostSchema);
const totalsOf = checkedBy(totalsSchema);
const tmuxOf = checkedBy(tmuxSchema);
const warningsOf = checkedBy(wordsSchema);

/** The members that can be read, in their order, and how many cannot. */
const membersOf = <T>(
  keyed: Json | undefined,
  read: (value: Json | undefined) => T | null,
): { readonly found: readonly T[]; readonly lost: number } => {
  if (!isObject(keyed) || !Array.isArray(keyed.order) || !isObject(keyed.items))
    return { found: [], lost: 1 };
  const { order, items } = keyed as { order: readonly Json[]; items: JsonObject };
  const all = order.map(key => read(Object.hasOwn(items, String(key)) ? items[String(key)] : undefined));
  const found = all.filter(item => item !== null);
  return { found, lost: all.length - found.length };
};

/** The moment as it was judged then; null when what was kept of it is no picture. */
export const snapshotOf = ({ at, clock, picture }: Frame): Snapshot | null => {
  if (!isObject(picture)) return null;
  const host = hostOf(picture.host);
  const totals = totalsOf(picture.totals);
  if (host === null || totals === null) return null;
  const processes = membersOf(picture.processes, processOf);
  const findings = membersOf(picture.findings, findingOf);
  const heartbeats = membersOf(picture.heartbeats, heartbeatOf);
  const lost = processes.lost + findings.lost + heartbeats.lost;
  const ageOf = (since: number | null): number | null =>
    since === null ? null : Math.max(0, at - since) / 1000;
  return {
    takenAt: at,
    clock,
    // Nothing can be signalled from it, whoever asks.
    host: { ...host, backend: 'recorded' },
    self: null,
    totals,
    warnings: [
      ...(warningsOf(picture.warnings) ?? []),
      ...(lost === 0 ? [] : [`${plural(lost, 'part')} of the recording could not be read.`]),
    ],
    processes: processes.found.map(({ session, ...p }) => ({
      ...p,
      ageSeconds: p.facts.born === null ? null : Math.max(0, clock - p.facts.born),
      session: session === null ? null : { ...session, seconds: ageOf(session.seconds) },
    })),
    findings: findings.found,
    heartbeats: heartbeats.found.map(beat => ({ ...beat, ageSeconds: ageOf(beat.ageSeconds) })),
    tmux: tmuxOf(picture.tmux as Json) ?? [],
  };
};
