import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { CLI, type CliOptions, REAPTOP, reaptop } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

interface JsonCheck {
  readonly id: string;
  readonly level: string;
  readonly says: string;
  readonly todo: string | null;
}

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const checked = (stdout: string): Record<string, JsonCheck> =>
  Object.fromEntries((JSON.parse(stdout) as { checks: JsonCheck[] }).checks.map(check => [check.id, check]));

const doctor = async (args: readonly string[] = [], options: CliOptions = {}) => {
  const { code, stdout, stderr } = await reaptop(sandbox, ['doctor', '--json', ...args], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return checked(stdout);
};

const STATE = 'home/.local/state/reaptop';

describe('doctor', () => {
  it('says a line for each check, and fails only when asked to', async () => {
    const told = await reaptop(sandbox, ['doctor']);
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toMatch(/^ok {3}proc: /);
    expect(told.stdout).toMatch(/\n\d+ ok, \d+ warnings?, 0 failed\n$/);
    sandbox.write('home/.config/reaptop/config.json', '{ "theme": "pink" }');
    expect((await reaptop(sandbox, ['doctor', '--fail-on', 'critical'])).code).toBe(3);
    expect((await reaptop(sandbox, ['doctor'])).code).toBe(0);
  });

  it('names what is wrong with the config, and goes on without it', async () => {
    sandbox.write('home/.config/reaptop/config.json', '{ "theme": "pink" }');
    sandbox.write('work/.reaptop.json', '{ "recognisers": [] }');
    const checks = await doctor();
    expect(checks.config).toMatchObject({ level: 'fail', says: expect.stringContaining('theme') });
    expect(checks.processes).toMatchObject({ level: 'ok' });
    sandbox.write('good.json', '{}');
    const other = await doctor(['--config', sandbox.path('good.json')]);
    expect(other.config).toMatchObject({ level: 'warn', says: expect.stringContaining('.reaptop.json') });
  });

  it('sees a state directory that others may read, and a file in its place', async () => {
    sandbox.write(`${STATE}/audit.jsonl`, '');
    chmodSync(sandbox.path(STATE), 0o755);
    expect((await doctor()).state).toMatchObject({ level: 'warn', says: expect.stringContaining('0755') });
    const elsewhere = sandbox.write('file/reaptop', '');
    expect((await doctor([], { env: { XDG_STATE_HOME: `${elsewhere}/..` } })).state).toMatchObject({
      level: 'fail',
      says: expect.stringContaining('is not a directory'),
    });
  });

  it.runIf(process.getuid?.() === 0)('sees a state directory of another user', async () => {
    sandbox.write(`${STATE}/audit.jsonl`, '');
    chownSync(sandbox.path(STATE), 65534, 65534);
    const { state } = await doctor();
    expect(state).toMatchObject({ says: expect.stringContaining("another user's directory") });
    expect(state?.level).not.toBe('ok');
  });

  it('sees hooks that are current, that start what is not there, and settings that nobody can read', async () => {
    const settings = sandbox.path('home/.claude/settings.json');
    expect((await doctor()).hooks).toMatchObject({ level: 'ok', says: expect.stringContaining('no hooks') });
    expect((await reaptop(sandbox, ['hook', 'install'])).code).toBe(0);
    expect((await doctor()).hooks).toMatchObject({
      level: 'ok',
      says: `8 hooks in ${settings}: current`,
    });
    const installed = readFileSync(settings, 'utf8');
    writeFileSync(settings, installed.replaceAll(process.execPath, '/opt/node-18/bin/node'));
    expect((await doctor()).hooks).toMatchObject({
      level: 'fail',
      says: expect.stringContaining('/opt/node-18/bin/node, which is not there'),
      todo: expect.stringContaining('reaptop hook install'),
    });
    const elsewhere = sandbox.write('elsewhere/reaptop/dist/cli.js', '');
    writeFileSync(settings, installed.replaceAll(CLI, elsewhere));
    expect((await doctor()).hooks).toMatchObject({ level: 'warn', says: expect.stringContaining('not as') });
    writeFileSync(settings, '{ "hooks": ');
    expect((await doctor()).hooks).toMatchObject({
      level: 'warn',
      says: expect.stringContaining('not valid JSON'),
    });
    writeFileSync(settings, installed);
    expect((await reaptop(sandbox, ['hook', 'uninstall'])).code).toBe(0);
  });

  it('says that tmux is missing, and that a server does not answer', async () => {
    mkdirSync(sandbox.path('nothing'));
    const { tmux } = await doctor([], { env: { PATH: sandbox.path('nothing') } });
    expect(tmux).toMatchObject({ level: 'warn', says: expect.stringContaining('not in PATH') });
    sandbox.tmux('new-session', '-d', 'sleep 600');
    expect((await doctor()).tmux).toMatchObject({ level: 'ok', says: expect.stringContaining('1 server') });
    const server = await sandbox.find('the tmux server', p => p.comm.startsWith('tmux'));
    process.kill(server.pid, 'SIGSTOP');
    try {
      expect((await doctor()).tmux).toMatchObject({
        level: 'fail',
        says: expect.stringContaining('did not answer'),
      });
      // A client that hangs with it speaks of the same server.
      sandbox.start(['tmux', '-L', 'reaptop-test', 'list-sessions']);
      await sandbox.find('the client', p => p.comm === 'tmux: client' || p.comm === 'tmux');
      expect((await doctor()).tmux?.says.match(/\/reaptop-test(?=[ ,])/g)).toHaveLength(1);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  it('sees old Lean, an old server, two servers on one project, the timer and a strange session file', async () => {
    sandbox.write('work/lean-toolchain', 'leanprover/lean4:v4.20.0\n');
    sandbox.write('home/.config/systemd/user/claude-refresh.timer', '[Timer]\nOnCalendar=hourly\n');
    mkdirSync(sandbox.path('home/.config/systemd/user/timers.target.wants'));
    symlinkSync(
      '../claude-refresh.timer',
      sandbox.path('home/.config/systemd/user/timers.target.wants/claude-refresh.timer'),
    );
    sandbox.write('home/.claude/sessions/77.json', '{"version":9,"process":{"id":77}}');
    const server = sandbox.write('venv/bin/lean-lsp-mcp', '#!/bin/sh\nsleep 600 &\nwait\n', 0o755);
    mkdirSync(sandbox.path('venv/lib/python3.12/site-packages/lean_lsp_mcp-0.11.2.dist-info'), {
      recursive: true,
    });
    await startAgent(sandbox, { children: [server] });
    await startAgent(sandbox, { children: [server] });
    await until('both servers', () => sandbox.running().filter(p => p.comm === 'lean-lsp-mcp').length === 2);
    const checks = await doctor();
    const bad = Object.values(checks).filter(check => check.level !== 'ok' && check.id !== 'tmux');
    expect(Object.fromEntries(bad.map(({ id, says }) => [id, says]))).toEqual({
      'lean-toolchain': expect.stringContaining('v4.20.0'),
      'lean-lsp-mcp': expect.stringContaining('0.11.2'),
      'lean-servers': expect.stringContaining(`2 servers on ${sandbox.path('work')}`),
      'claude-refresh': expect.stringContaining('every hour'),
      'claude-files': expect.stringContaining('77.json'),
    });
    for (const { todo } of bad) expect(todo).toBeTruthy();
  });
});

/** Runs a shell line in mount and user namespaces of its own, in which this user is root. */
const inside = (line: string): { status: number | null; stdout: string; stderr: string } =>
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-ec', line], {
    env: sandbox.env,
    cwd: sandbox.path('work'),
    encoding: 'utf8',
  });

const canMount =
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'x', '/tmp'])
    .status === 0;

