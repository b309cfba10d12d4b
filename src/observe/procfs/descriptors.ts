import { statSync } from 'node:fs';
import { pushTo } from '../../model/forest.ts';
import type { Stdin, Use } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { lazily, listDirectory, readLink, readText } from './read.ts';
import { enclosedSockets, type UnixTable } from './sockets.ts';

/** `pipe:[4711]` → `4711`. */
const inodeOf = (link: string, kind: 'pipe' | 'socket'): string | null =>
  link.startsWith(`${kind}:[`) ? link.slice(kind.length + 2, -1) : null;

/** Which files are open, by mount and inode: readable for some processes whose links are not. */
const openFiles = (root: string, pid: number): ReadonlyMap<number, string> | null => {
  const names = listDirectory(`${root}/${pid}/fdinfo`);
  if (!Array.isArray(names)) return null;
  const files = new Map<number, string>();
  for (const name of names) {
    const file = /^mnt_id:\s*(\d+)\nino:\s*(\d+)$/m.exec(readText(`${root}/${pid}/fdinfo/${name}`) ?? '');
    if (file === null) return null; // closed meanwhile, or a kernel that does not tell
    files.set(Number(name), `${file[1]} ${file[2]}`);
  }
  return files;
};

/** Null when we may not look. */
const ownLinks = (root: string, pid: number): ReadonlyMap<number, string> | null => {
  const names = listDirectory(`${root}/${pid}/fd`);
  if (!Array.isArray(names)) return null;
  const links = new Map<number, string>();
  for (const name of names) {
    const link = readLink(`${root}/${pid}/fd/${name}`);
    if (link !== null) links.set(Number(name), link);
  }
  return links;
};

/**
 * The helper that a sandbox's command runs below hides its links from its own user. The files that it inherited are
 * those of its parent, whose links may be read; one that it opened itself leaves all of them unknown.
 */
const inheritedLinks = (root: string, pid: number): ReadonlyMap<number, string> | null => {
  const files = openFiles(root, pid);
  if (files === null) return null;
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(readText(`${root}/${pid}/status`) ?? '')?.[1] ?? 0);
  const given = parent > 1 ? openFiles(root, parent) : null;
  const links = given === null ? null : (ownLinks(root, parent) ?? inheritedLinks(root, parent));
  if (given === null || links === null) return null;
  const byFile = new Map(Array.from(given, ([fd, file]) => [file, links.get(fd)]));
  const found = new Map<number, string>();
  for (const [fd, file] of files) {
    const link = byFile.get(file);
    if (link === undefined) return null;
    found.set(fd, link);
  }
  return found;
};

const MASTER = /^\/dev\/(?:pts\/)?ptmx$/;

/** The terminals whose master side a process holds, by their number. */
const masters = (root: string, pid: number, links: ReadonlyMap<number, string> | null): readonly string[] =>
  [...(links ?? [])].flatMap(([fd, link]) => {
    if (!MASTER.test(link)) return [];
    const index = /^tty-index:\s*(\d+)/m.exec(readText(`${root}/${pid}/fdinfo/${fd}`) ?? '')?.[1];
    return index === undefined ? [] : [`pts/${index}`];
  });

/** What descriptors everybody has of one kind: what takes a walk over all processes is walked once a look. */
interface Everybody {
  readonly pipes: ReadonlyMap<string, readonly { readonly pid: number; readonly fd: number }[]>;
  readonly masters: ReadonlyMap<string, readonly number[]>;
  /** Whose links may not be read. */
  readonly unseen: readonly number[];
}

