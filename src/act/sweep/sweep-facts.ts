import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { formatOf } from '../../agents/files/formats.ts';
import type { JudgedFiles } from '../../judge/heartbeats/judge-files.ts';
import { archiveOf } from '../../judge/plan/sweep.ts';
import {
  type ArchivedFile,
  archivedAt,
  type FileSeen,
  isArchivedName,
  type SweepFacts,
} from '../../judge/plan/sweep-plan.ts';
import { pushTo } from '../../model/forest.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { isOurs } from '../../observe/files/read-bounded.ts';
import { type HeldDirectory, identityOfInode, inDirectory, Unsafe } from '../held-directory.ts';

/** Long enough for an agent that streams, short enough for a user who waits. */
const WATCH_MS = 1000;

/** Why a file must not be touched; null: it is regular and its owner is to be trusted. */
export const whyUnsafe = (stat: Stats): string | null => {
  if (!stat.isFile()) return 'it is a symbolic link or not a regular file';
  return isOurs(stat) ? null : 'it belongs to another user';
};

export const seenAs = (stat: Stats, held: HeldDirectory): FileSeen => ({
  mtimeMs: stat.mtimeMs,
  size: stat.size,
  file: identityOfInode(stat),
  directory: held.identity,
});

const seenNow = (path: string): string => {
  try {
    const { mtimeMs, size } = lstatSync(path);
    return `${mtimeMs}:${size}`;
  } catch {
    return ''; // it is gone, or a directory above became something else
  }
};

/** Sorts what can be touched from what cannot, directory by directory. */
const lookAt = (readings: readonly Reading[]): Pick<SweepFacts, 'seen' | 'unsafe'> => {
  const seen = new Map<string, FileSeen>();
  const unsafe = new Map<string, string>();
  const byDirectory = new Map<string, Reading[]>();
  for (const reading of readings) {
    pushTo(byDirectory, `${reading.root}\0${dirname(reading.path)}`, reading);
  }
  for (const group of byDirectory.values()) {
    const [{ root, path }] = group as [Reading, ...Reading[]];
    try {
      inDirectory(root, dirname(path), held => {
        for (const reading of group) {
          const stat = held.stat(basename(reading.path));
          if (stat === null) unsafe.set(reading.path, 'it is gone');
          else {
            const why = whyUnsafe(stat);
            if (why === null) seen.set(reading.path, seenAs(stat, held));
            else unsafe.set(reading.path, why);
          }
        }
      });
    } catch (error) {
      const why = error instanceof Unsafe ? error.message : 'it cannot be inspected';
      for (const reading of group) unsafe.set(reading.path, why);
    }
  }
  return { seen, unsafe };
};

const archivesIn = (directory: string, root: string, now: number): ArchivedFile[] => {
  // Most tasks have none: not worth opening everything above it.
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return [];
  return inDirectory(root, directory, held =>
    readdirSync(held.at('.'))
      .filter(isArchivedName)
      .flatMap(name => {
        const stat = held.stat(name);
        if (stat === null || whyUnsafe(stat) !== null) return [];
        return [
          {
            path: join(directory, name),
            root,
            // A ctime cannot be set: an archive from before names said it was put there then, or later.
            archivedAt: archivedAt(name, now) ?? stat.ctimeMs,
            seen: seenAs(stat, held),
          },
        ];
      }),
  );
};

/** Archives of the tasks at hand, and the identity of the directories they are in. */
const lookAtArchives = (
  readings: readonly Reading[],
  now: number,
): Pick<SweepFacts, 'archives' | 'directories'> => {
  const directories = new Map<string, string>();
  const archives: ArchivedFile[] = [];
  const wanted = new Map(
    readings
      .filter(reading => formatOf(reading).locations.length > 0)
      .map(reading => [archiveOf(reading), reading.root]),
  );
  for (const [archive, root] of wanted) {
    try {
      directories.set(
        dirname(archive),
        inDirectory(root, dirname(archive), held => held.identity),
      );
      archives.push(...archivesIn(archive, root, now));
    } catch {
      // What cannot be reached safely is not archived to, and nothing in it expires.
    }
  }
  return { archives, directories };
};

/** Looks at everything a sweep might touch, twice: what grows in between is left alone. */
export const gatherSweepFacts = async (
  { joined, now, orchestrated }: JudgedFiles,
  { watchMs = WATCH_MS }: { readonly watchMs?: number } = {},
): Promise<SweepFacts> => {
  const readings = joined.map(file => file.reading);
  const candidates = readings.filter(reading => formatOf(reading).sweepAction !== null);
  // What they say is acted on, though some of it is never touched.
  const looked = lookAt(
    readings.filter(
      reading => formatOf(reading).sweepAction !== null || formatOf(reading).evidenceFor !== null,
    ),
  );
  const before = new Map(candidates.map(({ path }) => [path, seenNow(path)]));
  // Sessions are watched too: the next sample shows whether anything in them used CPU.
  if (candidates.length > 0 || orchestrated.some(agent => agent.panes.length > 0)) await wait(watchMs);
  const growing = new Set([...before].filter(([path, seen]) => seenNow(path) !== seen).map(([path]) => path));
  return { ...looked, growing, ...lookAtArchives(readings, now) };
};
