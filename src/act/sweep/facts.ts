import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { JudgedFiles } from '../../judge/heartbeats/index.ts';
import type { ArchivedFile, SweepFacts } from '../../judge/plan/sweep-facts.ts';
import { SWEPT_FORMATS } from '../../judge/plan/sweep-formats.ts';

/** Long enough for an agent that streams, short enough for somebody who waits. */
const WATCH_MS = 1000;

/** Names that we, or the orchestrator, put into an archive; anything else in there is not ours to expire. */
const ARCHIVED =
  /^(?:.+_(?:stream|progress|findings)\.jsonl|deploy_.+\.json|\.agent-progress\.json)(?:\.\d+)?$/;

/** null: a regular file that really lies below its root. */
export const whyUnsafe = (path: string, root: string): string | null => {
  try {
    if (!lstatSync(path).isFile()) return 'it is a symbolic link or no regular file';
    const base = realpathSync(root);
    const directory = realpathSync(dirname(path));
    return directory === base || directory.startsWith(`${base}/`)
      ? null
      : 'a symbolic link leads out of the workspace';
  } catch {
    return 'it is gone or may not be looked at';
  }
};

const seenNow = (path: string): string => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.mtimeMs}:${stat.size}`;
};

const archivesIn = (directory: string, root: string): ArchivedFile[] => {
  try {
    return readdirSync(directory)
      .filter(name => ARCHIVED.test(name))
      .map(name => join(directory, name))
      .filter(path => whyUnsafe(path, root) === null)
      .map(path => {
        const { mtimeMs, size } = lstatSync(path);
        return { path, root, mtimeMs, size };
      });
  } catch {
    return []; // no archive yet
  }
};

/** Looks at everything a sweep might touch, twice: what grows in between is left alone. */
export const gatherSweepFacts = async (
  files: JudgedFiles,
  { watchMs = WATCH_MS }: { readonly watchMs?: number } = {},
): Promise<SweepFacts> => {
  const candidates = files.joined
    .map(file => file.reading)
    .filter(reading => SWEPT_FORMATS.has(reading.format));
  const unsafe = new Map<string, string>();
  for (const { path, root } of candidates) {
    const why = whyUnsafe(path, root);
    if (why !== null) unsafe.set(path, why);
  }
  const directories = new Map<string, string>();
  for (const { reading } of files.joined) {
    const task = /^.*\/TASK-[^/]+(?=\/)/.exec(reading.path)?.[0];
    if (task !== undefined) directories.set(join(task, 'archive'), reading.root);
    else if (reading.format === 'agent-progress')
      directories.set(join(dirname(reading.path), 'archive'), reading.root);
  }
  const before = new Map(candidates.map(({ path }) => [path, seenNow(path)]));
  if (candidates.length > 0) await wait(watchMs);
  const growing = new Set([...before].filter(([path, seen]) => seenNow(path) !== seen).map(([path]) => path));
  return { unsafe, growing, archives: [...directories].flatMap(([dir, root]) => archivesIn(dir, root)) };
};