/** Where open descriptors lead. In one look several ask about the same process, and a whole tree about its agent. */
export class DescriptorLinks {
  readonly root: string;
  readonly pids: () => readonly number[];
  /** Of every process, as one who looks for the other end of something needs it. */
  readonly everybody = lazily(() => this.#readAll());
  readonly #known = new Map<number, ReadonlyMap<number, string> | null>();
  readonly #askedAbout: ReadonlySet<number>;

  constructor(root: string, askedAbout: ReadonlySet<number>, pids: () => readonly number[]) {
    this.root = root;
    this.#askedAbout = askedAbout;
    this.pids = pids;
  }

  /** Null when we may not look. */
  of(pid: number): ReadonlyMap<number, string> | null {
    return this.#own(pid) ?? inheritedLinks(this.root, pid);
  }

  /** Null when it is closed, or we may not look. */
  at(pid: number, fd: number): string | null {
    return this.#own(pid)?.get(fd) ?? null;
  }

  #own(pid: number): ReadonlyMap<number, string> | null {
    const known = this.#known.get(pid);
    if (known !== undefined) return known;
    const links = ownLinks(this.root, pid);
    // Not those of everybody, who may be 20,000.
    if (this.#askedAbout.has(pid)) this.#known.set(pid, links);
    return links;
  }

  #readAll(): Everybody {
    const pipes = new Map<string, { pid: number; fd: number }[]>();
    const held = new Map<string, number[]>();
    const unseen: number[] = [];
    for (const pid of this.pids()) {
      const links = this.of(pid);
      if (links === null) unseen.push(pid);
      for (const [fd, link] of links ?? []) {
        const pipe = inodeOf(link, 'pipe');
        if (pipe !== null) pushTo(pipes, pipe, { pid, fd });
      }
      for (const tty of masters(this.root, pid, links)) pushTo(held, tty, pid);
    }
    return { pipes, masters: held, unseen };
  }
}

/** `flags:` in fdinfo is octal; its lowest two bits are the access mode (0 read, 1 write, 2 both). */
const canWrite = (root: string, pid: number, fd: number): boolean => {
  const flags = /^flags:\s*([0-7]+)/m.exec(readText(`${root}/${pid}/fdinfo/${fd}`) ?? '')?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & 3) !== 0;
};

/** Own programs that no one may look into, and that hand no pipes to servers. */
const CLOSED_PROGRAMS = /^(?:\(sd-pam\)|sshd.*|ssh-agent|gpg-agent|gnome-keyring-d|fusermount3?)$/;

/** Could a process that we may not look into hold the other end of a pipe of ours? Only what our user started can. */
const mayHold = ({ comm, ownUser }: Closed): boolean => ownUser && !CLOSED_PROGRAMS.test(comm);

/** A process whose descriptors may not be read. */
export interface Closed {
  readonly comm: string;
  /** It runs as us, or something above it does. */
  readonly ownUser: boolean;
}

/** Who may hold the other end of a pipe. */
export interface Holders {
  /** Asked first: nearly always the parent holds it. */
  readonly parent: number | null;
  readonly closed: (pid: number) => Closed | null;
}

/** Does another process hold the writing end of this pipe? Null: one may. */
const somebodyWrites = (
  links: DescriptorLinks,
  pipe: string,
  self: { readonly pid: number; readonly fd: number },
  { parent, closed }: Holders,
): boolean | null => {
  const writes = ({ pid, fd }: typeof self): boolean =>
    !(pid === self.pid && fd === self.fd) && canWrite(links.root, pid, fd);
  if (parent !== null)
    for (const [fd, link] of links.of(parent) ?? [])
      if (inodeOf(link, 'pipe') === pipe && writes({ pid: parent, fd })) return true;
  const { pipes, unseen } = links.everybody();
  if (pipes.get(pipe)?.some(writes)) return true;
  const hidden = unseen.map(closed);
  return hidden.some(one => one !== null && mayHold(one)) ? null : false;
};

const isTerminal = (link: string): boolean => /^\/dev\/(pts\/|tty)/.test(link);

/**
 * A pty whose master is closed: devpts removes the node, so the link reads "(deleted)" [measured].
 * The node exists exactly as long as a process holds the master. That the path is absent here proves
 * nothing: a sandbox has a devpts of its own.
 */
const isLostTerminal = (link: string): boolean => link.startsWith('/dev/pts/') && link.endsWith(' (deleted)');

/** Null when we may not look. */
export const lostTerminal = (links: DescriptorLinks, pid: number): boolean | null => {
  const all = links.of(pid);
  return all === null ? null : [0, 1, 2].some(fd => isLostTerminal(all.get(fd) ?? ''));
};

