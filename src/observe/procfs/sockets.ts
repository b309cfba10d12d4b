import { readFileSync } from 'node:fs';
import { type CommandResult, runCommand } from '../run-command.ts';
import { readLink } from './read.ts';

/** TCP as the kernel lists it: which socket listens where, and who is connected to each local port. */
export interface TcpTable {
  /** Ports by the inode of the listening socket. */
  readonly listeners: ReadonlyMap<string, number>;
  /** Per local port, the ends of each established connection as the other side has them. */
  readonly clients: ReadonlyMap<number, readonly string[]>;
  /** The socket that has these ends, where it is on this machine. */
  readonly inodes: ReadonlyMap<string, string>;
  /** Sockets that are connected to an X11 display over TCP, as `ssh -X` does. */
  readonly displays: ReadonlySet<string>;
}

const LISTEN = '0A';
const ESTABLISHED = '01';

const readTable = (path: string): string | null => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // no IPv6, or no network namespace to look at
  }
};

/** Display N listens on 6000 + N. */
const isDisplay = (port: number): boolean => port >= 6000 && port < 6064;

/** IPv4 over an IPv6 socket: the two ends of one connection are then listed in different files. */
const MAPPED_IPV4 = '0000000000000000FFFF0000';

const plainEnd = (end: string): string => (end.startsWith(MAPPED_IPV4) ? end.slice(MAPPED_IPV4.length) : end);

const portOf = (end: string): number => Number.parseInt(end.slice(end.lastIndexOf(':') + 1), 16);

/** Lines: `sl local rem st tx:rx tr:when retrnsmt uid timeout inode …`, addresses and ports in hex. */
export const readTcp = (root: string): TcpTable | null => {
  const listeners = new Map<string, number>();
  const clients = new Map<number, string[]>();
  const inodes = new Map<string, string>();
  const displays = new Set<string>();
  const tables = ['tcp', 'tcp6'].map(file => readTable(`${root}/net/${file}`));
  if (tables.every(table => table === null)) return null;
  for (const table of tables) {
    for (const line of table?.split('\n').slice(1) ?? []) {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
      if (local === undefined || remote === undefined || inode === undefined) continue;
      if (state === LISTEN) listeners.set(inode, portOf(local));
      if (state !== ESTABLISHED) continue;
      const [near, far] = [plainEnd(local), plainEnd(remote)];
      inodes.set(`${near} ${far}`, inode);
      if (isDisplay(portOf(remote))) displays.add(inode);
      const connected = clients.get(portOf(local));
      if (connected === undefined) clients.set(portOf(local), [`${far} ${near}`]);
      else connected.push(`${far} ${near}`);
    }
  }
  return { listeners, clients, inodes, displays };
};

/** A unix socket without a name; a name follows behind the inode, and may hold anything. */
const UNNAMED = /^\S+: \S+ \S+ \S+ \S+ \S+ +(\d+)$/;

/**
 * The TCP and unix sockets of a network that has nothing but loopback and no unix socket with a name, by inode; null
 * for any other.
 */
export const enclosedSockets = (root: string): ReadonlySet<string> | null => {
  const rows = (file: string, header: number): readonly string[] | undefined =>
    readTable(`${root}/net/${file}`)?.replace(/\n$/, '').split('\n').slice(header);
  const devices = rows('dev', 2);
  const unix = rows('unix', 1)?.map(row => UNNAMED.exec(row)?.[1]);
  const tcp = rows('tcp', 1);
  if (devices === undefined || unix === undefined || tcp === undefined) return null;
  if (!devices.every(row => /^\s*lo:/.test(row))) return null;
  const inodes = [...unix, ...[...tcp, ...(rows('tcp6', 1) ?? [])].map(row => row.trim().split(/\s+/)[9])];
  return inodes.every(inode => inode !== undefined) ? new Set(inodes) : null;
};

export interface TcpTables {
  /** The table of the network that a process is in; null when it cannot be read. */
  readonly of: (pid: number) => TcpTable | null;
  /** It is in another network than we, or that is unknown. */
  readonly isElsewhere: (pid: number) => boolean;
}

