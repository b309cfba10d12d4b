import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REAPTOP } from '../support/cli.ts';
import { leaveBehind, stubborn } from '../support/leftovers.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const restored = (pty: Pty): Promise<void> =>
  pty.until('the main screen with its cursor', () => !pty.alternate && pty.cursorShown);

/** Everything in the terminal's session has ended. */
const nothingLeft = (pty: Pty): Promise<unknown> =>
  until('no process to be left', () => sandbox.running().every(p => p.sid !== pty.pid));

describe('however it ends, the terminal is given back and nothing is left', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('%s: exit code %i', async (signal, code) => {
    const pty = new Pty(sandbox);
    await pty.shows('reaptop', 'q quit');
    process.kill(pty.pid, signal);
    expect(await pty.exit()).toBe(code);
    await restored(pty);
    await nothingLeft(pty);
  });

  it('Ctrl-C from inside a plan: 130', async () => {
    await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`);
    const pty = new Pty(sandbox);
    await pty.shows('mcp-server-files');
    await pty.select('mcp-server-files');
    pty.press('x');
    await pty.shows('End: 1 process');
    pty.press(KEY.ctrlC);
    expect(await pty.exit()).toBe(130);
    await restored(pty);
  });

  it('SIGTERM in the middle of a clean-up: no further signal, an honest audit line, no lock', async () => {
    const [hard] = (await leaveBehind(sandbox, stubborn(sandbox, 'stubborn-mcp'))) as [RawProcess];
    const pty = new Pty(sandbox);
    await pty.shows('stubborn-mcp');
    await pty.select('stubborn-mcp');
    pty.press('x');
    await pty.shows('End: 2 processes');
    await pty.confirm();
    await pty.shows('Working');
    pty.press(KEY.escape);
    await pty.hides('Working');
    pty.press('q');
    await pty.shows('q again quits');
    process.kill(pty.pid, 'SIGTERM');
    expect(await pty.exit()).toBe(143);
    await restored(pty);
    expect(isRunning(hard.pid, hard.start)).toBe(true);
    const again = new Pty(sandbox);
    await again.shows('stubborn-mcp', 'Log 1');
    await again.select('stubborn-mcp');
    again.press('X');
    await again.shows('Kill at once');
    await again.confirm();
    await again.shows(/\d killed/);
  });

  it('the other end of the terminal goes away', async () => {
    const pty = new Pty(sandbox);
    await pty.shows('q quit');
    pty.hangUp();
    await nothingLeft(pty);
  });

  it.each([
    ['an event', "process.on('SIGUSR2', () => { throw new Error('boom\\u001b[2J'); });"],
    ['drawing', "Date.prototype.toTimeString = () => { throw new Error('boom\\u001b[2J'); };"],
  ])('a crash in %s: one sentence, exit code 1', async (_, code) => {
    const [leak] = (await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`)) as [RawProcess];
    const preload = sandbox.write('preload.cjs', code);
    const pty = new Pty(sandbox, { env: { NODE_OPTIONS: `--require ${preload}` } });
    await pty.shows('mcp-server-files');
    // The log's rows have the time: drawing them fails.
    if (code.includes('toTimeString')) {
      await pty.select('mcp-server-files');
      pty.press('x');
      await pty.shows('End: 1 process');
      await pty.confirm();
      await pty.shows('1 ended');
      await until('it to end', () => !isRunning(leak.pid, leak.start));
      pty.press(KEY.escape);
      pty.press(KEY.shiftTab);
    } else process.kill(pty.pid, 'SIGUSR2');
    expect(await pty.exit()).toBe(1);
    await restored(pty);
    await pty.shows(/reaptop: internal error: boom/);
    expect(pty.text()).not.toContain(' at ');
    await nothingLeft(pty);
  });
});

describe('Ctrl-Z', () => {
  it('stops it under a shell with the terminal restored; fg brings everything back', async () => {
    const pty = new Pty(sandbox, { command: ['bash', '--norc', '-i'], env: { PS1: 'prompt> ' } });
    await pty.shows('prompt>');
    pty.press(`${REAPTOP} --interval 0.5\r`);
    await pty.shows('q quit');
    const tui = await sandbox.find('the TUI', p => p.comm === 'node');
    for (const round of [1, 2]) {
      pty.press(KEY.ctrlZ);
      await pty.shows('Stopped');
      await restored(pty);
      await until('it to be stopped', () => sandbox.running().find(p => p.pid === tui.pid)?.state === 'T');
      pty.press(`echo round-$((${round} + 40))\r`);
      await pty.shows(`round-${round + 40}`);
      pty.press('fg\r');
      await pty.until('the alternate screen', () => pty.alternate && !pty.cursorShown);
      await pty.shows('q quit');
    }
    pty.press('?');
    await pty.shows('any other key leaves');
    pty.press(KEY.escape);
    await pty.hides('any other key leaves');
    pty.press('q');
    await restored(pty);
    pty.press('echo code=$?\r');
    await pty.shows('code=0');
  });
});

describe('sizes', () => {
  it('300 quick resizes end as a fresh start does', async () => {
    const file = sandbox.write(
      'table.txt',
      [
        'PID PPID STAT RSS ELAPSED COMMAND',
        '1 0 Ss 1000 10-00:00:00 /sbin/init',
        '50 1 S 90000 01:00:00 node /usr/lib/node_modules/@playwright/mcp/cli.js',
        '60 1 S 90000 02:00:00 /usr/bin/sshd',
        '61 60 Ss 9000 02:00:00 -bash',
        '62 61 S 390000 02:00:00 claude',
        '63 62 S 80000 02:00:00 python3 /home/a/.local/bin/lean-lsp-mcp',
        '64 63 Z 0 02:00:00 [lake.orig] <defunct>',
        '',
      ].join('\n'),
    );
    const pty = new Pty(sandbox, { args: ['--from', file] });
    await pty.shows('lean-lsp-mcp');
    for (let i = 0; i < 300; i += 1) pty.resize(30 + ((i * 37) % 170), 5 + ((i * 11) % 50));
    for (const [columns, rows] of [
      [40, 10],
      [200, 50],
      [60, 40],
      [80, 24],
    ] as const) {
      pty.resize(columns, rows);
      const fresh = new Pty(sandbox, { args: ['--from', file], columns, rows });
      await fresh.shows('lean-lsp-mcp');
      await pty.until(`a fresh start's screen at ${columns}×${rows}`, () => pty.text() === fresh.text());
      fresh.press('q');
      expect(await fresh.exit()).toBe(0);
    }
  });

  it('40×10: the leak, its plan and its outcome can be seen', async () => {
    const [leak] = (await leaveBehind(sandbox, `${sandbox.sleeper('mcp-tiny')} 600`)) as [RawProcess];
    const pty = new Pty(sandbox, { columns: 40, rows: 10 });
    await pty.shows('mcp-tiny', 'LEAK');
    await pty.select('mcp-tiny');
    pty.press('x');
    await pty.shows('End: 1 process', String(leak.pid), 'y run');
    await pty.confirm();
    await pty.shows('1 ended');
    expect(Math.max(...pty.lines().map(line => line.length))).toBeLessThanOrEqual(40);
  });
});
