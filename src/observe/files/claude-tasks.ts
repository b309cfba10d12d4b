import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { visible } from '../../model/text.ts';
import { slugOf } from './transcripts.ts';

/** As many shells as one session ever has running, by far. */
const LIMIT = 200;

/** Where Claude keeps what background shells write, unless it is told otherwise. */
const TEMPORARY = '/tmp';

const OUTPUT = /^\/.+\/tasks\/[\w-]+\.output$/;

/** A session that took over running shells has links, named like its own tasks, to where those write on. */
export const adoptedOutputs = (cwd: string | null, sessionId: string, temporary = TEMPORARY): string[] => {
  const uid = process.getuid?.();
  if (uid === undefined || cwd === null || !/^[\w-]{1,80}$/.test(sessionId)) return [];
  const directory = join(temporary, `claude-${uid}`, slugOf(cwd).slug, sessionId, 'tasks');
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.uid !== uid) return [];
    return readdirSync(directory, { withFileTypes: true })
      .filter(entry => entry.isSymbolicLink())
      .slice(0, LIMIT)
      .map(entry => readlinkSync(join(directory, entry.name)))
      .filter(target => OUTPUT.test(target))
      .map(visible);
  } catch {
    return []; // unreadable, or gone meanwhile: no evidence
  }
};
