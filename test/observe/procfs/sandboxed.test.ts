import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessDetails } from '../../../src/model/process.ts';
import { DetailReader } from '../../../src/observe/procfs/details.ts';
import type { UnixSocket } from '../../../src/observe/procfs/sockets.ts';
import { FakeProc } from './fake-proc.ts';

/**
 * What Claude's sandboxed Bash tool leaves, as an ordinary user sees it [measured with 2.1.325]: a shell outside, then a
 * network of their own for bwrap, a proxy, and a helper whose links, bytes and environment may not be read.
 */
const SHELL = 10;
const BWRAP = 11;
const PROXY = 12;
const HELPER = 13;
const INNER_HELPER = 14;
const OUTSIDER = 20;
const OURS = 'net:[1]';
const SANDBOX = 'net:[2]';
const STDIN = '100';

let proc: FakeProc;
/** Somebody whose descriptors may not be read: started by our user? */
let closedAndOurs: boolean;

const file = (pid: number, fd: number, mount: number, inode: string): void =>
  proc.file(
    `${pid}/fdinfo/${fd}`,
    `pos:\t0\nflags:\t02\nmnt_id:\t${mount}\nino:\t${inode}\nscm_fds:\t0\nino:\t7\n`,
  );

const socket = (pid: number, fd: number, inode: string): void => {
  proc.link(`${pid}/fd/${fd}`, `socket:[${inode}]`);
  file(pid, fd, 10, inode);
};

const status = (pid: number, parent: number, { threads = 1, turns = 10 } = {}): void =>
  proc.file(
    `${pid}/status`,
    `Name:\t3\nPPid:\t${parent}\nUid:\t1\t1\t1\t1\nThreads:\t${threads}\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t${turns}\n`,
  );

const UNIX_HEAD = 'Num       RefCount Protocol Flags    Type St Inode Path\n';
const unixRow = (inode: string, name = ''): string =>
  `00000000f6c2b18f: 00000003 00000000 00000000 0002 03 ${inode}${name}\n`;
const TCP_HEAD = '  sl  local_address rem_address   st tx_queue\n';
const LISTENER = `   0: 00000000:0C38 00000000:0000 0A 00000000:00000000 00:00000000 00000000  4711        0 203 1 0 100\n`;
const DEV_HEAD = 'Inter-|   Receive\n face |bytes    packets\n';

const network = (pid: number, files: { dev?: string; unix?: string } = {}): void => {
  proc.file(`${pid}/net/dev`, `${DEV_HEAD}    lo:       0       0\n${files.dev ?? ''}`);
  proc.file(`${pid}/net/unix`, `${UNIX_HEAD}${unixRow('201')}${unixRow('202')}${files.unix ?? ''}`);
  proc.file(`${pid}/net/tcp`, TCP_HEAD);
  proc.file(`${pid}/net/tcp6`, `${TCP_HEAD}${LISTENER}`);
};

const enter = (pid: number, where: string): void => proc.link(`${pid}/ns/net`, where);

const INSIDE = [BWRAP, PROXY, HELPER, INNER_HELPER];

beforeEach(() => {
  proc = new FakeProc();
  closedAndOurs = true;
  proc.link('self/ns/net', OURS);
  proc.file('net/tcp', TCP_HEAD);
  for (const pid of [SHELL, ...INSIDE, OUTSIDER]) {
    proc.put({ pid });
    enter(pid, INSIDE.includes(pid) ? SANDBOX : OURS);
  }
  for (const pid of INSIDE) network(pid);
  socket(SHELL, 0, STDIN);
  socket(BWRAP, 0, STDIN);
  for (const [fd, inode] of [
    [3, '201'],
    [4, '202'],
    [5, '203'],
  ] as const)
    socket(PROXY, fd, inode);
  status(HELPER, BWRAP);
  status(INNER_HELPER, HELPER);
  for (const pid of [HELPER, INNER_HELPER]) file(pid, 0, 10, STDIN);
  proc.link(`${OUTSIDER}/fd/0`, '/dev/null');
});
afterEach(() => proc.close());

/** Our own table: the tree's standard input, whose other end went with the session. */
const UNIX = new Map<string, UnixSocket>([
  [STDIN, { path: null, listens: false, peer: '0', connected: true }],
]);

const read = async (...pids: number[]): Promise<ProcessDetails[]> => {
  const found = await new DetailReader(proc.root).read(
    pids.map(pid => ({
      asked: { pid, start: '1', descriptors: true, sockets: true, uses: true, tree: SHELL, work: true },
      ppid: 1,
      execMark: '',
    })),
    {
      clock: 1,
      swapInUse: false,
      unix: async () => UNIX,
      kinOf: () => new Set([SHELL, ...INSIDE]),
      closed: () => ({ comm: 'renderer', ownUser: closedAndOurs }),
      onTerminal: () => [],
      crashHandlers: () => [],
    },
  );
  return [...found.values()];
};

