import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LineageEntry } from '../judge/rules/lineage.ts';
import { type Identity, type IdentityKey, keyOf, sameIdentity } from '../model/identity.ts';
import type { JsonObject } from '../model/json.ts';
import { visible } from '../model/text.ts';
import { appendLines } from '../observe/state/lines-file.ts';
import { belongsToUs, errorSentence, readOwnEnd, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

export const LINEAGE_FILE = 'lineage.jsonl';
/** One file per ended session, written by the SessionEnd hook and folded into the one above by guard. */
export const LINEAGE_DIRECTORY = 'lineage.d';

/** More are not kept, and not read. */
export const MOST_ENTRIES = 20_000;
/** Room for as many, and for the few that came since the last compaction. */
const MOST_BYTES = 8 * 1024 ** 2;
const MOST_SESSION_FILES = 1000;
/** A session of 2,000 processes. */
const MOST_SESSION_BYTES = 512 * 1024;

export interface LineageFile {
  readonly path: string;
  readonly limit: number;
  /** Left by one ended session, in `lineage.d`. */
  readonly session: boolean;
  /** Changes whenever the file does. */
  readonly stamp: string;
}

/** Files that there are, oldest knowledge first, and what was left out. */
export const lineageFiles = (directory: string): { files: LineageFile[]; leftOut: number } => {
  const names = listOrNone(join(directory, LINEAGE_DIRECTORY)).filter(name => name.endsWith('.jsonl'));
  const kept = names.sort().slice(-MOST_SESSION_FILES);
  const files = [
    stamped(join(directory, LINEAGE_FILE), MOST_BYTES, false),
    ...kept.map(name => stamped(join(directory, LINEAGE_DIRECTORY, name), MOST_SESSION_BYTES, true)),
  ];
  return { files: files.filter(file => file !== null), leftOut: names.length - kept.length };
};

const listOrNone = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return []; // no session has ended here yet
  }
};

const stamped = (path: string, limit: number, session: boolean): LineageFile | null => {
  try {
    const { ino, size, mtimeMs } = lstatSync(path);
    return { path, limit, session, stamp: `${path}:${ino}:${size}:${mtimeMs}` };
  } catch {
    return null; // not there, or folded in since the listing
  }
};

export type LinesRead =
  | { readonly lines: readonly string[]; readonly cut: boolean }
  | { readonly refused: string };

/** The lines at its end. Only what no other user can have written is believed: a regular file, ours, writable by us alone. */
export const readLines = ({ path, limit }: LineageFile): LinesRead => {
  try {
    const end = readOwnEnd(path, limit);
    if (end === null) return { lines: [], cut: false };
    if ((end.mode & 0o022) !== 0) return { refused: 'others may write it' };
    const lines = end.text.split('\n');
    const cut = end.size > limit;
    // The first line of a tail is usually half a line; after the last newline there is nothing, or a torn line.
    if (cut) lines.shift();
    if (lines.at(-1) === '') lines.pop();
    return { lines, cut };
  } catch (error) {
    return { refused: errorSentence(error) };
  }
};

/** Why nothing in the directory may be believed; null when it is ours alone. */
export const distrust = (directory: string): string | null => {
  try {
    const stat = lstatSync(directory);
    if (!stat.isDirectory()) return 'it is not a directory';
    if (!belongsToUs(stat)) return 'it belongs to another user';
    return (stat.mode & 0o022) === 0 ? null : 'others may write there';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : errorSentence(error);
  }
};

/**
 * One line of `lineage.jsonl` and of the files in `lineage.d/`: an identity, and the agent that it was seen below.
 * Times are seconds of the boot's own clock (`/proc/uptime`), which no change of the wall clock moves.
 */
export interface LineageLine extends Identity {
  readonly agent: Identity;
  readonly session: string | null;
  /** `claude`, `codex`… */
  readonly family: string | null;
  /** The last part of the agent's directory. */
  readonly project?: string | null;
  readonly parent: Identity | null;
  readonly boot: string;
  /** When it was first seen there. */
  readonly seen: number;
  /** When a compaction first found that it had ended; null while it runs. */
  readonly gone: number | null;
}

/** The boot that lines are written in and read in, and now on its clock. */
export interface LineageMoment {
  readonly boot: string;
  readonly clock: number;
}

/** An honest line has some 250 bytes. */
const LINE_LIMIT = 1024;
const LONGEST_PROJECT = 100;

