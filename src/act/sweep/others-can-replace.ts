import { readFileSync, type Stats } from 'node:fs';

const own = (): number => process.getuid?.() ?? 0;

/** Lines of a colon-separated account file; null: it cannot be read, so nothing is known of anybody. */
const accounts = (path: string): string[][] | null => {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map(line => line.split(':'));
  } catch {
    return null;
  }
};

const groups = new Map<number, boolean>();

/** Somebody else is in this group, or may be: one that no file here lists is kept elsewhere. */
const hasOtherMembers = (gid: number): boolean => {
  const known = groups.get(gid);
  if (known !== undefined) return known;
  const users = accounts('/etc/passwd');
  const group = accounts('/etc/group')?.find(([, , id]) => id === String(gid));
  const trusted = new Set(['0', String(own())]);
  const names = new Set((users ?? []).filter(([, , uid]) => trusted.has(uid ?? '')).map(([name]) => name));
  const strangers =
    users === null ||
    group === undefined ||
    (group[3] ?? '').split(',').some(name => name !== '' && !names.has(name)) ||
    users.some(([, , uid, primary]) => primary === String(gid) && !trusted.has(uid ?? ''));
  groups.set(gid, strangers);
  return strangers;
};

/**
 * Another user can replace what lies in this directory. In a sticky one (`/tmp`) nobody can rename or
 * remove what is ours, and what is not ours is refused by its owner.
 */
export const othersCanReplace = ({ mode, gid }: Pick<Stats, 'mode' | 'gid'>): boolean => {
  if ((mode & 0o1000) !== 0) return false;
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && hasOtherMembers(gid));
};