const NOBODY = { uses: [], listening: { ports: [], clients: 0 } };

describe('a sandbox that was left', () => {
  it('nobody uses any of it', async () => {
    for (const details of await read(SHELL, ...INSIDE)) expect(details).toMatchObject(NOBODY);
  });

  it('a helper whose bytes are hidden has moved none while it was not given a processor', async () => {
    const io = async () => (await read(HELPER))[0]!.io;
    expect(await io()).toBe(11);
    status(HELPER, BWRAP, { turns: 12 });
    expect(await io()).toBe(13);
    status(HELPER, BWRAP, { threads: 2 });
    expect(await io()).toBeNull();
  });

  it('a helper on a terminal that is gone', async () => {
    expect((await read(HELPER))[0]!.lostTerminal).toBe(false);
    proc.link(`${BWRAP}/fd/1`, '/dev/pts/3 (deleted)');
    file(BWRAP, 1, 12, '6');
    file(INNER_HELPER, 1, 12, '6');
    file(HELPER, 1, 12, '6');
    expect((await read(INNER_HELPER))[0]!.lostTerminal).toBe(true);
  });

  it.each<[string, () => void]>([
    ['opened a file of its own', () => file(HELPER, 4, 10, '300')],
    ['has a file of another mount', () => file(HELPER, 4, 11, STDIN)],
    [
      'runs on a kernel that tells no inodes',
      () => proc.file(`${HELPER}/fdinfo/0`, 'pos:\t0\nflags:\t02\nmnt_id:\t10\n'),
    ],
    ['has a parent that cannot be read', () => status(HELPER, 99)],
  ])('a helper that %s may be in use', async (_, change) => {
    change();
    expect((await read(HELPER))[0]).toMatchObject({ uses: null, listening: null });
  });

  it.each<[string, () => void]>([
    ['has a way out', () => network(PROXY, { dev: '  tap0:       0       0\n' })],
    ['has a socket with a name', () => network(PROXY, { unix: unixRow('204', ' /tmp/x.sock') })],
    ['has a socket with a blank name', () => network(PROXY, { unix: unixRow('204', ' ') + unixRow('205') })],
    ['has a last socket with a blank name', () => network(PROXY, { unix: unixRow('204', ' ') })],
    [
      'is shared with somebody else',
      () => {
        proc.end(OUTSIDER);
        proc.link(`${OUTSIDER}/fd/0`, '/dev/null');
        enter(OUTSIDER, SANDBOX);
      },
    ],
    ['can be entered by somebody else', () => proc.link(`${OUTSIDER}/fd/7`, SANDBOX)],
    ['has a socket that somebody else holds', () => proc.link(`${OUTSIDER}/fd/7`, 'socket:[202]')],
    [
      'may be shared with somebody hidden',
      () => {
        proc.end(OUTSIDER);
        proc.put({ pid: OUTSIDER });
      },
    ],
    [
      'has sockets that somebody hidden may hold',
      () => {
        proc.end(OUTSIDER);
        proc.put({ pid: OUTSIDER });
        enter(OUTSIDER, OURS);
      },
    ],
  ])('one in a network that %s may be in use', async (_, change) => {
    change();
    expect((await read(PROXY))[0]).toMatchObject({ uses: null, listening: { ports: [3128] } });
  });

  it('is not proven empty when a network namespace is hidden', async () => {
    proc.end(OUTSIDER);
    proc.link(`${OUTSIDER}/fd/0`, '/dev/null');
    expect((await read(PROXY))[0]!.uses).toBeNull();
  });

  it('our own network is never one', async () => {
    proc.end(OUTSIDER);
    network(SHELL);
    proc.file('net/tcp', `${TCP_HEAD}${LISTENER}`);
    socket(SHELL, 5, '203');
    expect((await read(SHELL))[0]).toMatchObject({ listening: { ports: [3128] } });
  });

  it('strangers of other users do not count: they could not be told from any other', async () => {
    closedAndOurs = false;
    proc.end(OUTSIDER);
    proc.put({ pid: OUTSIDER });
    expect((await read(PROXY))[0]).toMatchObject(NOBODY);
  });

  it('one with a socket of neither network may be in use', async () => {
    socket(PROXY, 9, '999');
    expect((await read(PROXY))[0]!.uses).toBeNull();
  });
});