export const lineText = (line: LineageLine): string =>
  `${JSON.stringify({
    pid: line.pid,
    start: line.start,
    agent: { pid: line.agent.pid, start: line.agent.start },
    session: line.session,
    family: line.family,
    ...(line.project == null ? {} : { project: line.project }),
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
  const {
    session,
    family,
    project,
    parent,
    boot,
    seen,
    gone = null,
    agent,
    ...own
  } = (value ?? {}) as JsonObject;
  const of = identity(own);
  const owner = identity(agent);
  const above = parent === null ? null : identity(parent);
  if (of === null || owner === null || (parent !== null && above === null)) return null;
  if (!isName(session) || !isName(family) || !isSeconds(seen) || !(gone === null || isSeconds(gone)))
    return null;
  if (typeof boot !== 'string' || !BOOT.test(boot)) return null;
  // Nothing is older than the agent above it, nor that agent itself.
  if (sameIdentity(of, owner) || Number(owner.start) > Number(of.start)) return null;
  return {
    ...of,
    agent: owner,
    session,
    family,
    project: projectOf(project),
    parent: above,
    boot,
    seen,
    gone,
  };
};

const BOOT = /^[\w-]{1,64}$/;
const TICKS = /^\d{1,19}$/;
const NAME = /^[\w.:@-]{1,128}$/;

/** Highest pid Linux gives out (`PID_MAX_LIMIT`). */
const MOST_PIDS = 4_194_304;

const identity = (value: unknown): Identity | null => {
  const { pid, start } = (value ?? {}) as JsonObject;
  const sound = typeof pid === 'number' && Number.isInteger(pid) && pid > 2 && pid <= MOST_PIDS;
  return sound && typeof start === 'string' && TICKS.test(start) ? { pid, start } : null;
};

const isName = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && NAME.test(value));

/** It is only shown: one that cannot be is left out, and the line still counts. */
const projectOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= LONGEST_PROJECT ? visible(value) : null;

const isSeconds = (value: unknown): value is number =>
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
  { boot, clock }: LineageMoment,
): LineageLine[] =>
  [...entries].map(([key, entry]) => ({
    ...fromKey(key),
    agent: fromKey(entry.owner),
    session: asSessionName(entry.sessionId),
    family: asSessionName(entry.family ?? familyOf(entry.owner)),
    project: projectOf(entry.project),
    // PID 1 and the like link nothing.
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
    family: line.family,
    project: line.project ?? null,
    parent: line.parent === null ? null : keyOf(line.parent),
  },
];

/** Adds lines at the end of `lineage.jsonl`. Never throws: a warning comes back instead. */
export const appendLineage = (directory: string, lines: readonly LineageLine[]): string | null =>
  lines.length === 0
    ? null
    : warned('lineage could not be written', () => {
        makeStateDirectory(directory);
        appendLines(join(directory, LINEAGE_FILE), () => lines.map(lineText).join(''));
      });

/** What a session leaves when it ends, in a file of its own: another session that ends writes another. */
export const writeSessionLineage = (
  directory: string,
  session: string,
  lines: readonly LineageLine[],
): string | null => {
  const name = asSessionName(session);
  if (name === null) return 'lineage was not written: the session id is not a valid file name';
  return warned('lineage could not be written', () => {
    makeStateDirectory(directory);
    makeStateDirectory(join(directory, LINEAGE_DIRECTORY));
    const path = join(directory, LINEAGE_DIRECTORY, `${name}.jsonl`);
    replaceOwn(path, lines.map(lineText).join(''), { durable: true });
  });
};

const warned = (what: string, work: () => void): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return `${what}: ${errorSentence(error)}`;
  }
};

/** A session that starts clears this many away; the next one goes on. */
const MOST_FILES = 200;

/** Removes what ended sessions wrote when nothing of it runs any more: without guard nothing else does. */
export const pruneSessionLineage = (
  directory: string,
  boot: string,
  isRunning: (identity: Identity) => boolean,
): void => {
  const sessions = lineageFiles(directory).files.filter(file => file.session);
  for (const file of sessions.slice(0, MOST_FILES)) {
    const read = readLines(file);
    if ('refused' in read) continue;
    const lines = read.lines.map(parseLine).filter(line => line !== null);
    if (lines.some(line => line.boot === boot && isRunning(line))) continue;
    try {
      rmSync(file.path, { force: true });
    } catch {
      // a read-only disk: it stays, and is read in vain
    }
  }
};