/** Each table is read once: a sandbox has its own, and ours says nothing of it. */
export const tcpTables = (root: string): TcpTables => {
  const tables = new Map<string, TcpTable | null>();
  const own = readLink(`${root}/self/ns/net`);
  const networkOf = (pid: number): string | null => readLink(`${root}/${pid}/ns/net`);
  return {
    of: pid => {
      const network = networkOf(pid) ?? own;
      const key = network ?? '';
      const known = tables.get(key);
      if (known !== undefined) return known;
      const table = readTcp(network === own ? root : `${root}/${pid}`);
      tables.set(key, table);
      return table;
    },
    isElsewhere: pid => own === null || networkOf(pid) !== own,
  };
};

/** Ports that these sockets listen on, and how many are connected whose own socket is none of the kin's. */
export const listeningOf = (
  tcp: TcpTable,
  inodes: ReadonlySet<string>,
  kin: () => ReadonlySet<string>,
): { ports: number[]; clients: number } => {
  const ports = new Set<number>();
  for (const inode of inodes) {
    const port = tcp.listeners.get(inode);
    if (port !== undefined) ports.add(port);
  }
  const sorted = [...ports].sort((a, b) => a - b);
  const connected = sorted.flatMap(port => tcp.clients.get(port) ?? []);
  if (connected.length === 0) return { ports: sorted, clients: 0 };
  const own = kin();
  // A peer that is not on this machine, or cannot be read, counts as another process.
  const others = connected.filter(ends => !own.has(tcp.inodes.get(ends) ?? ''));
  return { ports: sorted, clients: others.length };
};

/** A unix socket as the kernel lists it. */
export interface UnixSocket {
  /** The path or abstract name that it is bound to; null: none, as both ends of a socket pair. */
  readonly path: string | null;
  readonly listens: boolean;
  /** The inode of its other end; `0`: that is closed, or it was never connected. */
  readonly peer: string;
  readonly connected: boolean;
}

/** The unix sockets of our network namespace by inode; null: listed twice, so one of the two is forged. */
export type UnixTable = ReadonlyMap<string, UnixSocket | null>;

/** `u_str ESTAB 0 0 /run/x.sock 4711 * 4712`: names may hold anything, so the numbers are read from the end. */
const ROW = /^u_\w+\s+(\S+)\s+\d+\s+\d+\s+(.+) (\d+)\s+(?:\S.*)?\s(\d+)\s*$/;

/** Null when a line is not a row: a socket's name may hold newlines, and what follows them could be anything. */
export const parseUnixSockets = (text: string): UnixTable | null => {
  const table = new Map<string, UnixSocket | null>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const row = ROW.exec(line);
    if (row === null) return null;
    const [, state = '', path = '', inode = '', peer = ''] = row;
    const socket = {
      path: path === '*' ? null : path,
      listens: state === 'LISTEN',
      peer,
      connected: state === 'ESTAB',
    };
    table.set(inode, table.has(inode) ? null : socket);
  }
  return table;
};

/** iproute2 is in /usr/sbin or /sbin on many systems, which an ordinary user's PATH may lack. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`;
const TIMEOUT_MS = 1000;
/** 20,000 sockets. A listing that is cut off would call sockets absent that are not. */
const MOST_OUTPUT = 4 * 1024 * 1024;

/** What `ss` says (without -p, which walks every process); null where it is missing, fails or is too long. */
export const readUnixSockets = async (
  run: (command: string, args: readonly string[]) => Promise<CommandResult> = (command, args) =>
    runCommand(command, args, {
      timeoutMs: TIMEOUT_MS,
      mostOutput: MOST_OUTPUT,
      env: { PATH, LC_ALL: 'C' },
    }),
): Promise<UnixTable | null> => {
  const answer = await run('ss', ['-xaH']);
  if (answer.status !== 'done' || answer.code !== 0 || answer.stdout.length >= MOST_OUTPUT) return null;
  return parseUnixSockets(answer.stdout);
};
