import { linkSync, lstatSync, mkdirSync, realpathSync, renameSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FileAct } from '../../judge/plan/sweep-plan.ts';
import { whyUnsafe } from './facts.ts';

/** One act on one file, for the log and the screen. */
export interface FileRecord {
  readonly act: FileAct['act'];
  readonly path: string;
  /** Where it is now; null when it is gone or was left alone. */
  readonly to: string | null;
  readonly bytes: number;
  readonly outcome: 'done' | 'gone' | 'skipped' | 'failed';
  readonly why: string;
}

const MOST_NAMESAKES = 1000;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/**
 * Moves a file under a name that nobody has. link + unlink, because rename silently replaces: between
 * the two the file has both names, and it never has none.
 */
const moveBeside = (path: string, directory: string): string => {
  for (let n = 0; n < MOST_NAMESAKES; n++) {
    const target = join(directory, n === 0 ? basename(path) : `${basename(path)}.${n}`);
    try {
      linkSync(path, target);
      unlinkSync(path);
      return target;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      // No hard links here (FAT, some network mounts): look, then rename.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error))) throw error;
      if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
      renameSync(path, target);
      return target;
    }
  }
  throw new Error(`there are ${MOST_NAMESAKES} files of its name in ${directory}`);
};

/** Made when missing; one that leads out of the workspace, or to another disk, is not used. */
const archiveDirectory = (directory: string, { root, path }: FileAct): string => {
  mkdirSync(directory, { recursive: true });
  const base = realpathSync(root);
  const real = realpathSync(directory);
  if (real !== base && !real.startsWith(`${base}/`))
    throw new Error(`${directory} leads out of the workspace`);
  if (lstatSync(real).dev !== lstatSync(path).dev) throw new Error(`${directory} is on another file system`);
  return real;
};

const change = (act: FileAct): string | null => {
  if (act.to !== null) return moveBeside(act.path, archiveDirectory(act.to, act));
  unlinkSync(act.path);
  return null;
};

/** Looks once more, acts, and looks whether it worked. Never throws. */
export const runFileAct = (act: FileAct): FileRecord => {
  const record = (outcome: FileRecord['outcome'], why: string, to: string | null = null): FileRecord => ({
    act: act.act,
    path: act.path,
    to,
    bytes: outcome === 'done' ? act.bytes : 0,
    outcome,
    why,
  });
  const stat = lstatSync(act.path, { throwIfNoEntry: false });
  if (stat === undefined) return record('gone', 'it was gone before us');
  if (stat.mtimeMs !== act.seen.mtimeMs || stat.size !== act.seen.size)
    return record('skipped', 'it changed after the plan was made');
  const unsafe = whyUnsafe(act.path, act.root);
  if (unsafe !== null) return record('skipped', unsafe);
  try {
    const to = change(act);
    if (lstatSync(act.path, { throwIfNoEntry: false }) !== undefined)
      return record('failed', 'it came back at once');
    return record('done', act.why, to);
  } catch (error) {
    const code = codeOf(error);
    return record(
      'failed',
      code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (error as Error).message,
    );
  }
};
