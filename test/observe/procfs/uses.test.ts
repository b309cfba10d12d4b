import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessDetails } from '../../../src/model/process.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** Everything that decides about a leak, read now. */
const read = async (pid: number, tree = pid): Promise<ProcessDetails> => {
  const system = procfsSystem();
  await system.sample();
  const asked = {
    pid,
    start: rawProcess(pid)!.start,
    descriptors: true,
    sockets: true,
    uses: true,
    tree,
    work: true,
  };
  const found = await system.details([asked], { fresh: true });
  system.close();
  return [...found.values()][0]!;
};

const node = (text: string, ...args: string[]) => {
  const script = sandbox.write(
    `${Math.random()}.cjs`,
    `${text}\nconsole.log('ready');setInterval(() => {}, 1e9);\n`,
  );
  return sandbox.start([process.execPath, script, ...args], { stdio: 'pipe' });
};

const ready = async (child: ReturnType<typeof node>): Promise<number> => {
  await once(child.child.stdout!, 'data');
  return child.pid;
};

describe('who uses a real process', () => {
  it('nobody uses one that sits there', async () => {
    const pid = await ready(node(''));
    const details = await read(pid);
    expect(details.listening).toEqual({ ports: [], clients: 0 });
    expect(details.ignoresHangup).toBe(false);
    expect(details.io).toBeGreaterThan(0);
    // Its standard streams are pairs of sockets with us, who are above it.
    expect(details.uses).toEqual([]);
    expect(details.stdin).toBe('socket');
  });

  it('its conversation is over when the other end of its standard input is closed', async () => {
    const child = node("process.stdin.on('end', () => {}).resume();");
    const pid = await ready(child);
    expect((await read(pid)).stdin).toBe('socket');
    child.child.stdin!.destroy();
    await until('the other end to be closed', async () => (await read(pid)).stdin === 'abandoned-socket');
  });

  it('a unix socket is listened on, and somebody from elsewhere is connected', async () => {
    const path = sandbox.path('x.sock');
    const server = await ready(
      node("require('net').createServer(c => c.resume()).listen(process.argv[2]);", path),
    );
    await until('the listener', async () =>
      (await read(server)).uses?.some(use => use.how === 'unix-listener'),
    );
    expect((await read(server)).uses).toEqual([{ how: 'unix-listener', what: path }]);
    const client = await ready(node("require('net').connect(process.argv[2]);", path));
    const uses = await until('the client', async () => {
      const found = (await read(server)).uses;
      return found?.some(use => use.how === 'unix-client') ? found : null;
    });
    expect(uses).toContainEqual({ how: 'unix-client', what: path });
    // Whoever is connected to another is not therefore used.
    expect((await read(client)).uses).toEqual([]);
  });

  it('one that is connected to the display has a window', async () => {
    const path = sandbox.path('wayland-0');
    await ready(node("require('net').createServer(c => c.resume()).listen(process.argv[2]);", path));
    const client = await ready(node("require('net').connect(process.argv[2]);", path));
    await until('the window', async () => (await read(client)).uses?.some(use => use.how === 'window'));
  });

  it('nohup is seen', async () => {
    const child = sandbox.start(['nohup', 'sleep', '600']);
    await until('the exec', () => rawProcess(child.pid)?.comm === 'sleep');
    expect((await read(child.pid)).ignoresHangup).toBe(true);
  });

  it.each([
    ['chrome_crashpad_handler', []],
    ['somebody-else', ['socket-pair']],
  ])('a socket pair with %s outside its tree', async (name, expected) => {
    const other = sandbox.write(`bin/${name}`, '#!/bin/sh\nread -r line\n', 0o755);
    // Node would close its end as soon as its child has ended.
    const pair = `socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); if (!fork) { if (!fork) {
      open(STDIN, '<&', $b); exec $ARGV[0] } exit } wait; close $b; syswrite(STDOUT, 'ready'); sleep 600`;
    const pid = await ready(sandbox.start(['perl', '-MSocket', '-e', pair, other], { stdio: 'pipe' }));
    await sandbox.find(name, p => p.comm === name.slice(0, 15) && p.ppid !== pid);
    expect((await read(pid)).uses?.map(({ how }) => how)).toEqual(expected);
  });
});
