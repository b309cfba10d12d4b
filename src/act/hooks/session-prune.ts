import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../observe/procfs/kin.ts';
import { unlinkIfThere } from '../../observe/state/own-file.ts';
import { LOCK_DIRECTORY } from '../record/file-lock.ts';
import { forgetSession, readSession, SESSIONS } from './session-state.ts';

/** A session that is resumed the next morning finds what it had counted. */
const KEPT_MS = 24 * 3600_000;
/** A session that starts looks at this many; the next one goes on. */
const MOST_FILES = 200;

const FILE = /^(.+)\.json$/;

/** Drafts and turns of locks: whoever made one needs it for a millisecond. */
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
  for (const name of names.flatMap(file => FILE.exec(file)?.[1] ?? []).slice(0, MOST_FILES)) {
    const session = readSession(directory, name);
    if (session === null || Math.abs(now - session.beatAt) < KEPT_MS) continue;
    if (session.agent === null || isRunning(session.agent) === false) forgetSession(directory, name);
  }
};
