import { join } from 'node:path';
import type { LineAgent, LineFacts } from '../judge/status-line.ts';
import type { Finding } from '../model/finding.ts';
import type { Identity } from '../model/identity.ts';
import { isText, type JsonObject } from '../model/json.ts';
import type { HostFacts } from '../model/observation.ts';
import type { Snapshot, Totals } from '../model/snapshot.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

const LATEST_FILE = 'latest.json';

/** A thousand findings; what is longer was not written by guard. */
const MOST_BYTES = 4 * 1024 ** 2;

/** What guard says of itself. */
export interface GuardReport {
  /** The guard that wrote this. */
  readonly writer: Identity;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly intervalSeconds: number;
  /** Why it waits for a person, and since when. */
  readonly held: { readonly since: number; readonly why: string } | null;
  /** Why it does not act for a while; null when it may. */
  readonly paused: string | null;
  readonly endsLastHour: number;
  readonly endsPerHour: number;
  /** Processes that the budget keeps for later. */
  readonly waiting: number;
  readonly ended: number;
  readonly reclaimedBytes: number;
  /** Its last acts, oldest first. */
  readonly acts: readonly { readonly at: number; readonly text: string }[];
  readonly warnings: readonly string[];
}

/** Guard's last sample: what `--line` and `guard status` show without looking themselves. */
export interface Latest extends LineFacts {
  readonly schema: 1;
  readonly takenAt: number;
  readonly guard: GuardReport;
  readonly host: HostFacts;
  readonly totals: Totals;
  readonly stale: number;
  readonly hung: number;
  readonly agents: readonly LineAgent[];
  readonly findings: readonly Pick<Finding, 'id' | 'severity' | 'title'>[];
}

export const latestOf = (snapshot: Snapshot, line: LineFacts, guard: GuardReport): Latest => ({
  ...line,
  schema: 1,
  takenAt: snapshot.takenAt,
  guard,
  host: snapshot.host,
  totals: snapshot.totals,
  findings: snapshot.findings.map(({ id, severity, title }) => ({ id, severity, title })),
});

/** Replaced as a whole; a warning comes back when it cannot be. */
export const writeLatest = (directory: string, latest: Latest): string | null => {
  try {
    makeStateDirectory(directory);
    replaceOwn(join(directory, LATEST_FILE), `${JSON.stringify(latest)}\n`);
    return null;
  } catch (error) {
    return `${LATEST_FILE} could not be written: ${errorSentence(error)}`;
  }
};

/** Fresh for three intervals, as `/-/healthy` counts. */
const FRESH_INTERVALS = 3;

/** The last sample however old; null when there is none that can be read. */
export const readLatest = (directory: string | null): Latest | null => {
  if (directory === null) return null;
  try {
    const value: unknown = JSON.parse(readOwnTail(join(directory, LATEST_FILE), MOST_BYTES) ?? 'null');
    return isSound(value) ? (value as Latest) : null;
  } catch {
    return null; // not ours, or not JSON: the caller samples itself
  }
};

export const isFresh = ({ takenAt, guard }: Latest, now: number): boolean =>
  now >= takenAt - 1000 && now - takenAt <= guard.intervalSeconds * 1000 * FRESH_INTERVALS;

type Check = (value: unknown) => boolean;

const isNumber: Check = value => Number.isFinite(value);
const orNull =
  (check: Check): Check =>
  value =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check);
/** What is not named here may be anything: it is not shown. */
const having =
  (checks: Readonly<Record<string, Check>>): Check =>
  value =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([name, check]) => check((value as JsonObject)[name]));

const fields = (names: readonly string[], check: Check): Readonly<Record<string, Check>> =>
  Object.fromEntries(names.map(name => [name, check]));

/** What is shown of it is there and of the right kind; make its texts `visible` before printing. */
const isSound = having({
  schema: value => value === 1,
  takenAt: isNumber,
  guard: having({
    writer: having({ pid: Number.isInteger }),
    ...fields(
      ['since', 'intervalSeconds', 'endsLastHour', 'endsPerHour', 'waiting', 'ended', 'reclaimedBytes'],
      isNumber,
    ),
    held: orNull(having({ since: isNumber, why: isText })),
    paused: orNull(isText),
    acts: listOf(having({ at: isNumber, text: isText })),
    warnings: listOf(isText),
  }),
  totals: having(fields(['processes', 'related', 'agents', 'rss', 'swap', 'leaks', 'reclaimable'], isNumber)),
  stale: isNumber,
  hung: isNumber,
  agents: listOf(
    having({
      name: isText,
      bytes: value => value === undefined || isNumber(value),
      shells: value => value === undefined || value === null || isNumber(value),
      session: orNull(
        having({
          id: orNull(isText),
          project: orNull(isText),
          doing: orNull(isText),
          seconds: orNull(isNumber),
        }),
      ),
    }),
  ),
  findings: listOf(having({ id: isText, severity: isText, title: isText })),
});
