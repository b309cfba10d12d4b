import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ProcessDetails } from '../../model/process.ts';
import { safePath } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import type { DetailRequest } from '../system.ts';
import { heldFiles, lostTerminal, outputFile, readStdin, socketInodes } from './descriptors.ts';
import { listDirectory, readLink, readText } from './read.ts';
import { listeningOf, type TcpTable, tcpTables } from './sockets.ts';
import { readStatus } from './status.ts';

/** `hierarchy:controllers:path` lines; the longest path is the most specific statement. */
export const parseCgroup = (text: string | null): string | null => {
  let best: string | null = null;
  for (const line of text?.split('\n') ?? []) {
    const path = line.split(':').slice(2).join(':');
    // Memory and pids controllers are cut up by job runners; the systemd and unified ones say who manages the process.
    if (!/^(0:|\d+:name=systemd:)/.test(line)) continue;
    if (path !== '' && (best === null || path.length > best.length)) best = path;
  }
  return best === null ? null : visible(best);
};

/** Its share of what is in memory and of what was swapped out. */
export const readPss = (root: string, pid: number): number | null => {
  const rollup = readText(`${root}/${pid}/smaps_rollup`) ?? '';
  const kib = (name: string): number | null => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1];
    return found === undefined ? null : Number(found);
  };
  const pss = kib('Pss');
  return pss === null ? null : (pss + (kib('SwapPss') ?? 0)) * 1024;
};

/** A request as the reader needs it: `execMark` changes when the process became another program. */
export interface MarkedRequest {
  readonly asked: DetailRequest;
  readonly ppid: number | null;
  readonly execMark: string;
}

interface Remembered {
  readonly slowReadAt: number;
  readonly execMark: string;
  readonly details: ProcessDetails;
}

/** cwd, descriptors and sockets change slowly; reading them at every refresh would cost more than the table itself. */
const SLOW_SECONDS = 10;

