import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../observe/procfs/kin.ts';
import { forgetSession, readSession, SESSIONS } from './session-state.ts';

/** A session that is resumed the next morning finds what it had counted. */
const KEPT_MS = 24 * 3600_000;
/** A session that starts looks at this many; the next one goes on. */
const MOST_FILES = 200;

const FILE = /^(.+)\.json$/;

/**
 * Forgets sessions that never said they ended: killed, or their machine was switched off. Their agent is gone, and
 * nothing was heard of them for a day.
 */
export const pruneSessions = (directory: string, now: number): void => {
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
