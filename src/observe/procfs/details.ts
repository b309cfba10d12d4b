import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ProcessDetails } from '../../model/process.ts';
import { safePath } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import type { DetailRequest } from '../system.ts';
import {
  type Closed,
  DescriptorLinks,
  heldFiles,
  lostTerminal,
  outputFile,
  readEnd,
  readUses,
  sealedSockets,
  socketInodes,
} from './descriptors.ts';
import { readStatus } from './one-process.ts';
import { BUFFER, lazily, listDirectory, readIntoBuffer, readLink, readText } from './read.ts';
import { listeningOf, type TcpTables, tcpTables, type UnixTable } from './sockets.ts';

/** `hierarchy:controllers:path` lines; the longest path is the most specific statement. */
export const parseCgroup = (text: string | null): string | null => {
  if (text === null) return null;
  let best = '';
  for (const line of text.split('\n')) {
    const path = line.split(':').slice(2).join(':');
    // Memory and pids controllers are cut up by job runners; the systemd and unified ones say who manages the process.
    if (!/^(0:|\d+:name=systemd:)/.test(line)) continue;
    if (path.length > best.length) best = path;
  }
  return visible(best);
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
  readonly ppid: number | null;
  readonly details: ProcessDetails;
}

/** cwd, descriptors and sockets change slowly; reading them at every refresh would cost more than the table itself. */
const SLOW_SECONDS = 10;

/** So many of them a second (0.1 ms each): more than 250 wait longer, but guard's two sightings are two readings. */
const SLOW_A_SECOND = 25;
const SLOWEST_SECONDS = 20;

/** Of many, some are due at every look: all at once would hold up a key. */
const phaseOf = (pid: number, seconds: number): number =>
  seconds > SLOW_SECONDS ? ((pid % 64) / 64) * seconds : 0;

/** Who and what else is asked when a process's own descriptors do not tell, each at most once a look. */
interface Neighbours {
  readonly tcp: TcpTables;
  readonly unix: UnixTable | null;
  readonly links: DescriptorLinks;
  readonly kinOf: (pid: number) => ReadonlySet<number>;
  readonly closed: (pid: number) => Closed | null;
  readonly onTerminal: (tty: string) => readonly number[];
  readonly crashHandlers: () => readonly number[];
  readonly swapInUse: boolean;
  /** The sockets of the network that a process of this tree is in, where nothing outside it can use them. */
  readonly sealed: (pid: number, tree: number) => ReadonlySet<string> | null;
}

/** What a look knows of all processes, and how it is to be read. */
export interface Surrounding extends Omit<Neighbours, 'tcp' | 'links' | 'unix' | 'sealed'> {
  readonly clock: number;
  /** Nothing from the cache: what is read now decides about a signal. */
  readonly fresh?: boolean | undefined;
  /** Asked at most once, and only where a process has sockets whose other end matters. */
  readonly unix: () => Promise<UnixTable | null>;
}

