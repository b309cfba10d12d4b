import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { lacking } from '../support/lacking.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { orphan } from '../support/orphan.ts';
import { isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { drive } from '../tui/drive.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const server = (name: string): string => `${sandbox.sleeper(name)} 600`;
const alive = (p: RawProcess): boolean => isRunning(p.pid, p.start);

/** A TUI with the leaked server selected. */
const watching = async (leak: RawProcess, name: string): Promise<Pty> => {
  const pty = new Pty(sandbox);
  await pty.shows(new RegExp(`LEAK +${leak.pid}`));
  await pty.select(name);
  return pty;
};

describe('keys that must not act', () => {
  it('Enter, Esc, the same key again, and a y from the chunk that asked', async () => {
    const [leak] = (await leaveBehind(sandbox, server('mcp-server-files'))) as [RawProcess];
    const pty = await watching(leak, 'mcp-server-files');
    for (const answer of [KEY.enter, KEY.escape, 'x', 'X', 'n', ' \r', 'q', 'Y', '\u001b[200~y\u001b[201~']) {
      pty.press('x');
      await pty.shows('End: 1 process');
      pty.press(answer);
      // A paste is no answer at all: the plan stays until it is left.
      if (answer.includes('200~')) pty.press(KEY.escape);
      await pty.hides('End: 1 process');
    }
    pty.press('xxxxxxxxx');
    await pty.shows('End: 1 process');
    pty.press(KEY.escape);
    await pty.hides('End: 1 process');
    for (const chunk of ['xy', 'Xy', 'xyyy']) {
      pty.press(chunk);
      await pty.shows(/(End|Kill at once): 1 process/);
      pty.press(KEY.escape);
      await pty.hides(/(End|Kill at once): 1 process/);
    }
    // Straight after one another, as a person does who expects the machine to keep up.
    for (const key of ['x', 'y']) pty.press(key);
    await pty.shows('End: 1 process');
    expect(pty.text()).not.toMatch(/Working|Done/);
    expect(alive(leak)).toBe(true);
    pty.press(KEY.escape);
    pty.press('q');
    expect(await pty.exit()).toBe(0);
    expect(alive(leak)).toBe(true);
  });

  it('a y that waited in the terminal while the plan was made', async () => {
    let made: Promise<unknown> | null = null;
    const driven = await drive(100, 30, {
      answering: live => ({
        plan: request => {
          const plan = live.plan(request);
          made = plan;
          return plan;
        },
      }),
    });
    driven.terminal.type('j');
    driven.terminal.type('x');
    await until('the plan to be asked for', () => made !== null);
    driven.terminal.type('y'); // while it is being made
    await made;
    // The plan is there after a few microtasks, and nothing has been painted yet.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    driven.terminal.type('y');
    await driven.terminal.until('Too early: read the plan');
    expect(driven.demo.system.delivered).toEqual([]);
    expect(driven.terminal.text()).toMatch(/End: 7 processes/);
    await until('a later y to run it', async () => {
      await driven.type('y');
      return driven.demo.system.delivered.length > 0;
    });
    await driven.close();
  });

  it('jjjx at once moves three rows and plans for that one', async () => {
    const leaks = await leaveBehind(sandbox, server('mcp-aaa'), server('mcp-bbb'), server('mcp-ccc'));
    const pty = new Pty(sandbox);
    await pty.shows(...leaks.map(p => new RegExp(`LEAK +${p.pid}`)));
    pty.press('/mcp-');
    await pty.shows('filter mcp-');
    pty.press(KEY.enter);
    pty.press('g');
    await pty.shows(/^│?▌.*session /m);
    // The first one is the row of what the session left.
    const third = pty.lines().filter(line => line.includes(' LEAK '))[3]!;
    pty.press('jjjx');
    await pty.shows('End: 1 process', new RegExp(`TERM +LEAK +${/LEAK +(\d+)/.exec(third)![1]} `));
    expect(leaks.every(alive)).toBe(true);
  });
});

describe('protected processes', () => {
  const dead = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '00000000-dead-4000-8000-000000000000' };

  it('a soft-protected one asks for its pid before y counts', async () => {
    const http = await orphan(sandbox, `${sandbox.script('web-mcp')} --transport http --port 0`, dead);
    const pty = new Pty(sandbox);
    await pty.shows(new RegExp(`prot +${http.pid}`));
    await pty.select('web-mcp');
    pty.press('x');
    await pty.shows(`Type its pid, ${http.pid}`);
    await pty.until('y to be refused without the pid', () => {
      pty.press('y');
      return pty.footer.includes(`Type ${http.pid} first`);
    });
    for (const digit of String(http.pid)) pty.press(digit);
    await pty.shows(/processe?s?: TERM/);
    expect(alive(http)).toBe(true);
    await pty.confirm();
    await pty.shows(/\d ended/);
    await until('it to end', () => !alive(http));
  });

  it('a hard-protected one is refused, with the reason, and y does nothing', async () => {
    const daemon = await orphan(sandbox, `${sandbox.script('claude-code/claude')} daemon run`, dead);
    const pty = new Pty(sandbox);
    await pty.shows(new RegExp(`prot +${daemon.pid}`));
    await pty.select(String(daemon.pid));
    pty.press('X');
    await pty.shows('Nothing would be signalled', /Refused: \d process/, /supervisor/);
    pty.press('y');
    await pty.hides('Nothing would be signalled');
    expect(alive(daemon)).toBe(true);
  });

  it('reaptop does not end itself or the shell it runs in', async () => {
    const pty = new Pty(sandbox, { args: ['--interval', '0.5', '--all'] });
    await pty.shows('all processes');
    await pty.select(String(pty.pid));
    pty.press('x');
    await pty.shows('Nothing would be signalled', /Refused: \d process/);
    pty.press('y');
    await pty.hides('Nothing would be signalled');
    expect(isRunning(pty.pid)).toBe(true);
  });
});

