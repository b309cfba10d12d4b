import { readFileSync } from 'node:fs';
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

export interface TcpTables {
  /** The table of the network that a process is in; null when it cannot be read. */
  readonly of: (pid: number) => TcpTable | null;
  /** It is in another network than we, or that cannot be told. */
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
  // Who is not on this machine, or cannot be read, counts as somebody else.
  const others = connected.filter(ends => !own.has(tcp.inodes.get(ends) ?? ''));
  return { ports: sorted, clients: others.length };
};