/** The file that standard output goes to, and when it was last written; undefined when it is none, or we may not look. */
export const outputFile = (
  links: DescriptorLinks,
  pid: number,
): { readonly path: string; readonly writtenAt: number | undefined } | undefined => {
  const link = links.at(pid, 1);
  if (link === null || !link.startsWith('/') || link.startsWith('/dev/')) return undefined;
  return { path: link, writtenAt: mtimeOf(`${links.root}/${pid}/fd/1`) };
};

/** Through the descriptor: a file that was removed is still written to. */
const mtimeOf = (path: string): number | undefined => {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined; // ended meanwhile
  }
};

/** The files that it holds open and that match; a name that cannot be shown as it is belongs to no log. */
export const heldFiles = (links: DescriptorLinks, pid: number, wanted: RegExp): readonly string[] => [
  ...new Set(
    [...(links.of(pid)?.values() ?? [])].filter(link => wanted.test(link) && visible(link) === link),
  ),
];

/** What a descriptor is connected to. `unix`: null where unix sockets are unknown. */
export const readEnd = (
  links: DescriptorLinks,
  { pid, fd }: { readonly pid: number; readonly fd: number },
  holders: Holders,
  unix: UnixTable | null,
): Stdin => {
  const link = links.at(pid, fd);
  if (link === null) return 'unknown';
  if (isTerminal(link)) return 'tty';
  const inode = inodeOf(link, 'socket');
  if (inode !== null) {
    const socket = unix?.get(inode);
    return socket?.connected && socket.peer === '0' ? 'abandoned-socket' : 'socket';
  }
  const pipe = inodeOf(link, 'pipe');
  if (pipe === null) return 'file';
  return somebodyWrites(links, pipe, { pid, fd }, holders) === false ? 'abandoned-pipe' : 'pipe';
};

/** Inodes of a process's sockets; null when we may not look. */
export const socketInodes = (links: DescriptorLinks, pid: number): ReadonlySet<string> | null => {
  const all = links.of(pid);
  if (all === null) return null;
  const inodes = new Set<string>();
  for (const link of all.values()) {
    const inode = inodeOf(link, 'socket');
    if (inode !== null) inodes.add(inode);
  }
  return inodes;
};

/**
 * The sockets of a sandbox's network: with loopback only, nobody in it but these, and none of its sockets in anybody
 * else's hands, nobody else can use them. Null where that is not so, or cannot be told.
 */
export const sealedSockets = (
  links: DescriptorLinks,
  pid: number,
  kin: ReadonlySet<number>,
  closed: Holders['closed'],
): ReadonlySet<string> | null => {
  const { root } = links;
  const network = readLink(`${root}/${pid}/ns/net`);
  const sockets = network === null ? null : enclosedSockets(`${root}/${pid}`);
  if (sockets === null) return null;
  for (const other of links.pids()) {
    if (kin.has(other)) continue;
    const theirs = readLink(`${root}/${other}/ns/net`);
    const held = links.of(other);
    if (theirs === network) return null;
    if (theirs === null || held === null) {
      const hidden = closed(other);
      if (hidden !== null && mayHold(hidden)) return null;
    }
    for (const link of held?.values() ?? [])
      if (link === network || sockets.has(inodeOf(link, 'socket') ?? '')) return null;
  }
  return sockets;
};

/** What is needed to know what else uses a process. */
export interface Neighbourhood {
  /** Null: not asked, or not to be had. */
  readonly unix: UnixTable | null;
  /** The network that it is in is not ours: our list of unix sockets says nothing of its own. */
  readonly elsewhere: boolean;
  /** The sockets of that other network, where nothing outside it can use them. */
  readonly sealed: () => ReadonlySet<string> | null;
  /** Sockets that are connected to a display over TCP. */
  readonly displays: () => ReadonlySet<string>;
  /** Everybody above and below it, itself included. */
  readonly kin: ReadonlySet<number>;
  /** Crash handlers, which left their browser's tree: being connected to one is no use. */
  readonly crashHandlers: () => readonly number[];
  /** The pids that have a terminal (`pts/3`) for theirs. */
  readonly onTerminal: (tty: string) => readonly number[];
}

