import { type GlimpsedCall, type GlimpsedProcess, glimpseOf } from '../../judge/report/glimpse.ts';
import { FINDING_IDS } from '../../model/finding.ts';
import { KINDS } from '../../model/kind.ts';
import type { Glimpse } from '../../model/report.ts';
import type { Frame, Json, StoredObject } from './lines.ts';

/**
 * What a report takes from a moment, straight from its picture: checking every field of every process, as whoever shows
 * the moment must, costs ten times as much as all the rest of a report. What is taken is checked here, and a member of
 * which any of it is wrong is left out.
 */
export const glimpseAt = ({ at, picture }: Frame): Glimpse | null => {
  if (!isObject(picture) || !isObject(picture.host) || !areTotals(picture.totals)) return null;
  return glimpseOf({
    takenAt: at,
    totals: picture.totals,
    processes: membersOf(picture.processes, isProcess).map(p => ({ ...p, session: { calls: callsOf(p) } })),
    findings: membersOf(picture.findings, isFinding),
    heartbeats: membersOf(picture.heartbeats, isHeartbeat),
    tmux: isListOf(picture.tmux, isServer) ? picture.tmux : [],
  });
};

type Glimpsed = Parameters<typeof glimpseOf>[0];
type Member<Name extends 'findings' | 'heartbeats' | 'tmux'> = Glimpsed[Name][number];

const KNOWN_KINDS: ReadonlySet<unknown> = new Set(KINDS);
const KNOWN_FINDINGS: ReadonlySet<unknown> = new Set(FINDING_IDS);

const isObject = (value: Json | undefined): value is StoredObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: Json | undefined): value is string => typeof value === 'string';
const isNumber = (value: Json | undefined): value is number => typeof value === 'number';
const isTextOrNull = (value: Json | undefined): boolean => value === null || isText(value);
const isNumberOrNull = (value: Json | undefined): boolean => value === null || isNumber(value);

const isListOf = <T>(
  value: Json | undefined,
  is: (value: Json | undefined) => value is Json & T,
): value is Json & readonly T[] => Array.isArray(value) && value.every(is);

const areTotals = (value: Json | undefined): value is Json & Glimpsed['totals'] =>
  isObject(value) &&
  isNumber(value.related) &&
  isNumber(value.zombies) &&
  isNumber(value.rss) &&
  isNumber(value.swap);

const isIdentity = (value: Json | undefined): value is StoredObject & { pid: number; start: string } =>
  isObject(value) && Number.isInteger(value.pid) && isText(value.start);

type Recorded = Omit<GlimpsedProcess, 'session'>;

/** Segments that were written before 18 November 2026 name no calls. */
const callsOf = (p: Recorded): readonly GlimpsedCall[] => {
  const { session } = p as unknown as StoredObject;
  const calls = isObject(session) && Array.isArray(session.calls) ? session.calls : [];
  return calls.filter(isCall);
};

const isCall = (value: Json | undefined): value is Json & GlimpsedCall =>
  isObject(value) &&
  isText(value.id) &&
  isText(value.tool) &&
  isTextOrNull(value.server) &&
  isNumberOrNull(value.startedAt);

const isProcess = (value: Json | undefined): value is Json & Recorded => {
  if (!isObject(value) || !isIdentity(value.facts)) return false;
  const { rss, state, details } = value.facts as StoredObject;
  return (
    isText(state) &&
    isNumberOrNull(rss) &&
    (details === null || (isObject(details) && isTextOrNull(details.cwd) && isNumberOrNull(details.swap))) &&
    KNOWN_KINDS.has(value.kind) &&
    isTextOrNull(value.agent) &&
    isText(value.name) &&
    isText(value.verdict) &&
    typeof value.isSession === 'boolean' &&
    typeof value.related === 'boolean'
  );
};

const isFinding = (value: Json | undefined): value is Json & Member<'findings'> =>
  isObject(value) &&
  KNOWN_FINDINGS.has(value.id) &&
  isText(value.title) &&
  isListOf(value.processes, isIdentity) &&
  isListOf(value.files, isText);

const isHeartbeat = (value: Json | undefined): value is Json & Member<'heartbeats'> =>
  isObject(value) &&
  isText(value.path) &&
  isText(value.format) &&
  isText(value.state) &&
  isTextOrNull(value.sessionId) &&
  isTextOrNull(value.status ?? null);

const isServer = (value: Json | undefined): value is Json & Member<'tmux'> =>
  isObject(value) && isText(value.socket) && isListOf(value.panes, isPane);

const isPane = (value: Json | undefined): value is StoredObject & { sessionId: string } =>
  isObject(value) && isText(value.sessionId);

/** In their order; `items` may hold more than is used. */
const membersOf = <T>(
  keyed: Json | undefined,
  is: (value: Json | undefined) => value is Json & T,
): readonly T[] => {
  if (!isObject(keyed) || !Array.isArray(keyed.order) || !isObject(keyed.items)) return [];
  const { order, items } = keyed as { order: readonly Json[]; items: StoredObject };
  const found: T[] = [];
  for (const key of order) {
    const item = Object.hasOwn(items, String(key)) ? items[String(key)] : undefined;
    if (is(item)) found.push(item);
  }
  return found;
};
