import type { Call } from '../../model/call.ts';
import { FINDING_IDS, type Finding, SEVERITIES } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { asArray, isJsonObject, type JsonObject, numberAt, objectAt, textAt } from '../../model/json.ts';
import { KINDS } from '../../model/kind.ts';
import { safeText } from '../../model/redact.ts';
import {
  type AgentSession,
  type JudgedThen,
  OWNERSHIP,
  type Owner,
  type ProcessThen,
  VERDICTS,
  type Verdict,
} from '../../model/snapshot.ts';
import { parseDate } from '../../model/time.ts';

/** One of these words, or null. */
const oneOf = <T extends string>(words: readonly T[], value: unknown): T | null =>
  words.find(word => word === value) ?? null;

const safeAt = (fields: JsonObject, name: string): string | null => {
  const text = textAt(fields, name);
  return text === null ? null : safeText(text);
};

const safeWords = (value: unknown): string[] =>
  asArray(value)
    .filter(word => typeof word === 'string')
    .map(safeText);

const identityAt = (fields: JsonObject | null): Identity | null => {
  const pid = fields === null ? null : numberAt(fields, 'pid');
  const start = fields === null ? null : safeAt(fields, 'start');
  return pid === null || start === null ? null : { pid, start };
};

const ownerOf = (owner: JsonObject | null): Owner | null => {
  const how = owner === null ? null : oneOf(OWNERSHIP, owner.how);
  if (owner === null || how === null) return null;
  return {
    pid: numberAt(owner, 'pid'),
    start: safeAt(owner, 'start'),
    sessionId: safeAt(owner, 'sessionId'),
    how,
    alive: owner.alive === true,
    ...(textAt(owner, 'project') === null ? {} : { project: safeAt(owner, 'project')! }),
  };
};

const callOf = (call: JsonObject): Call | null => {
  const tool = safeAt(call, 'tool');
  const startedAt = textAt(call, 'startedAt');
  const pid = numberAt(call, 'pid');
  if (tool === null) return null;
  return {
    id: '',
    tool,
    server: safeAt(call, 'server'),
    startedAt: startedAt === null ? null : parseDate(startedAt),
    subagent: call.subagent === true,
    seconds: numberAt(call, 'seconds'),
    process: pid === null ? null : { pid, start: '' },
    join: pid === null ? 'unknown' : 'name',
    hung: call.hung === true,
  };
};

const callsOf = (session: JsonObject): Pick<AgentSession, 'calls' | 'model' | 'context'> => {
  const context = objectAt(session, 'context');
  const tokens = context === null ? null : numberAt(context, 'tokens');
  return {
    calls: asArray(session.calls)
      .filter(isJsonObject)
      .flatMap(call => callOf(call) ?? []),
    model: safeAt(session, 'model'),
    context: tokens === null ? null : { tokens },
  };
};

const sessionOf = (session: JsonObject | null): AgentSession | null =>
  session === null
    ? null
    : {
        id: safeAt(session, 'id'),
        project: safeAt(session, 'project'),
        name: safeAt(session, 'name'),
        doing: oneOf(['busy', 'idle', 'waiting'], session.doing),
        waitingFor: safeAt(session, 'waitingFor'),
        seconds: numberAt(session, 'seconds'),
        ...callsOf(session),
      };

/** With these verdicts it concerns an agent; others may as well. */
const RELATED: ReadonlySet<Verdict> = new Set(['live', 'leak', 'suspect']);

const processThen = (p: JsonObject, related: boolean): readonly [IdentityKey, ProcessThen] | null => {
  const identity = identityAt(p);
  const verdict = oneOf(VERDICTS, p.verdict);
  const kind = oneOf(KINDS, p.kind);
  const name = safeAt(p, 'name');
  if (identity === null || verdict === null) return null;
  const words = safeWords(p.why);
  const why = words.length > 0 ? words : [`it was ${verdict} when it was recorded`];
  const owner = ownerOf(objectAt(p, 'owner'));
  const session = sessionOf(objectAt(p, 'session'));
  const protection = oneOf(['hard', 'soft'], p.protection);
  return [
    keyOf(identity),
    {
      ...(kind === null || name === null ? {} : { kind, name, agent: safeAt(p, 'agent') }),
      owner,
      session,
      isSession: session !== null,
      verdict,
      why,
      protection,
      protectedBecause: protection === null ? null : why[0]!,
      ...(related || owner !== null || RELATED.has(verdict) ? { related: true } : {}),
    },
  ];
};

const findingOf = (finding: JsonObject): Finding | null => {
  const id = oneOf(FINDING_IDS, finding.id);
  const severity = oneOf(SEVERITIES, finding.severity);
  if (id === null || severity === null) return null;
  return {
    id,
    severity,
    title: safeAt(finding, 'title') ?? '',
    why: safeAt(finding, 'why') ?? '',
    processes: asArray(finding.processes)
      .filter(isJsonObject)
      .flatMap(one => identityAt(one) ?? []),
    files: safeWords(finding.files),
    remedy: safeAt(finding, 'remedy') ?? '',
    // Nothing can be done from here.
    action: null,
  };
};

const heartbeatOf = (beat: JsonObject): Heartbeat | null => {
  const path = safeAt(beat, 'path');
  const state = oneOf(['fine', 'warn', 'critical', 'unreadable', 'leftover'], beat.state);
  if (path === null || state === null) return null;
  const counters = Object.entries(objectAt(beat, 'counters') ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return {
    path,
    format: safeAt(beat, 'format') ?? 'unknown',
    state,
    reason: safeAt(beat, 'reason'),
    ageSeconds: numberAt(beat, 'ageSeconds'),
    sessionId: safeAt(beat, 'sessionId'),
    task: safeAt(beat, 'task'),
    phase: safeAt(beat, 'phase'),
    operation: safeAt(beat, 'operation'),
    proof: safeAt(beat, 'proof'),
    status: safeAt(beat, 'status'),
    counters: Object.fromEntries(counters.map(([name, count]) => [safeText(name), count])),
    agent: identityAt(objectAt(beat, 'agent')),
  };
};

const listAt = <T>(document: JsonObject, name: string, read: (item: JsonObject) => T | null): T[] | null =>
  Array.isArray(document[name])
    ? document[name].filter(isJsonObject).flatMap(item => read(item) ?? [])
    : null;

/** What our own JSON says was judged when it was written: sockets, files and environments are not in it. */
export const judgedThen = (document: JsonObject): JudgedThen => {
  const processes = asArray(document.processes).filter(isJsonObject);
  const totals = objectAt(document, 'totals');
  // Without --all every process in the file concerns an agent.
  const relatedOnly = totals !== null && numberAt(totals, 'related') === processes.length;
  return {
    processes: new Map(processes.map(p => processThen(p, relatedOnly)).filter(one => one !== null)),
    findings: listAt(document, 'findings', findingOf),
    heartbeats: listAt(document, 'heartbeats', heartbeatOf),
    warnings: safeWords(document.warnings),
    count: totals === null ? null : numberAt(totals, 'processes'),
  };
};
