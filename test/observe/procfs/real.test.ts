import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signalIdentity } from '../../../src/act/send-signal.ts';
import type { ProcessDetails, ProcessFacts } from '../../../src/model/process.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { childrenOf, isRunning, rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const look = async (pid: number, system = procfsSystem()): Promise<ProcessFacts> => {
  const found = (await system.sample()).processes.find(p => p.pid === pid);
  if (found === undefined) throw new Error(`${pid} was not seen`);
  return found;
};

/** A shell script that stays, with exactly these words (and bytes) as its arguments. */
const withArguments = async (words: string, sign: string): Promise<number> => {
  const stay = sandbox.write('stay', '#!/bin/sh\nsleep 600 & wait\n', 0o755);
  const starter = sandbox.write('starter', `#!/bin/sh\nexec ${stay} ${words}\n`, 0o755);
  const { pid } = sandbox.start([starter]);
  await until(`arguments to show ${sign}`, () =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(sign),
  );
  return pid;
};

const NO_CONTROL = /^[^\p{Cc}]*$/u;

describe('argv of a real process', () => {
  it('is cut after a megabyte, and marked as cut', async () => {
    const pid = await withArguments(`$(head -c 1000000 /dev/zero | tr '\\0' x | fold -w 50000)`, 'xxxx');
    const { argv } = await look(pid);
    const length = argv?.reduce((sum, word) => sum + word.length, 0) ?? 0;
    expect(length).toBeGreaterThan(60_000);
    expect(length).toBeLessThan(70_000);
    expect(argv?.at(-1)).toBe('…[cut]');
  });

  it('is made printable when it is not UTF-8 or has control characters', async () => {
    const pid = await withArguments(
      `"$(printf 'a\\377\\376b')" "$(printf 'x\\n 1 S leak\\033[2J')" '' end`,
      'end',
    );
    const { argv } = await look(pid);
    expect(argv?.slice(2)).toEqual(['a��b', 'x\\n 1 S leak\\x1b[2J', '', 'end']);
    for (const word of argv ?? []) expect(word).toMatch(NO_CONTROL);
  });

  it('rewritten by process.title loses its padding', async () => {
    const title = sandbox.write('title.js', `process.title = 'my title'; setInterval(() => {}, 1e9);`);
    const { pid } = sandbox.start([process.execPath, title, 'a', 'long', 'tail', 'of', 'arguments']);
    await until('the title', () => readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('my title'));
    expect((await look(pid)).argv).toEqual(['my title']);
  });

  it('is stored without its secrets', async () => {
    const pid = await withArguments('--api-key sk-ant-verysecret --token=alsosecret end', 'end');
    expect(JSON.stringify(await look(pid))).not.toMatch(/verysecret|alsosecret/);
  });
});

describe('the life of a real process', () => {
  it('an exec that turns a shell into claude is noticed, and its environment read again', async () => {
    const fifo = sandbox.path('go');
    const script = `mkfifo ${fifo}; read line < ${fifo}; CLAUDE_PID=77 exec ${sandbox.sleeper('claude')} 600`;
    const { pid, start } = sandbox.start(['/bin/sh', '-c', script]);
    const system = procfsSystem();
    const before = await look(pid, system);
    expect(before).toMatchObject({ comm: 'sh', start });
    expect((await system.environ([before])).get(`${pid}:${start}`)).not.toHaveProperty('CLAUDE_PID');
    system.follow(new Set([`${pid}:${start}`]));

    const gate = await until('the fifo', () => openSync(fifo, 'w'));
    closeSync(gate);
    await until(
      'the exec',
      () => rawProcess(pid)?.comm === 'claude' && readFileSync(`/proc/${pid}/cmdline`).length > 0,
    );
    const after = await look(pid, system);
    expect(after).toMatchObject({
      comm: 'claude',
      start,
      argv: [sandbox.path('bin/claude'), '600'],
      env: null,
    });
    expect((await system.environ([after])).get(`${pid}:${start}`)).toMatchObject({ CLAUDE_PID: '77' });
  });

  it('a zombie has a name and no words', async () => {
    const { pid } = sandbox.start(['/bin/sh', '-c', `${sandbox.sleeper('lake')} 0 & exec sleep 600`]);
    const zombie = await until('the zombie', () => childrenOf(pid).find(p => p.state === 'Z'));
    expect(await look(zombie.pid)).toMatchObject({ state: 'Z', comm: 'lake', argv: null, ppid: pid });
  });

  it('processes that come and go while we look are no errors', async () => {
    const { pid } = sandbox.start(['/bin/sh', '-c', 'while :; do /bin/true & /bin/true; wait; done']);
    const system = procfsSystem();
    for (let n = 0; n < 30; n += 1) {
      const { processes } = await system.sample();
      await system.details(processes.map(p => ({ ...p, descriptors: true, sockets: true })));
      expect(processes.filter(p => p.ppid === pid && p.unreadable)).toEqual([]);
    }
    expect(isRunning(pid)).toBe(true);
  });
});

