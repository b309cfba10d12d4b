import { join } from 'node:path';
import { ownerOf } from '../act/record/file-lock.ts';
import { runChild } from '../act/run-child.ts';
import { nameAndPid } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { plural } from '../model/units.ts';
import { leanProject, projectOfDirectory, specsRoot, taskDirectories } from '../observe/files/project.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE, EXIT_LOCKED } from '../output.ts';
import { isSeedsTask, placeOf, type TaskPlace } from './context.ts';
import {
  DIAGNOSTIC_LOCK,
  foreignLock,
  makeDiagnosticLock,
  removeDiagnosticLock,
  touchDiagnosticLock,
} from './diagnostic-lock.ts';
import { type BuildHolder, releaseBuildLock, takeBuildLock, underLock, whileHeld } from './exclusive-lock.ts';

export interface ExclusiveOptions {
  readonly waitMs: number;
  /** A lock of its own instead of the project's. */
  readonly key: string | null;
}

export interface ExclusiveGround {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly err: { write(text: string): void };
  readonly ignoresHangup: boolean;
}

const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 250;
const MOST_PLACES = 16;

/** Where the seeds' scripts look for a lock: in every task that is at work, else in the project itself. */
const seedsPlaces = (project: string, cwd: string): readonly TaskPlace[] => {
  const root = specsRoot(cwd);
  const tasks = root === null ? [] : taskDirectories(root).filter(isSeedsTask).slice(0, MOST_PLACES);
  if (tasks.length > 0) return tasks.map(placeOf);
  return root !== null || leanProject(cwd) !== null ? [{ root: project, directory: project }] : [];
};

const lockAt = ({ directory }: TaskPlace): string => join(directory, DIAGNOSTIC_LOCK);

type Attempt =
  | { readonly status: 'taken'; readonly beside: readonly TaskPlace[] }
  | { readonly status: 'busy'; readonly who: string }
  | { readonly status: 'failed'; readonly why: string };

const attempt = (
  directory: string,
  mine: BuildHolder,
  project: string | null,
  places: readonly TaskPlace[],
  cwd: string,
): Attempt => {
  const now = Date.now();
  const lock = takeBuildLock(directory, { ...mine, since: now }, now);
  if (lock.status === 'unavailable') return { status: 'failed', why: lock.why };
  if (lock.status === 'held') {
    const { what, pid, since } = lock.holder;
    return {
      status: 'busy',
      who: `${nameAndPid(what, pid)} has held the lock for ${Math.max(0, Math.round((now - since) / 1000))} s`,
    };
  }
  if (project === null) return { status: 'taken', beside: [] };
  for (const place of places)
    if (lock.left.includes(lockAt(place))) removeDiagnosticLock(place.root, place.directory);
  const roots = [project, specsRoot(cwd)].filter(root => root !== null);
  const foreign = foreignLock(roots, new Set(), now);
  if (foreign !== null) {
    releaseBuildLock(directory, mine);
    return { status: 'busy', who: `${foreign.path} was made ${Math.round(foreign.sinceSeconds)} s ago` };
  }
  return {
    status: 'taken',
    beside: places.filter(({ root, directory: at }) => makeDiagnosticLock(root, at, now)),
  };
};

const waitFor = async (tryOnce: () => Attempt, waitMs: number): Promise<Attempt> => {
  const until = performance.now() + waitMs;
  for (let poll = SHORTEST_POLL_MS; ; poll = Math.min(poll * 1.5, LONGEST_POLL_MS)) {
    const from = performance.now();
    const result = tryOnce();
    const now = performance.now();
    if (result.status !== 'busy' || now >= until) return result;
    // A look at everything that may carry a lock takes a while: it is not to become most of what we do.
    const ms = Math.min(until - now, Math.max(poll * (0.5 + Math.random()), 20 * (now - from)));
    await new Promise(resolve => setTimeout(resolve, ms));
  }
};

/** `reaptop exclusive -- CMD`: one build of a project at a time. */
export const exclusive = async (
  words: readonly string[],
  { waitMs, key }: ExclusiveOptions,
  { env, cwd, err, ignoresHangup }: ExclusiveGround,
): Promise<number> => {
  const fail = (code: number, why: string): number => {
    err.write(`reaptop: ${visible(why)}\n`);
    return code;
  };
  const directory = stateDirectory(env);
  if (directory === null) return fail(EXIT_FAILURE, 'there is no directory for the lock: HOME is not set');
  const project = key === null ? projectOfDirectory(cwd) : null;
  const places = project === null ? [] : seedsPlaces(project, cwd);
  const mine: BuildHolder = {
    ...ownerOf(),
    by: 'exclusive',
    key: project ?? `key:${key}`,
    session: null,
    toolUseId: null,
    what: visible(words[0] ?? '').slice(0, 200),
    since: Date.now(),
    // Written down before they are made: a kill in between leaves none that is unrecorded.
    beside: places.map(lockAt),
  };
  const had = await waitFor(() => attempt(directory, mine, project, places, cwd), waitMs);
  if (had.status === 'failed') return fail(EXIT_FAILURE, `the lock cannot be taken: ${had.why}`);
  if (had.status === 'busy')
    return fail(
      EXIT_LOCKED,
      `not run: ${had.who}${waitMs === 0 ? '' : `; waited ${plural(Math.round(waitMs / 1000), 'second')}`}`,
    );
  try {
    const { code, why } = await whileHeld(
      directory,
      mine,
      lock => runChild(words, { cwd, env: underLock(env, mine), lock, ignoresHangup }),
      now => {
        for (const place of had.beside) touchDiagnosticLock(lockAt(place), now);
      },
    );
    return why === null ? code : fail(code, why);
  } finally {
    for (const { root, directory: at } of had.beside) removeDiagnosticLock(root, at);
  }
};
