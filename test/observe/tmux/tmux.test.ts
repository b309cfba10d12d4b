import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listTmux, PANE_FORMAT, parsePanes } from '../../../src/observe/tmux.ts';
import { childrenOf, rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const uid = process.getuid!();

describe.each([
  ['beside other work', false],
  ['alone', true],
])('listTmux with real servers, %s', (_, alone) => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());

  const list = (extra: Partial<Parameters<typeof listTmux>[0]> = {}) =>
    listTmux({ uid, env: sandbox.env, servers: [], alone, ...extra });
  const serverPid = (): number => Number(sandbox.tmux('display-message', '-p', '#{pid}'));
  const socketPath = (): string => sandbox.path('tmux', `tmux-${uid}`, 'reaptop-test');

  it('gives every pane of a detached session with its process and terminal', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'work', 'sleep 1000');
    sandbox.tmux('split-window', '-t', '=work:', 'sleep 2000');
    const { servers, warnings } = await list();
    expect(warnings).toEqual([]);
    expect(servers).toHaveLength(1);
    expect(servers[0]).toMatchObject({ socket: socketPath(), pid: serverPid(), reachable: true });
    const panes = servers[0]!.panes;
    expect(panes).toHaveLength(2);
    for (const pane of panes) {
      expect(pane).toMatchObject({
        session: 'work',
        sessionId: '$0',
        window: 0,
        dead: false,
        attached: false,
      });
      expect(pane.tty).toMatch(/^pts\/\d+$/);
      expect(rawProcess(pane.pid)?.ppid).toBe(serverPid());
      expect(Math.abs(Date.now() / 1000 - pane.activity!)).toBeLessThan(60);
    }
  });

  it('keeps names and titles apart whatever they hold, and makes their control characters visible', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'a b\t$x é', 'sleep 1000');
    sandbox.tmux('select-pane', '-T', 'run: 12:34 | ✳ done', '-t', '%0');
    const pane = (await list()).servers[0]!.panes[0]!;
    expect(pane.session).toContain('é');
    expect(pane.session).not.toContain('\t');
    expect(pane.title).toBe('run: 12:34 | ✳ done');
  });

  it('says so in a C locale too', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'plain', 'sleep 1000');
    const { servers } = await list({ env: { ...sandbox.env, LC_ALL: 'C', LANG: 'C', TMUX: '/nowhere,1,0' } });
    expect(servers[0]!.panes[0]!.session).toBe('plain');
  });

  it('lists a pane of grouped sessions once, under the session that made it, attached when any is', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'one', 'sleep 1000');
    sandbox.tmux('new-session', '-d', '-s', 'another', '-t', 'one');
    const pane = async () => (await list()).servers[0]!.panes.map(p => [p.pane, p.session, p.attached]);
    expect(await pane()).toEqual([['%0', 'one', false]]);
    sandbox.start(['script', '-qfc', 'tmux -L reaptop-test attach -t =another', '/dev/null'], {
      env: { TERM: 'xterm-256color' },
      detached: true,
    });
    await until('a client', () => sandbox.tmux('list-clients') !== '');
    expect(await pane()).toEqual([['%0', 'one', true]]);
  });

  it('finds a server on a socket that only an environment speaks of', async () => {
    sandbox.needsTmux();
    const elsewhere = sandbox.path('own,socket');
    sandbox.start(['tmux', '-S', elsewhere, '-f', '/dev/null', 'new-session', '-d', '-s', 'x', 'sleep 1000']);
    const found = await until('the server to answer', async () => {
      const { servers } = await list({ sockets: [`${elsewhere},123,0`] });
      return servers[0]?.panes.length === 1 ? servers : null;
    });
    expect(found[0]).toMatchObject({ socket: elsewhere, reachable: true });
  });

  it('does not take the socket file of a dead server for a server', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'gone', 'sleep 1000');
    const pid = serverPid();
    const kept = sandbox.path('tmux', `tmux-${uid}`, 'kept');
    renameSync(socketPath(), kept);
    // Until its exec the pane's process has the server's sockets, and keeps them open when the server ends.
    await until('the pane to run', () => childrenOf(pid).some(p => p.comm === 'sleep'));
    process.kill(pid, 'SIGKILL');
    await until('the server to end', () => (rawProcess(pid)?.state ?? 'Z') === 'Z');
    expect(await list()).toEqual({ servers: [], warnings: [] });
  });

  it('calls a server that does not answer unreachable, not dead', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'hung', 'sleep 1000');
    const pid = serverPid();
    process.kill(pid, 'SIGSTOP');
    const { servers, warnings } = await list({
      timeoutMs: 150,
      servers: [{ pid, socketHint: 'reaptop-test' }],
    });
    process.kill(pid, 'SIGCONT');
    expect(servers).toEqual([{ socket: socketPath(), pid, reachable: false, panes: [] }]);
    expect(warnings[0]).toContain('did not answer');
  });

  it('asks none of 500 stale sockets with a tmux of its own, and still finds the one that lives', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'zzz', 'sleep 1000');
    const counted = sandbox.path('asked');
    const tmux = execFileSync('sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
    sandbox.write('counting/tmux', `#!/bin/sh\necho asked >> ${counted}\nexec ${tmux} "$@"\n`, 0o755);
    const stale = createServer();
    const path = sandbox.path('tmux', `tmux-${uid}`, 'a-stale');
    await new Promise<void>(listening => stale.listen(path, listening));
    for (let i = 0; i < 499; i++) linkSync(path, `${path}-${i}`);
    await new Promise(closed => stale.close(closed));
    const env = { ...sandbox.env, PATH: `${sandbox.path('counting')}:${process.env.PATH}` };
    const { servers, warnings } = await list({ env, timeoutMs: 10_000 });
    expect(servers.map(server => server.panes.map(pane => pane.session))).toEqual([['zzz']]);
    expect(warnings).toEqual([]);
    expect(readFileSync(counted, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('gives 20 silent sockets a second in all, asks those first that somebody speaks of, and says it once', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'zzz', 'sleep 1000');
    const silent = Array.from({ length: 20 }, () => createServer());
    for (const [i, server] of silent.entries())
      await new Promise<void>(listening =>
        server.listen(sandbox.path('tmux', `tmux-${uid}`, `a${i}`), listening),
      );
    const began = performance.now();
    const { servers, warnings } = await list({ sockets: [`${socketPath()},1,0`] });
    // One second, and what a busy machine takes to end eight children.
    expect(performance.now() - began).toBeLessThan(2500);
    for (const server of silent) server.close();
    expect(servers.filter(server => server.reachable)).toHaveLength(1);
    expect(servers.filter(server => !server.reachable)).toHaveLength(20);
    expect(warnings).toEqual([expect.stringMatching(/cannot be asked .*, and 19 more like it\.$/)]);
  });

  it('lists a server process whose socket file was deleted as unreachable', async () => {
    const { servers } = await list({ servers: [{ pid: 4242 }] });
    expect(servers).toEqual([{ socket: '', pid: 4242, reachable: false, panes: [] }]);
  });

  it('says that tmux is missing instead of failing', async () => {
    const server = createServer();
    mkdirSync(sandbox.path('tmux', `tmux-${uid}`), { mode: 0o700 });
    await new Promise<void>(listening => server.listen(socketPath(), listening));
    const { servers, warnings } = await list({ env: { ...sandbox.env, PATH: sandbox.path('bin') } });
    server.close();
    expect(servers).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('tmux is not installed')]);
  });

  it('starts no child when the user has no socket', async () => {
    // A PATH without tmux would give a warning if anything were started.
    const env = { ...sandbox.env, PATH: '/nonexistent', TMUX_TMPDIR: sandbox.path('absent') };
    expect(await list({ env })).toEqual({ servers: [], warnings: [] });
  });

  it('ignores files that are no sockets, and survives a socket that is not tmux', async () => {
    const directory = sandbox.path('tmux', `tmux-${uid}`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${directory}/notes`, 'hello');
    const impostor = createServer(client => client.on('error', () => {}).destroy());
    await new Promise<void>(done => impostor.listen(`${directory}/impostor`, done));
    const { servers } = await list({ timeoutMs: 500 });
    await new Promise(done => impostor.close(done));
    expect(servers.every(s => !s.reachable && s.panes.length === 0)).toBe(true);
  });
});

describe('parsePanes', () => {
  it('takes any output, and gives only panes that have a process', () => {
    const columns = PANE_FORMAT.split(':').length;
    const line = fc.array(fc.constantFrom('$1', '%2', '@3', '77', '', '-1', 'x', '/dev/pts/1'), {
      minLength: columns - 2,
      maxLength: columns + 2,
    });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            line.map(fields => fields.join(':')),
            fc.string(),
          ),
        ),
        lines => {
          for (const pane of parsePanes('/s', lines.join('\n')).panes) {
            expect(pane.pid).toBe(77);
            expect(pane.pane).toBe('%2');
          }
        },
      ),
    );
  });
});