const DISPLAY = /^@?\/tmp\/\.X11-unix\/X\d+$|\/wayland-\d+$/;
const DEVICES = /^\/dev\/(?:fuse|kvm)$/;

/** What uses a process from outside its own tree and ancestry; null when that is unknown. */
export const readUses = (
  links: DescriptorLinks,
  pid: number,
  around: Neighbourhood,
): readonly Use[] | null => {
  const own = links.of(pid);
  if (own === null) return null;
  const uses: Use[] = [];
  for (const link of own.values()) if (DEVICES.test(link)) uses.push({ how: 'device', what: link });
  // A master that another process holds too was inherited by mistake, as of a terminal in Node: it is not needed here.
  const isOutside = (other: number): boolean => !around.kin.has(other);
  for (const tty of masters(links.root, pid, own))
    if (around.onTerminal(tty).some(isOutside) && !links.everybody().masters.get(tty)?.some(isOutside))
      uses.push({ how: 'terminal', what: tty });
  const shown = [0, 1, 2].map(fd => /^\/dev\/(pts\/\d+)$/.exec(own.get(fd) ?? '')?.[1]);
  for (const tty of new Set(shown))
    if (tty !== undefined && !holdMaster(links, tty, around.kin))
      uses.push({ how: 'on-terminal', what: tty });
  const sockets = unixUses(links, own, around);
  return sockets === null ? (uses.length > 0 ? uses : null) : [...uses, ...sockets];
};

/** Does one of these hold the other side of this terminal? */
const holdMaster = (links: DescriptorLinks, tty: string, holders: Iterable<number>): boolean => {
  for (const other of holders) if (masters(links.root, other, links.of(other)).includes(tty)) return true;
  return false;
};

const unixUses = (
  links: DescriptorLinks,
  own: ReadonlyMap<number, string>,
  { unix, elsewhere, sealed, displays, kin, crashHandlers }: Neighbourhood,
): readonly Use[] | null => {
  const inodes = new Set([...own.values()].flatMap(link => inodeOf(link, 'socket') ?? []));
  if (inodes.size === 0) return [];
  const enclosed = elsewhere ? sealed() : null;
  if (unix === null || (elsewhere && enclosed === null)) return null;
  const uses: Use[] = [];
  const names = new Set<string>();
  for (const socket of unix.values()) if (socket?.listens && socket.path !== null) names.add(socket.path);
  const ofKin = lazily(() => {
    const all = new Set<string>();
    for (const other of [...kin, ...crashHandlers()])
      for (const link of links.of(other)?.values() ?? []) {
        const inode = inodeOf(link, 'socket');
        if (inode !== null) all.add(inode);
      }
    return all;
  });
  for (const inode of inodes) {
    if (enclosed?.has(inode)) continue;
    const socket = unix.get(inode);
    if (socket === undefined && enclosed !== null) return null; // of neither network that we know
    if (socket === undefined && displays().has(inode)) uses.push({ how: 'window', what: 'X11 over TCP' });
    if (socket === undefined) continue; // no unix socket
    if (socket === null) return null;
    if (socket.listens) uses.push({ how: 'unix-listener', what: visible(socket.path ?? '') });
    if (socket.peer === '0' || socket.listens) continue;
    const peer = unix.get(socket.peer);
    if (peer === undefined || peer === null) return null; // in another network, or forged
    if (DISPLAY.test(peer.path ?? '')) uses.push({ how: 'window', what: visible(peer.path ?? '') });
    if (ofKin().has(socket.peer)) continue;
    // An accepted connection has the name of its listener; a client's end has none, or one of its own.
    if (socket.path !== null && names.has(socket.path))
      uses.push({ how: 'unix-client', what: visible(socket.path) });
    else if (peer.path === null && socket.path === null)
      uses.push({ how: 'socket-pair', what: `socket ${inode}` });
  }
  return uses;
};
