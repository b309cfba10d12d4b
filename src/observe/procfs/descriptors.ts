import type { Stdin } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { listDirectory, readLink, readText } from './read.ts';

/** `pipe:[4711]` → `4711`. */
const inodeOf = (link: string, kind: 'pipe' | 'socket'): string | null =>
  link.startsWith(`${kind}:[`) ? link.slice(kind.length + 2, -1) : null;

/** Links of every open descriptor; null when we may not look. */
const openLinks = (root: string, pid: number): ReadonlyMap<number, string> | null => {
  const names = listDirectory(`${root}/${pid}/fd`);
  if (!Array.isArray(names)) return null;
  const links = new Map<number, string>();
  for (const name of names) {
    const link = readLink(`${root}/${pid}/fd/${name}`);
    if (link !== null) links.set(Number(name), link);
  }
  return links;
};

/** `flags:` in fdinfo is octal; its lowest two bits are the access mode (0 read, 1 write, 2 both). */
const canWrite = (root: string, pid: number, fd: number): boolean => {
  const flags = /^flags:\s*([0-7]+)/m.exec(readText(`${root}/${pid}/fdinfo/${fd}`) ?? '')?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & 3) !== 0;
};

/** Does anybody we can read hold the writing end of this pipe? Unreadable processes may: the verdict stays "suspect". */
const somebodyWrites = (root: string, pipe: string, self: number, candidates: readonly number[]): boolean => {
  for (const pid of candidates) {
    for (const [fd, link] of openLinks(root, pid) ?? []) {
      if (inodeOf(link, 'pipe') === pipe && !(pid === self && fd === 0) && canWrite(root, pid, fd))
        return true;
    }
  }
  return false;
};

const isTerminal = (link: string): boolean => /^\/dev\/(pts\/|tty)/.test(link);

/**
 * A pty whose master is closed: devpts removes the node, so the link reads "(deleted)" [measured].
 * The node exists exactly as long as somebody holds the master. That the path is absent here proves
 * nothing: a sandbox has a devpts of its own.
 */
const isLostTerminal = (link: string): boolean => link.startsWith('/dev/pts/') && link.endsWith(' (deleted)');

export const lostTerminal = (root: string, pid: number): boolean =>
  [0, 1, 2].some(fd => isLostTerminal(readLink(`${root}/${pid}/fd/${fd}`) ?? ''));

/** The file that standard output goes to; undefined when it is none, or when we may not look. */
export const outputFile = (root: string, pid: number): string | undefined => {
  const link = readLink(`${root}/${pid}/fd/1`);
  return link === null || !link.startsWith('/') || link.startsWith('/dev/') ? undefined : link;
};

/** The files that it holds open and that match; a name that cannot be shown as it is belongs to no log. */
export const heldFiles = (root: string, pid: number, wanted: RegExp): readonly string[] => [
  ...new Set(
    [...(openLinks(root, pid)?.values() ?? [])].filter(link => wanted.test(link) && visible(link) === link),
  ),
];

/** `holders`: who to ask first (the parent nearly always holds the other end), then everybody else. */
export const readStdin = (
  root: string,
  pid: number,
  parent: number | null,
  everybody: () => readonly number[],
): Stdin => {
  const link = readLink(`${root}/${pid}/fd/0`);
  if (link === null) return 'unknown';
  if (isTerminal(link)) return 'tty';
  if (inodeOf(link, 'socket') !== null) return 'socket';
  const pipe = inodeOf(link, 'pipe');
  if (pipe === null) return 'file';
  if (parent !== null && somebodyWrites(root, pipe, pid, [parent])) return 'pipe';
  return somebodyWrites(root, pipe, pid, everybody()) ? 'pipe' : 'abandoned-pipe';
};

/** Inodes of a process's sockets; null when we may not look. */
export const socketInodes = (root: string, pid: number): ReadonlySet<string> | null => {
  const links = openLinks(root, pid);
  if (links === null) return null;
  const inodes = new Set<string>();
  for (const link of links.values()) {
    const inode = inodeOf(link, 'socket');
    if (inode !== null) inodes.add(inode);
  }
  return inodes;
};
