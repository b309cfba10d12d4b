import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  leanProjectsOf,
  leanServerVersion,
  readPressure,
  readProcMount,
  readRefreshTimers,
} from '../../../src/observe/health.ts';
import { Sandbox } from '../../support/sandbox.ts';

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = new Sandbox();
});
afterAll(() => sandbox.close());

describe('how /proc is mounted', () => {
  const MOUNT = '22 1 0:21 / /proc rw,nosuid,nodev shared:5 - proc proc rw';
  test.each([
    ['', null],
    [',hidepid=2', '2'],
    [',gid=4,hidepid=invisible', 'invisible'],
    [',hidepid=0', null],
    [',hidepid=off', null],
  ])('with rw%s', (options, hidepid) => {
    sandbox.write('proc/self/mountinfo', `1 0 8:1 / / rw - ext4 x rw\n${MOUNT}${options}\n`);
    expect(readProcMount('linux', sandbox.path('proc'))).toEqual({ kind: 'mounted', hidepid });
  });

  it('the last mount there counts, whatever lies below it', () => {
    sandbox.write('proc/self/mountinfo', `${MOUNT},hidepid=2\n${MOUNT}\n`);
    expect(readProcMount('linux', sandbox.path('proc'))).toMatchObject({ hidepid: null });
  });

  it('is missing without a mount table, and no question elsewhere', () => {
    expect(readProcMount('linux', sandbox.path('nowhere'))).toEqual({ kind: 'missing' });
    expect(readProcMount('darwin')).toEqual({ kind: 'none', platform: 'darwin' });
  });
});

describe('memory pressure', () => {
  const host = { memTotal: 8, memAvailable: 4, swapUsed: 1 };

  it('is what the kernel says of the last minute', () => {
    sandbox.write(
      'pressed/pressure/memory',
      'some avg10=9.00 avg60=12.50 avg300=1.00 total=5\nfull avg60=3\n',
    );
    sandbox.write('pressed/meminfo', 'MemTotal: 8 kB\nSwapTotal:       2 kB\n');
    expect(readPressure(host, sandbox.path('pressed'))).toEqual({
      ...host,
      swapTotal: 2048,
      waited: 12.5,
      level: null,
    });
  });

  it('is unknown where it says nothing', () => {
    expect(readPressure(host, sandbox.path('nowhere'))).toEqual({
      ...host,
      swapTotal: null,
      waited: null,
      level: null,
    });
    expect(readPressure({ ...host, memoryPressure: 'warn' }, sandbox.path('nowhere')).level).toBe('warn');
  });
});

describe('Lean', () => {
  it('finds a project from any directory in it, once', () => {
    sandbox.write('proofs/lean-toolchain', 'leanprover/lean4:v4.20.0\n');
    const deep = sandbox.path('proofs/src/deep');
    mkdirSync(deep, { recursive: true });
    expect(leanProjectsOf([deep, sandbox.path('proofs'), sandbox.path('work')])).toEqual([
      { path: sandbox.path('proofs'), toolchain: 'leanprover/lean4:v4.20.0' },
    ]);
  });

  it('spells out what a toolchain file hides, and bounds it', () => {
    sandbox.write('evil/lean-toolchain', `\u001b[2J${'x'.repeat(3000)}\nsecond`);
    const [project] = leanProjectsOf([sandbox.path('evil')]);
    expect(project?.toolchain).toMatch(/^\\x1b\[2Jx+$/);
    expect(project?.toolchain.length).toBeLessThanOrEqual(80);
  });

  it('reads the version of a server from the packages beside it', () => {
    const script = sandbox.write('venv/bin/lean-lsp-mcp', '#!/bin/sh\n', 0o755);
    mkdirSync(sandbox.path('venv/lib/python3.12/site-packages/lean_lsp_mcp-0.11.2.dist-info'), {
      recursive: true,
    });
    expect(leanServerVersion([script])).toBe('0.11.2');
    expect(leanServerVersion(['/usr/bin/python3', script])).toBe('0.11.2');
    expect(leanServerVersion([sandbox.path('venv/bin/python'), '-m', 'lean_lsp_mcp'])).toBe('0.11.2');
    expect(leanServerVersion(['lean-lsp-mcp'])).toBeNull();
    expect(leanServerVersion([sandbox.path('elsewhere/bin/lean-lsp-mcp')])).toBeNull();
  });
});

describe('the timer of claude-refresh', () => {
  const config = (): string => sandbox.path('config');

  it('is not there without units', () => expect(readRefreshTimers(sandbox.path('nowhere'))).toEqual([]));

  it('is found by its name and by what it runs, with whether it is enabled', () => {
    sandbox.write(
      'config/systemd/user/claude-refresh.service',
      '[Service]\nExecStart=/x/claude-refresh.sh --force\n',
    );
    sandbox.write('config/systemd/user/claude-refresh.timer', '[Timer]\nOnCalendar=hourly\n');
    sandbox.write('config/systemd/user/timers.target.wants/claude-refresh.timer', '');
    sandbox.write('config/systemd/user/tidy.service', '[Service]\nExecStart=/bin/sh /x/claude-refresh.sh\n');
    sandbox.write(
      'config/systemd/user/backup.service',
      '[Service]\n# not claude-refresh\nExecStart=/bin/true\n',
    );
    expect(readRefreshTimers(config())).toEqual([
      { path: `${config()}/systemd/user/claude-refresh.timer`, enabled: true },
      { path: `${config()}/systemd/user/tidy.service`, enabled: false },
    ]);
  });
});