describe('details of a real process', () => {
  const detailsOf = async (pid: number): Promise<ProcessDetails | undefined> => {
    const system = procfsSystem();
    const facts = await look(pid, system);
    const details = await system.details([{ ...facts, descriptors: true, sockets: true }]);
    return details.get(`${pid}:${facts.start}`);
  };

  it('tell which of the wanted files it holds open, each once', async () => {
    const log = sandbox.path('work', 'rollout-a.jsonl');
    const opens = `exec 3>>'${log}' 4>>'${log}' 5>>'${log}.other'; exec sleep 600`;
    const { pid } = sandbox.start(['/bin/sh', '-c', opens]);
    const held = async (wanted: RegExp) => {
      const system = procfsSystem();
      const facts = await look(pid, system);
      const ask = { ...facts, descriptors: false, sockets: false, holds: wanted };
      return (await system.details([ask])).get(`${pid}:${facts.start}`)?.holds;
    };
    await until('the files to be open', async () => (await held(/other$/))?.length === 1);
    expect(await held(/rollout-[^/]+\.jsonl$/)).toEqual([log]);
  });

  it('tell cwd, swap and a pipe that somebody holds, or that nobody holds any more', async () => {
    const { pid, child } = sandbox.start(['sleep', '600'], { stdio: 'pipe' });
    // Node connects children by socket pairs; a pipe is what a shell makes.
    expect((await detailsOf(pid))?.stdin).toBe('socket');
    child.kill('SIGKILL');
    const script = `${sandbox.sleeper('writer')} 600 | ${sandbox.sleeper('reader')} 600`;
    sandbox.start(['/bin/sh', '-c', script]);
    const reader = await sandbox.find('the reader', p => p.comm === 'reader');
    const writer = await sandbox.find('the writer', p => p.comm === 'writer');
    expect(await detailsOf(reader.pid)).toMatchObject({ stdin: 'pipe', cwd: sandbox.path('work'), swap: 0 });
    process.kill(writer.pid, 'SIGKILL');
    await until('the writer to end', () => !isRunning(writer.pid));
    // While a test beside this one has a process that nobody may look into, it could hold the pipe.
    await until('nobody to hold it', async () => (await detailsOf(reader.pid))?.stdin === 'abandoned-pipe');
  });

  it('tell a terminal that is there from one that is gone', async () => {
    const inside = sandbox.write(
      'inside',
      `#!/bin/sh\ntrap '' HUP\nexec ${sandbox.sleeper('holds-tty')} 600\n`,
      0o755,
    );
    const terminal = sandbox.start(['script', '-qfc', inside, '/dev/null']);
    const holder = await sandbox.find('the process on the terminal', p => p.comm === 'holds-tty');
    expect(await detailsOf(holder.pid)).toMatchObject({ lostTerminal: false });
    process.kill(terminal.pid, 'SIGKILL');
    await until('the terminal to end', () => !isRunning(terminal.pid));
    await until('the pty to go', async () => (await detailsOf(holder.pid))?.lostTerminal === true);
  });

  it('tell the ports that are only shown, and nothing that a rule would look at', async () => {
    const { pid } = sandbox.start([
      process.execPath,
      '-e',
      `require('node:net').createServer(() => {}).listen(0, '127.0.0.1', function () {
         require('node:fs').writeFileSync('${sandbox.path('port')}', String(this.address().port)); })`,
    ]);
    const port = await until('the port', () =>
      existsSync(sandbox.path('port')) ? Number(readFileSync(sandbox.path('port'), 'utf8')) : undefined,
    );
    const system = procfsSystem();
    const facts = await look(pid, system);
    const ask = async (ports: boolean) =>
      (await system.details([{ ...facts, descriptors: false, sockets: false, ports }], { fresh: true })).get(
        `${pid}:${facts.start}`,
      );
    expect(await ask(true)).toMatchObject({ ports: [port], listening: null });
    expect(await ask(false)).not.toHaveProperty('ports');
  });

  it('tell listening ports and how many are connected', async () => {
    const server = sandbox.write(
      'server.js',
      `const net = require('node:net'); const fs = require('node:fs');
       const s = net.createServer(() => {}).listen(0, '127.0.0.1', () => {
         fs.writeFileSync(process.argv[2], String(s.address().port)); });
       net.createServer(() => {}).listen(0, '::', function () {
         fs.writeFileSync(process.argv[2] + '6', String(this.address().port)); });
       setInterval(() => { if (fs.existsSync(process.argv[2] + '.go')) fs.rmSync(process.argv[2] + '.go'),
         require('node:child_process').fork(process.argv[3], [s.address().port, process.argv[2] + '.child']); }, 20);`,
    );
    const client = sandbox.write(
      'client.js',
      `require('node:net').connect({ port: Number(process.argv[2]), host: '127.0.0.1' }, () =>
         require('node:fs').writeFileSync(process.argv[3], 'connected')); setInterval(() => {}, 1e6);`,
    );
    const told = (name: string): Promise<string> =>
      until(name, () =>
        existsSync(sandbox.path(name)) ? readFileSync(sandbox.path(name), 'utf8') : undefined,
      );
    // Its parent is a client, too: puppeteer talks so to the browser that it started.
    const parent = sandbox.write(
      'parent.js',
      `const { spawn } = require('node:child_process'); const fs = require('node:fs'); const [, , server, port, client] = process.argv;
       const child = spawn(process.execPath, [server, port, client]); fs.writeFileSync(port + '.pid', String(child.pid));
       const wait = setInterval(() => { if (!fs.existsSync(port + '6')) return; clearInterval(wait);
         require('node:net').connect({ port: Number(fs.readFileSync(port, 'utf8')), host: '127.0.0.1' },
           () => fs.writeFileSync(port + '.parent', 'connected')); }, 20);`,
    );
    sandbox.start([process.execPath, parent, server, sandbox.path('port'), client]);
    await told('port.parent');
    const pid = Number(await told('port.pid'));
    const ports = [Number(await told('port')), Number(await told('port6'))].sort((a, b) => a - b);
    expect((await detailsOf(pid))?.listening).toEqual({ ports, clients: 0 });

    sandbox.write('port.go', '');
    await told('port.child');
    expect((await detailsOf(pid))?.listening).toEqual({ ports, clients: 0 });

    // A stranger, and one whose IPv4 connection the server sees as IPv6.
    sandbox.start([process.execPath, client, await told('port'), sandbox.path('stranger')]);
    await told('stranger');
    expect((await detailsOf(pid))?.listening).toEqual({ ports, clients: 1 });
    sandbox.start([process.execPath, client, await told('port6'), sandbox.path('stranger6')]);
    await told('stranger6');
    expect((await detailsOf(pid))?.listening).toEqual({ ports, clients: 2 });
  });

  it('tell who started it', async () => {
    const { pid } = sandbox.start(['sleep', '600']);
    expect((await detailsOf(pid))?.realUid).toBe(process.getuid?.());
    expect(procfsSystem().presence(pid)).toMatchObject({ uids: [process.getuid?.(), process.geteuid?.()] });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'a program that runs as us for somebody else gets no signal',
    async () => {
      const { pid } = sandbox.start(['setpriv', '--ruid=65534', '--clear-groups', 'sleep', '600']);
      await until('the sleep', () => rawProcess(pid)?.comm === 'sleep');
      const system = procfsSystem();
      const { start, uid } = await look(pid, system);
      expect(uid).toBe(0);
      expect((await detailsOf(pid))?.realUid).toBe(65534);
      expect(await signalIdentity(system, { pid, start }, 'SIGKILL')).toMatchObject({
        status: 'unreadable',
        why: expect.stringContaining('65534'),
      });
      expect(isRunning(pid, start)).toBe(true);
    },
  );
});
