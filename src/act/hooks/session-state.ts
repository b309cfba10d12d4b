import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BlockRecord, Descendant, HeldLock, HookSession } from '../../model/hook.ts';
import type { Identity } from '../../model/identity.ts';
import { readOwnTail, replaceOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';
import { forgetOwed, type Owed, owe, owedCounts } from './owed-counts.ts';
import { withShortLock } from './short-lock.ts';

/** Below the state directory: one small file per session that has hooks. */
export const SESSIONS = 'sessions';

const MOST_BYTES = 64 * 1024;
/** Bounded: a session may have any number of subagents. */
const MOST_AGENTS = 64;
export const MOST_TASKS = 16;
/** At a session's end there is a second for everything. */
const WAIT_AT_THE_END_MS = 300;

export const newSession = (
  session: string,
  cwd: string,
  agent: Identity | null,
  startedAt: number,
): HookSession => ({
  session,
  agent,
  cwd,
  startedAt,
  beatAt: startedAt,
  operation: 'starting',
  turns: {},
  askedAt: { memory: null, turns: null },
  tasks: [],
  works: [],
  diagnosticCalls: 0,
  skippedDiagnostics: 0,
  denials: 0,
  throttle: { checks: 0, skips: 0 },
  locks: [],
  below: [],
  blocks: {},
  inARow: {},
});

const fileOf = (directory: string, session: string): string => join(directory, SESSIONS, `${session}.json`);

/** What is remembered of a session; null: nothing, or nothing that makes sense. */
export const readSession = (directory: string, session: string): HookSession | null => {
  try {
    return parseSession(readOwnTail(fileOf(directory, session), MOST_BYTES) ?? '');
  } catch {
    return null; // another user's, or a link: not ours to believe
  }
};

export const withCount = (
  counts: Readonly<Record<string, number>>,
  name: string,
  count: number,
): Record<string, number> =>
  Object.fromEntries(
    [...Object.entries(counts).filter(([other]) => other !== name), [name, count] as const].slice(
      -MOST_AGENTS,
    ),
  );

const counted = (session: HookSession, owed: Owed): HookSession =>
  owed.what === 'call'
    ? { ...session, diagnosticCalls: session.diagnosticCalls + 1 }
    : { ...session, turns: withCount(session.turns, owed.who, (session.turns[owed.who] ?? 0) + 1) };

/**
 * Changes what is remembered of a session, one hook after the other. Null: the file could not be had in time or not be
 * written, and nothing was remembered; what is `owed` then is counted by the next hook.
 */
export const updateSession = <T>(
  directory: string,
  session: string,
  fresh: () => HookSession,
  change: (before: HookSession) => { readonly after: HookSession; readonly result: T },
  { owed, waitMs }: { readonly owed?: Owed | null | undefined; readonly waitMs: number },
): T | null => {
  const path = fileOf(directory, session);
  try {
    makeStateDirectory(directory);
    makeStateDirectory(join(directory, SESSIONS));
    const done = withShortLock(`${path}.lock`, waitMs, () => {
      const { counts, settle } = owedCounts(path);
      const { after, result } = change(counts.reduce(counted, readSession(directory, session) ?? fresh()));
      replaceOwn(path, `${JSON.stringify(after)}\n`);
      settle();
      return result;
    });
    if (done !== null) return done.value;
    if (owed != null) owe(path, owed);
    return null;
  } catch {
    return null; // a full or read-only disk: a hook goes on without a memory
  }
};

export const forgetSession = (directory: string, session: string): void => {
  try {
    withShortLock(`${fileOf(directory, session)}.lock`, WAIT_AT_THE_END_MS, () => {
      rmSync(fileOf(directory, session), { force: true });
      forgetOwed(fileOf(directory, session));
    });
  } catch {
    // It stays; the next session that starts clears old ones away.
  }
};

type Fields = Readonly<Record<string, unknown>>;

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const counts = (value: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(asFields(value)).filter(([, count]) => isCount(count))) as Record<
    string,
    number
  >;

const isBlock = (value: unknown): value is BlockRecord => {
  const { count, marker, print } = asFields(value);
  return isCount(count) && typeof marker === 'string' && typeof print === 'string';
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const locks = (value: unknown): HeldLock[] =>
  (Array.isArray(value) ? value : []).slice(-16).flatMap(lock => {
    const { key, toolUseId, agentId, beside } = asFields(lock);
    const { root, directory } = asFields(beside);
    if (typeof key !== 'string' || key === '') return [];
    const place = typeof root === 'string' && typeof directory === 'string' ? { root, directory } : null;
    return [{ key, toolUseId: textOrNull(toolUseId), agentId: textOrNull(agentId), beside: place }];
  });

const paths = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).filter(path => typeof path === 'string').slice(-MOST_TASKS);

const identity = (value: unknown): Identity | null => {
  const { pid, start } = asFields(value);
  return isCount(pid) && typeof start === 'string' ? { pid, start } : null;
};

const descendants = (value: unknown): Descendant[] =>
  (Array.isArray(value) ? value : []).flatMap(one => {
    const [self, parent] = [identity(one), identity(asFields(one).parent)];
    return self === null || parent === null ? [] : [{ ...self, parent }];
  });

const parseSession = (text: string): HookSession | null => {
  let fields: Fields;
  try {
    fields = asFields(JSON.parse(text));
  } catch {
    return null; // empty, or cut off by a full disk
  }
  const { session, cwd, startedAt } = fields;
  if (typeof session !== 'string' || typeof cwd !== 'string' || !isTime(startedAt)) return null;
  const asked = asFields(fields.askedAt);
  const throttle = asFields(fields.throttle);
  return {
    ...newSession(session, cwd, identity(fields.agent), startedAt),
    beatAt: isTime(fields.beatAt) ? fields.beatAt : startedAt,
    operation: typeof fields.operation === 'string' ? fields.operation : 'starting',
    turns: counts(fields.turns),
    askedAt: {
      memory: isTime(asked.memory) ? asked.memory : null,
      turns: isTime(asked.turns) ? asked.turns : null,
    },
    tasks: paths(fields.tasks),
    works: paths(fields.works),
    diagnosticCalls: isCount(fields.diagnosticCalls) ? fields.diagnosticCalls : 0,
    skippedDiagnostics: isCount(fields.skippedDiagnostics) ? fields.skippedDiagnostics : 0,
    denials: isCount(fields.denials) ? fields.denials : 0,
    throttle: {
      checks: isCount(throttle.checks) ? throttle.checks : 0,
      skips: isCount(throttle.skips) ? throttle.skips : 0,
    },
    locks: locks(fields.locks),
    below: descendants(fields.below),
    blocks: Object.fromEntries(
      Object.entries(asFields(fields.blocks)).filter(([, block]) => isBlock(block)),
    ) as Record<string, BlockRecord>,
    inARow: counts(fields.inARow),
  };
};