/** Made when first asked for, and kept. */
export const once = <T>(make: () => T): (() => T) => {
  let made: { readonly it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
};

/** Who and what else is asked when a process's own descriptors do not tell, each at most once a look. */
interface Neighbours {
  readonly tcp: (pid: number) => TcpTable;
  readonly everybody: () => readonly number[];
  readonly kinOf: (pid: number) => Iterable<number>;
  readonly swapInUse: boolean;
}

/** Costlier facts, cached by identity: cgroup once per exec, cwd, descriptors and sockets every ten seconds, swap always. */
export class DetailReader {
  readonly #root: string;
  readonly #cache = new Map<IdentityKey, Remembered>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * `swapInUse` false: nothing at all is swapped out, so `status` (15 µs a process) is asked for the real user only.
   * `kinOf`: the pids above and below a process.
   */
  read(
    requests: readonly MarkedRequest[],
    {
      clock,
      swapInUse,
      kinOf,
    }: { clock: number; swapInUse: boolean; kinOf: (pid: number) => Iterable<number> },
  ): Map<IdentityKey, ProcessDetails> {
    const found = new Map<IdentityKey, ProcessDetails>();
    const tcp = tcpTables(this.#root);
    const everybody = once(() => this.#allPids());
    for (const request of requests) {
      const key = keyOf(request.asked);
      const known = this.#cache.get(key);
      const same = known?.execMark === request.execMark ? known : undefined;
      const fresh = same !== undefined && clock - same.slowReadAt < SLOW_SECONDS;
      const details = this.#read(request, same?.details, fresh, { tcp, everybody, kinOf, swapInUse });
      found.set(key, details);
      this.#cache.set(key, {
        slowReadAt: fresh ? same.slowReadAt : clock,
        execMark: request.execMark,
        details,
      });
    }
    if (this.#cache.size > 2 * found.size + 64) this.#forgetAbsent(found);
    return found;
  }

  /**
   * What was `known` is kept for ten seconds, while it is `fresh`; a fact that was not asked for last time is read now.
   * Field by field: V8 takes 40 times as long to add fields to a spread, and this is done for every related process.
   */
  #read(
    { asked, ppid }: MarkedRequest,
    known: ProcessDetails | undefined,
    fresh: boolean,
    { tcp, everybody, kinOf, swapInUse }: Neighbours,
  ): ProcessDetails {
    const { pid } = asked;
    const root = this.#root;
    const kept = fresh ? known : undefined;
    const readDescriptors = asked.descriptors && (kept === undefined || kept.stdin === 'unknown');
    const readSockets = asked.sockets && (kept === undefined || kept.listening === null);
    const holds = asked.holds && (kept === undefined ? heldFiles(root, pid, asked.holds) : kept.holds);
    const output = readDescriptors ? outputFile(root, pid) : kept?.output;
    const { swap, realUid, innerPid } = this.#status(pid, kept, swapInUse);
    const details: { -readonly [Field in keyof ProcessDetails]: ProcessDetails[Field] } = {
      cwd: kept === undefined ? safePathOrNull(readLink(`${root}/${pid}/cwd`)) : kept.cwd,
      swap,
      realUid,
      cgroup: known === undefined ? parseCgroup(readText(`${root}/${pid}/cgroup`)) : known.cgroup,
      stdin: readDescriptors ? readStdin(root, pid, ppid, everybody) : (kept?.stdin ?? 'unknown'),
      lostTerminal: readDescriptors ? lostTerminal(root, pid) : (kept?.lostTerminal ?? false),
      listening: readSockets ? readListening(root, pid, tcp, () => kinOf(pid)) : (kept?.listening ?? null),
    };
    if (innerPid !== undefined) details.innerPid = innerPid;
    if (output !== undefined) details.output = visible(output);
    if (holds !== undefined) details.holds = holds;
    return details;
  }

  /** A setuid program's real user stays whoever started it; it can change only by the process's own will. */
  #status(
    pid: number,
    kept: ProcessDetails | undefined,
    swapInUse: boolean,
  ): Pick<ProcessDetails, 'swap' | 'innerPid'> & { readonly realUid: number | null } {
    const known = kept?.innerPid === undefined ? {} : { innerPid: kept.innerPid };
    if (kept?.realUid != null && !swapInUse) return { swap: 0, realUid: kept.realUid, ...known };
    const status = readStatus(this.#root, pid);
    if (typeof status === 'string') return { swap: swapInUse ? null : 0, realUid: null, ...known };
    const { realUid, innerPid } = status;
    return { swap: swapInUse ? status.swap : 0, realUid, ...(innerPid === null ? {} : { innerPid }) };
  }

  #allPids(): number[] {
    const names = listDirectory(this.#root);
    return Array.isArray(names) ? names.filter(name => /^\d+$/.test(name)).map(Number) : [];
  }

  #forgetAbsent(present: ReadonlyMap<IdentityKey, unknown>): void {
    for (const key of this.#cache.keys()) if (!present.has(key)) this.#cache.delete(key);
  }
}

/** Most processes have no socket, and the kernel walks its whole table for /proc/net/tcp: 30 ms on a large machine. */
const readListening = (
  root: string,
  pid: number,
  tcp: (pid: number) => TcpTable,
  kin: () => Iterable<number>,
): ProcessDetails['listening'] => {
  const inodes = socketInodes(root, pid);
  if (inodes === null) return { ports: [], clients: 0, hidden: true };
  if (inodes.size === 0) return { ports: [], clients: 0 };
  const kinsSockets = () => {
    const all = new Set(inodes);
    for (const other of kin()) for (const inode of socketInodes(root, other) ?? []) all.add(inode);
    return all;
  };
  return listeningOf(tcp(pid), inodes, kinsSockets);
};

const safePathOrNull = (text: string | null): string | null => (text === null ? null : safePath(text));
