import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listeningOf, readTcp, tcpTables } from '../../../src/observe/procfs/sockets.ts';
import { FakeProc } from './fake-proc.ts';

let proc: FakeProc;
beforeEach(() => {
  proc = new FakeProc();
});
afterEach(() => proc.close());

const HOME = '0100007F';
const MAPPED = '0000000000000000FFFF0000';
const LISTEN = '0A';
const ESTABLISHED = '01';
const TIME_WAIT = '06';

/** A line as the kernel writes it. */
const line = (local: string, remote: string, state: string, inode: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0`;

const put = (tcp: readonly string[], tcp6: readonly string[] = []): void => {
  proc.file('net/tcp', ['  sl  local_address', ...tcp, ''].join('\n'));
  proc.file('net/tcp6', ['  sl  local_address', ...tcp6, ''].join('\n'));
};

describe('who is connected to a listening process', () => {
  const LISTENER = line(`${HOME}:1F90`, '00000000:0000', LISTEN, 10);
  /** The server's end and the client's, whose socket is 30. */
  const ENDS = [
    line(`${HOME}:1F90`, `${HOME}:C001`, ESTABLISHED, 20),
    line(`${HOME}:C001`, `${HOME}:1F90`, ESTABLISHED, 30),
  ];
  const told = (kin: readonly string[]) =>
    listeningOf(readTcp(proc.root)!, new Set(['10']), () => new Set(kin));

  it.each([
    ['a client of its own tree', ENDS, ['30'], 0],
    ['a client from elsewhere', ENDS, ['31'], 1],
    ['a client on another machine', [line(`${HOME}:1F90`, '0200A8C0:C001', ESTABLISHED, 20)], ['20'], 1],
    ['one that has left', [line(`${HOME}:1F90`, `${HOME}:C001`, TIME_WAIT, 20)], [], 0],
    ['the client of another port', [line(`${HOME}:1F91`, `${HOME}:C001`, ESTABLISHED, 20)], [], 0],
  ])('%s', (_, ends, kin, clients) => {
    put([LISTENER, ...ends]);
    expect(told(kin)).toEqual({ ports: [8080], clients });
  });

  it('one end over IPv6, the other over IPv4', () => {
    const server = [
      line(`${'0'.repeat(32)}:1F90`, `${'0'.repeat(32)}:0000`, LISTEN, 10),
      line(`${MAPPED}${HOME}:1F90`, `${MAPPED}${HOME}:C001`, ESTABLISHED, 20),
    ];
    put([line(`${HOME}:C001`, `${HOME}:1F90`, ESTABLISHED, 30)], server);
    expect(told(['30'])).toEqual({ ports: [8080], clients: 0 });
    expect(told(['31'])).toEqual({ ports: [8080], clients: 1 });
  });

  it('nobody’s descriptors are read when nobody is connected', () => {
    put([LISTENER]);
    const kin = () => {
      throw new Error('not to be asked');
    };
    expect(listeningOf(readTcp(proc.root)!, new Set(['10']), kin)).toEqual({ ports: [8080], clients: 0 });
  });
});

it('reads the table of the network that a process is in: a sandbox has its own', () => {
  put([line(`${HOME}:1F90`, '00000000:0000', LISTEN, 10)]);
  proc.file('200/net/tcp', `  sl\n${line(`${HOME}:1F91`, '00000000:0000', LISTEN, 11)}\n`);
  for (const [who, network] of [
    ['self', 'net:[1]'],
    ['100', 'net:[1]'],
    ['200', 'net:[2]'],
  ] as const)
    proc.link(`${who}/ns/net`, network);
  const tcp = tcpTables(proc.root);
  expect([100, 200, 300].map(pid => [...tcp.of(pid)!.listeners.values()])).toEqual([[8080], [8081], [8080]]);
  expect([100, 200, 300].map(tcp.isElsewhere)).toEqual([false, true, true]);
});