describe('a plan left open while the machine goes on', () => {
  it('what ended meanwhile is gone, the rest is ended', async () => {
    const [early, late] = (await leaveBehind(sandbox, server('mcp-early'), server('mcp-later'))) as [
      RawProcess,
      RawProcess,
    ];
    const pty = await watching(early, 'mcp-');
    await pty.shows(new RegExp(`LEAK +${late.pid}`));
    pty.press('g');
    pty.press(' ');
    await pty.shows('2 marked');
    pty.press('x');
    await pty.shows('End: 2 processes');
    process.kill(early.pid, 'SIGKILL');
    await until('it to end', () => !alive(early));
    await pty.confirm();
    await pty.shows(/1 ended, 1 gone|1 gone, 1 ended/, new RegExp(`gone +\\w* *${early.pid}`));
    await until('the other to end', () => !alive(late));
  });

  const LAST_PID = '/proc/sys/kernel/ns_last_pid';
  it('a stranger that got the pid meanwhile lives', async () => {
    try {
      writeFileSync(LAST_PID, readFileSync(LAST_PID));
    } catch {
      lacking('Only root may choose which pid comes next.');
    }
    const agent = await startAgent(sandbox);
    const [leak] = (await leaveBehind(sandbox, server('mcp-server-files'))) as [RawProcess];
    const pty = await watching(leak, 'mcp-server-files');
    pty.press('x');
    await pty.shows('End: 1 process');
    process.kill(leak.pid, 'SIGKILL');
    await until('the pid to be free', () => rawProcess(leak.pid) === null);
    // Whoever else starts a process at this moment may be quicker: a few tries, then the test has no stranger.
    const stranger = [1, 2, 3, 4, 5].some(() => {
      writeFileSync(LAST_PID, String(leak.pid - 1));
      const { pid } = spawn(sandbox.sleeper('mcp-server-files'), ['600'], {
        env: sandbox.env,
        detached: true,
        stdio: 'ignore',
      });
      return pid === leak.pid;
    });
    if (!stranger) lacking('Somebody else got the pid each time.');
    await pty.confirm();
    await pty.shows(/1 gone/);
    expect(isRunning(leak.pid)).toBe(true);
    expect(alive(agent)).toBe(true);
  });
});