/** How often a process of one thread was given a processor: while that stays the same, it has moved nothing. */
const readTurns = (root: string, pid: number): number | null => {
  const status = readText(`${root}/${pid}/status`) ?? '';
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)$`, 'm').exec(status)?.[1]);
  const turns = field('voluntary_ctxt_switches') + field('nonvoluntary_ctxt_switches');
  return field('Threads') === 1 && !Number.isNaN(turns) ? turns : null;
};

/** Bytes that went through its system calls, whatever they went to; its turns, where these are hidden from us. */
const readIo = (root: string, pid: number): number | null => {
  const length = readIntoBuffer(`${root}/${pid}/io`);
  if (typeof length !== 'number') return readTurns(root, pid);
  const text = BUFFER.toString('latin1', 0, length);
  const moved = /^rchar: (\d+)\nwchar: (\d+)$/m.exec(text);
  return moved === null ? null : Number(moved[1]) + Number(moved[2]);
};

/** Costlier facts, cached by identity: cgroup once per exec, cwd, descriptors and sockets every ten seconds, swap always. */
export class DetailReader {
  readonly #root: string;
  readonly #cache = new Map<IdentityKey, Remembered>();

  constructor(root: string) {
    this.#root = root;
  }

  /** `swapInUse` false: nothing at all is swapped out, so `status` (15 µs a process) is asked for the rest only. */
  async read(
    requests: readonly MarkedRequest[],
    { clock, fresh = false, unix, ...around }: Surrounding,
  ): Promise<Map<IdentityKey, ProcessDetails>> {
    const found = new Map<IdentityKey, ProcessDetails>();
    const slowSeconds = Math.min(SLOWEST_SECONDS, Math.max(SLOW_SECONDS, requests.length / SLOW_A_SECOND));
    const known = requests.map(request => {
      const cached = this.#cache.get(keyOf(request.asked));
      const isSame = cached?.execMark === request.execMark && cached.ppid === request.ppid;
      const same = isSame ? cached : undefined;
      return { request, same, keep: !fresh && same !== undefined && clock - same.slowReadAt < slowSeconds };
    });
    const askedAbout = new Set(requests.map(({ asked }) => asked.pid));
    const pids = lazily(() => this.#allPids());
    const readLinks = () => new DescriptorLinks(this.#root, askedAbout, pids);
    const before = readLinks();
    const asks = known.some(
      ({ request: { asked }, keep }) =>
        asked.uses === true && !keep && socketInodes(before, asked.pid)?.size !== 0,
    );
    const table = asks ? await unix() : null;
    // What was read before the list of sockets, which takes a while, is older than it.
    const links = asks ? readLinks() : before;
    const tcp = tcpTables(this.#root);
    const neighbours: Neighbours = {
      ...around,
      tcp,
      unix: table,
      links,
      sealed: sealing(links, tcp, around),
    };
    for (const { request, same, keep } of known) {
      const key = keyOf(request.asked);
      const details = this.#read(request, same?.details, keep, neighbours);
      found.set(key, details);
      this.#cache.set(key, {
        slowReadAt:
          same === undefined
            ? clock - phaseOf(request.asked.pid, slowSeconds)
            : keep
              ? same.slowReadAt
              : clock,
        execMark: request.execMark,
        ppid: request.ppid,
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
    around: Neighbours,
  ): ProcessDetails {
    const { pid } = asked;
    const root = this.#root;
    const { links } = around;
    const kept = fresh ? known : undefined;
    const readDescriptors = asked.descriptors && (kept === undefined || kept.stdin === 'unknown');
    const readSockets = asked.sockets && (kept === undefined || kept.listening === null);
    const readOthers = asked.uses === true && (kept === undefined || kept.uses === null);
    const holds = asked.holds && (kept === undefined ? heldFiles(links, pid, asked.holds) : kept.holds);
    const output = readDescriptors
      ? outputFile(links, pid)
      : kept?.output === undefined
        ? undefined
        : { path: kept.output, writtenAt: kept.outputAt };
    const { swap, realUid, innerPid, ignoresHangup } = this.#status(pid, kept, around.swapInUse);
    const holders = { parent: ppid, closed: around.closed };
    const details: { -readonly [Field in keyof ProcessDetails]: ProcessDetails[Field] } = {
      cwd: kept === undefined ? safePathOrNull(readLink(`${root}/${pid}/cwd`)) : kept.cwd,
      swap,
      realUid,
      cgroup: known === undefined || !fresh ? parseCgroup(readText(`${root}/${pid}/cgroup`)) : known.cgroup,
      stdin: readDescriptors
        ? readEnd(links, { pid, fd: 0 }, holders, around.unix)
        : (kept?.stdin ?? 'unknown'),
      lostTerminal: readDescriptors ? lostTerminal(links, pid) : (kept?.lostTerminal ?? null),
      ignoresHangup,
      io: asked.work === true ? readIo(root, pid) : null,
      listening: readSockets
        ? readListening(links, pid, around.tcp, {
            kin: () => around.kinOf(pid),
            isSealed: () => asked.uses === true && around.sealed(pid, asked.tree ?? pid) !== null,
          })
        : (kept?.listening ?? null),
      uses: readOthers ? this.#uses(pid, asked.tree ?? pid, around) : (kept?.uses ?? null),
    };
    const drivingPipe =
      asked.drivenBy === undefined
        ? undefined
        : kept === undefined
          ? readEnd(links, { pid, fd: asked.drivenBy }, holders, around.unix)
          : kept.drivingPipe;
    if (drivingPipe !== undefined) details.drivingPipe = drivingPipe;
    if (asked.ports === true) {
      const ports = kept === undefined ? readPorts(links, pid, around.tcp) : kept.ports;
      if (ports !== undefined) details.ports = ports;
    }
    if (innerPid !== undefined) details.innerPid = innerPid;
    if (output !== undefined) details.output = visible(output.path);
    if (output?.writtenAt !== undefined) details.outputAt = output.writtenAt;
    if (holds !== undefined) details.holds = holds;
    return details;
  }

  #uses(
    pid: number,
    tree: number,
    { tcp, unix, links, crashHandlers, kinOf, onTerminal, sealed }: Neighbours,
  ): ProcessDetails['uses'] {
    return readUses(links, pid, {
      unix,
      elsewhere: tcp.isElsewhere(pid),
      sealed: () => sealed(pid, tree),
      displays: () => tcp.of(pid)?.displays ?? new Set(),
      kin: kinOf(tree),
      crashHandlers,
      onTerminal,
    });
  }

  /** A setuid program's real user stays the one who started it; it can change only by the process's own will. */
  #status(
    pid: number,
    kept: ProcessDetails | undefined,
    swapInUse: boolean,
  ): Pick<ProcessDetails, 'swap' | 'innerPid' | 'ignoresHangup'> & { readonly realUid: number | null } {
    const known = kept?.innerPid === undefined ? {} : { innerPid: kept.innerPid };
    if (kept?.realUid != null && !swapInUse)
      return { swap: 0, realUid: kept.realUid, ignoresHangup: kept.ignoresHangup, ...known };
    const status = readStatus(this.#root, pid);
    if (typeof status === 'string')
      return { swap: swapInUse ? null : 0, realUid: null, ignoresHangup: null, ...known };
    const { realUid, innerPid, ignoresHangup } = status;
    return {
      swap: swapInUse ? status.swap : 0,
      realUid,
      ignoresHangup,
      ...(innerPid === null ? {} : { innerPid }),
    };
  }

  #allPids(): number[] {
    const names = listDirectory(this.#root);
    return Array.isArray(names) ? names.filter(name => /^\d+$/.test(name)).map(Number) : [];
  }

  #forgetAbsent(present: ReadonlyMap<IdentityKey, unknown>): void {
    for (const key of this.#cache.keys()) if (!present.has(key)) this.#cache.delete(key);
  }
}

/** Asked once for every network and tree: all processes are looked through. */
const sealing = (
  links: DescriptorLinks,
  tcp: TcpTables,
  { kinOf, closed }: Pick<Neighbours, 'kinOf' | 'closed'>,
): Neighbours['sealed'] => {
  const known = new Map<string, ReadonlySet<string> | null>();
  return (pid, tree) => {
    if (!tcp.isElsewhere(pid)) return null;
    const key = `${readLink(`${links.root}/${pid}/ns/net`)} ${tree}`;
    const sockets = known.has(key) ? known.get(key)! : sealedSockets(links, pid, kinOf(tree), closed);
    known.set(key, sockets);
    return sockets;
  };
};

/** Most processes have no socket, and the kernel walks its whole table for /proc/net/tcp: 30 ms on a large machine. */
const readListening = (
  links: DescriptorLinks,
  pid: number,
  tcp: TcpTables,
  { kin, isSealed }: { readonly kin: () => Iterable<number>; readonly isSealed: () => boolean },
): ProcessDetails['listening'] => {
  const inodes = socketInodes(links, pid);
  if (inodes === null) return null;
  if (inodes.size === 0 || isSealed()) return { ports: [], clients: 0 };
  const table = tcp.of(pid);
  if (table === null) return null;
  const kinsSockets = () => {
    const all = new Set(inodes);
    for (const other of kin()) for (const inode of socketInodes(links, other) ?? []) all.add(inode);
    return all;
  };
  return listeningOf(table, inodes, kinsSockets);
};

/** Undefined: none, or they cannot be read. */
const readPorts = (links: DescriptorLinks, pid: number, tcp: TcpTables): readonly number[] | undefined => {
  const inodes = socketInodes(links, pid);
  const table = inodes === null || inodes.size === 0 ? null : tcp.of(pid);
  if (inodes === null || table === null) return undefined;
  const { ports } = listeningOf(table, inodes, () => inodes);
  return ports.length === 0 ? undefined : ports;
};

const safePathOrNull = (text: string | null): string | null => (text === null ? null : safePath(text));
