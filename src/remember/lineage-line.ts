import type { LineageEntry } from '../judge/rules/lineage.ts';
import { type Identity, type IdentityKey, keyOf, sameIdentity } from '../model/identity.ts';

/**
 * One line of `lineage.jsonl` and of the files in `lineage.d/`: an identity, and the agent that it was seen below.
 * Times are seconds of the boot's own clock (`/proc/uptime`), which no change of the wall clock moves.
 */
export interface LineageLine extends Identity {
  readonly agent: Identity;
  readonly session: string | null;
  /** `claude`, `codex`…; for whoever reads the file. */
  readonly family: string | null;
  readonly parent: Identity | null;
  readonly boot: string;
  /** When it was first seen there. */
  readonly seen: number;
  /** When a compaction first found that it had ended; null while it runs. */
  readonly gone: number | null;
}

/** The boot that lines are written in and read in, and now on its clock. */
export interface Moment {
  readonly boot: string;
  readonly clock: number;
}

/** An honest line has some 250 bytes. */
const LINE_LIMIT = 1024;

export const lineText = (line: LineageLine): string =>
  `${JSON.stringify({
    pid: line.pid,
    start: line.start,
    agent: { pid: line.agent.pid, start: line.agent.start },
    session: line.session,
    family: line.family,
    parent: line.parent === null ? null : { pid: line.parent.pid, start: line.parent.start },
    boot: line.boot,
    seen: Math.round(line.seen * 100) / 100,
    ...(line.gone === null ? {} : { gone: Math.round(line.gone) }),
  })}\n`;

/** Null for whatever is not exactly such a line: torn, too long, of wrong types, or about who cannot be meant. */
export const parseLine = (text: string): LineageLine | null => {
  if (text.length > LINE_LIMIT) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // cut short by a full disk, or by a kill in the middle
  }
  const { session, family, parent, boot, seen, gone = null, agent, ...own } = (value ?? {}) as Fields;
  const of = identity(own);
  const owner = identity(agent);
  const above = parent === null ? null : identity(parent);
  if (of === null || owner === null || (parent !== null && above === null)) return null;
  if (!isName(session) || !isName(family) || !isTime(seen) || !(gone === null || isTime(gone))) return null;
  if (typeof boot !== 'string' || !BOOT.test(boot)) return null;
  // Nobody is older than the agent above it, nor that agent itself.
  if (sameIdentity(of, owner) || Number(owner.start) > Number(of.start)) return null;
  return { ...of, agent: owner, session, family, parent: above, boot, seen, gone };
};

type Fields = Readonly<Record<string, unknown>>;

const BOOT = /^[\w-]{1,64}$/;
const TICKS = /^\d{1,19}$/;
const NAME = /^[\w.:@-]{1,128}$/;

/** Highest pid Linux gives out (`PID_MAX_LIMIT`). */
const MOST_PIDS = 4_194_304;

const identity = (value: unknown): Identity | null => {
  const { pid, start } = (value ?? {}) as Fields;
  const sound = typeof pid === 'number' && Number.isInteger(pid) && pid > 2 && pid <= MOST_PIDS;
  return sound && typeof start === 'string' && TICKS.test(start) ? { pid, start } : null;
};

const isName = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && NAME.test(value));

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** A session id as it may stand in a line and in a file's name; null for whatever is none. */
export const asSessionName = (session: string | null): string | null =>
  session !== null && NAME.test(session) && !/^\.+$/.test(session) ? session : null;

const fromKey = (key: IdentityKey): Identity => {
  const at = key.indexOf(':');
  return { pid: Number(key.slice(0, at)), start: key.slice(at + 1) };
};

/** What the ledger in memory says, as lines that were first seen now. */
export const linesFrom = (
  entries: Iterable<readonly [IdentityKey, LineageEntry]>,
  familyOf: (agent: IdentityKey) => string | null,
  { boot, clock }: Moment,
): LineageLine[] =>
  [...entries].map(([key, entry]) => ({
    ...fromKey(key),
    agent: fromKey(entry.owner),
    session: asSessionName(entry.sessionId),
    family: asSessionName(familyOf(entry.owner)),
    // PID 1 and the like are nobody's link.
    parent: entry.parent === null ? null : identity(fromKey(entry.parent)),
    boot,
    seen: clock,
    gone: null,
  }));

export const entryFrom = (line: LineageLine): readonly [IdentityKey, LineageEntry] => [
  keyOf(line),
  {
    owner: keyOf(line.agent),
    sessionId: line.session,
    parent: line.parent === null ? null : keyOf(line.parent),
  },
];