describe.runIf(canMount)('doctor on a machine with a mount changed', () => {
  const told = (line: string): Record<string, JsonCheck> => {
    const { status, stdout, stderr } = inside(line);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return checked(stdout);
  };
  const DOCTOR = `${REAPTOP} doctor --json`;

  it('sees a full disk', () => {
    mkdirSync(sandbox.path(STATE), { recursive: true, mode: 0o700 });
    const place = sandbox.path(STATE);
    const { state } = told(
      `mount -t tmpfs -o size=64k,mode=700 x '${place}'; head -c 65536 /dev/zero >'${place}/fill' 2>/dev/null || true; ${DOCTOR}`,
    );
    expect(state).toMatchObject({ level: 'fail', says: expect.stringContaining('is full') });
  });

  it('sees a read-only disk', () => {
    mkdirSync(sandbox.path(STATE), { recursive: true, mode: 0o700 });
    const { state } = told(`mount -t tmpfs -o ro,mode=700 x '${sandbox.path(STATE)}'; ${DOCTOR}`);
    expect(state).toMatchObject({ level: 'fail', says: expect.stringContaining('cannot be written') });
  });

  it('sees that no directory can be watched', () => {
    const { inotify } = told(`echo 0 >/proc/sys/user/max_inotify_instances; ${DOCTOR}`);
    expect(inotify).toMatchObject({ level: 'fail', says: expect.stringContaining('cannot be watched') });
  });

  it('sees that /proc is gone', () => {
    const { proc, processes } = told(`mount -t tmpfs x /proc; ${DOCTOR}`);
    expect(proc).toMatchObject({ level: 'fail' });
    expect(processes).toMatchObject({ level: 'fail' });
  });
});

describe.runIf(process.getuid?.() === 0)('doctor where /proc hides others', () => {
  it('says so', () => {
    const { stdout, stderr } = spawnSync(
      'unshare',
      ['--mount', 'sh', '-ec', `mount -t proc -o hidepid=2 proc /proc; ${REAPTOP} doctor --json`],
      { env: sandbox.env, cwd: sandbox.path('work'), encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(checked(stdout).proc).toMatchObject({ level: 'warn', says: expect.stringContaining('hidepid') });
  });
});
