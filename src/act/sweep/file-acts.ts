import { basename, dirname } from 'node:path';
import { archivedName } from '../../judge/plan/sweep-archive-name.ts';
import type { FileAct } from '../../judge/plan/sweep-plan.ts';
import { seenAs, whyUnsafe } from './facts.ts';
import { type HeldDirectory, inDirectory, Unsafe } from './held-directory.ts';
import { codeOf, makeDirectory, moveExactly, removeExactly } from './move-file.ts';

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

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EXDEV: 'its archive is on another file system',
  ENOENT: 'it was already gone',
};

/** Through the directory that was planned, and into an archive that lies where it was planned. */
const change = (act: FileAct, held: HeldDirectory, now: number): string | null => {
  const name = basename(act.path);
  const { to } = act;
  if (to === null) {
    removeExactly(held, name, act.seen.file);
    return null;
  }
  inDirectory(act.root, dirname(to), within => {
    if (within.identity !== act.toWithin) throw new Unsafe(`${dirname(to)} was replaced`);
    makeDirectory(within, basename(to));
  });
  return inDirectory(act.root, to, archive => {
    const target = moveExactly(held, name, act.seen.file, archive, archivedName(name, now));
    return `${to}/${target}`;
  });
};

/** Why the planned file is not there as it was planned; null: it is. */
const whyChanged = (act: FileAct, held: HeldDirectory): { gone: boolean; why: string } | null => {
  if (held.identity !== act.seen.directory) return { gone: false, why: 'its directory was replaced' };
  const stat = held.stat(basename(act.path));
  if (stat === null) return { gone: true, why: 'it was already gone' };
  const unsafe = whyUnsafe(stat);
  if (unsafe !== null) return { gone: false, why: unsafe };
  const now = seenAs(stat, held);
  const same = now.file === act.seen.file && now.mtimeMs === act.seen.mtimeMs && now.size === act.seen.size;
  return same ? null : { gone: false, why: 'it changed after the plan was made' };
};

/** Looks once more, and acts on the very file that was looked at. Never throws. */
export const runFileAct = (act: FileAct, now = Date.now()): FileRecord => {
  const record = (outcome: FileRecord['outcome'], why: string, to: string | null = null): FileRecord => ({
    act: act.act,
    path: act.path,
    to,
    bytes: outcome === 'done' ? act.bytes : 0,
    outcome,
    why,
  });
  try {
    return inDirectory(act.root, dirname(act.path), held => {
      const changed = whyChanged(act, held);
      if (changed !== null) return record(changed.gone ? 'gone' : 'skipped', changed.why);
      const to = change(act, held, now);
      return held.stat(basename(act.path)) === null
        ? record('done', act.why, to)
        : record('failed', 'it came back at once', to);
    });
  } catch (error) {
    if (error instanceof Unsafe) return record('skipped', error.message);
    const code = codeOf(error);
    return record(code === 'ENOENT' ? 'gone' : 'failed', REASONS[code] ?? (error as Error).message);
  }
};
