import { readFileSync } from 'node:fs';

/** TCP as the kernel lists it: which socket listens where, and how many clients each local port has. */
export interface TcpTable {
  readonly listeners: ReadonlyMap<string, number>;
  readonly established: ReadonlyMap<number, number>;
}

const LISTEN = '0A';
const ESTABLISHED = '01';

const readTable = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // no IPv6, or no network namespace to look at: no evidence
  }
};

/** Lines: `sl local rem st tx:rx tr:when retrnsmt uid timeout inode …`, addresses and ports in hex. */
export const readTcp = (root: string): TcpTable => {
  const listeners = new Map<string, number>();
  const established = new Map<number, number>();
  for (const file of ['tcp', 'tcp6']) {
    for (const line of readTable(`${root}/net/${file}`).split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (local === undefined || inode === undefined) continue;
      const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
      if (state === LISTEN) listeners.set(inode, port);
      else if (state === ESTABLISHED) established.set(port, (established.get(port) ?? 0) + 1);
    }
  }
  return { listeners, established };
};

export const listeningOf = (
  tcp: TcpTable,
  inodes: ReadonlySet<string>,
): { ports: number[]; clients: number } => {
  const ports = new Set<number>();
  for (const inode of inodes) {
    const port = tcp.listeners.get(inode);
    if (port !== undefined) ports.add(port);
  }
  const sorted = [...ports].sort((a, b) => a - b);
  return { ports: sorted, clients: sorted.reduce((sum, port) => sum + (tcp.established.get(port) ?? 0), 0) };
};
