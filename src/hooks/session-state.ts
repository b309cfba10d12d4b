import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK_DIRECTORY } from '../act/record/file-lock.ts';
import type { BlockRecord, Descendant, HeldLock, HookSession } from '../model/hook.ts';
import type { Identity } from '../model/identity.ts';
import { asObject, isCount, isTime, type JsonObject } from '../model/json.ts';
import { isRunning } from '../observe/one-process.ts';
import { readOwnTail, replaceOwn, unlinkIfThere } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import { withShortLock } from './progress-file.ts';

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
  byPlugin: false,
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

/** Beside a session's file while a hook of the plugin works for it: an empty directory that a shell makes. */
const BUSY = '.busy';

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
      rmSync(`${fileOf(directory, session)}${BUSY}`, { recursive: true, force: true });
    });
  } catch {
    // It stays; the next session that starts clears old ones away.
  }
};

const asFields = (value: unknown): JsonObject => asObject(value) ?? {};

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
  let fields: JsonObject;
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
    byPlugin: fields.byPlugin === true,
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

/**
 * Counts of hooks that could not wait any longer for their session's file. Each leaves one small file of its own, for
 * which nobody has to wait, and whoever has the session's file next counts them: a machine that is drowning makes a
 * count late, never wrong.
 */
const directoryOf = (sessionFile: string): string => `${sessionFile}.owed`;

/** A turn of a subagent ('' is the session itself), or a call of a build tool that was let through. */
export type Owed = { readonly what: 'turn'; readonly who: string } | { readonly what: 'call' };

const MOST_COUNT_BYTES = 1024;
/** More at once would hold up the one who counts; the rest is left to the next. */
const MOST_AT_ONCE = 1000;
const ENDING = '.json';

/** Throws what the file system says. */
export const owe = (sessionFile: string, owed: Owed): void => {
  const directory = directoryOf(sessionFile);
  makeStateDirectory(directory);
  const name = `${process.pid}-${process.hrtime.bigint()}${ENDING}`;
  replaceOwn(join(directory, name), JSON.stringify(owed));
};

export interface OwedCounts {
  readonly counts: readonly Owed[];
  /** To be called when they have been counted. A crash before that counts them once more. */
  settle(): void;
}

const parsed = (path: string): readonly Owed[] => {
  try {
    const { what, who } = JSON.parse(readOwnTail(path, MOST_COUNT_BYTES) ?? '') as Record<string, unknown>;
    if (what === 'turn' && typeof who === 'string') return [{ what, who }];
    return what === 'call' ? [{ what }] : [];
  } catch {
    return []; // not ours, or cut off by a full disk
  }
};

export const owedCounts = (sessionFile: string): OwedCounts => {
  const directory = directoryOf(sessionFile);
  let names: string[];
  try {
    names = readdirSync(directory).filter(name => name.endsWith(ENDING));
  } catch {
    return { counts: [], settle: () => {} }; // none was left
  }
  const paths = names.slice(0, MOST_AT_ONCE).map(name => join(directory, name));
  return {
    counts: paths.flatMap(parsed),
    settle: () => {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
};

export const forgetOwed = (sessionFile: string): void =>
  rmSync(directoryOf(sessionFile), { recursive: true, force: true });

/** A session that is resumed the next morning finds what it had counted. */
const KEPT_MS = 24 * 3600_000;
/** A session that starts looks at this many; the next one goes on. */
const MOST_FILES = 200;

const FILE = /^(.+)\.json$/;

/** Drafts and turns of locks: each is needed for a millisecond. */
const HALF_MADE = /\.(?:tmp|turn)$/;

const pruneHalfMade = (directory: string, now: number): void => {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return; // there is none
  }
  for (const name of names.filter(one => HALF_MADE.test(one)).slice(0, MOST_FILES)) {
    const stat = lstatSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true && Math.abs(now - stat.mtimeMs) >= KEPT_MS)
      unlinkIfThere(join(directory, name));
  }
};

/**
 * Forgets sessions that never said they ended: killed, or their machine was switched off. Their agent is gone, and
 * nothing was heard of them for a day. What a kill left half made goes with them.
 */
export const pruneSessions = (directory: string, now: number): void => {
  for (const place of [SESSIONS, LOCK_DIRECTORY]) pruneHalfMade(join(directory, place), now);
  let names: string[];
  try {
    names = readdirSync(join(directory, SESSIONS));
  } catch {
    return; // no session ever had hooks
  }
  // A session that ends ends the hooks beside it, and what they leave.
  for (const name of names.filter(file => file.endsWith(BUSY)))
    if (!names.includes(name.slice(0, -BUSY.length)))
      rmSync(join(directory, SESSIONS, name), { recursive: true, force: true });
  for (const name of names.flatMap(file => FILE.exec(file)?.[1] ?? []).slice(0, MOST_FILES)) {
    const session = readSession(directory, name);
    if (session === null || Math.abs(now - session.beatAt) < KEPT_MS) continue;
    if (session.agent === null || isRunning(session.agent) === false) forgetSession(directory, name);
  }
};
