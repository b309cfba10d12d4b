import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { REAPTOP, reaptop } from '../support/cli.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const server = (name: string): string => `${sandbox.sleeper(name)} 600`;

/** A recorded table with an orphan in it. */
const recorded = (): string =>
  sandbox.write(
    'table.txt',
    [
      'PID PPID STAT RSS ELAPSED COMMAND',
      '1 0 Ss 1000 10-00:00:00 /sbin/init',
      `${process.pid} 1 S 90000 01:00:00 node /usr/lib/node_modules/@playwright/mcp/cli.js`,
      '',
    ].join('\n'),
  );

describe('where there is no terminal', () => {
  it('neither on stdin nor on stdout: the text of --once, and a note on stderr', async () => {
    const { code, stdout, stderr } = await reaptop(sandbox, []);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^reaptop .* agents?, \d+ agent processes of \d+/);
    expect(stderr).toBe('reaptop: this is not a terminal; showing the text of --once\n');
  });

  it.each([
    ['stdin', '</dev/null'],
    ['stdout', '| cat'],
  ])('not on %s: the same', async (_, redirection) => {
    const pty = new Pty(sandbox, { command: ['sh', '-c', `${REAPTOP} ${redirection}`] });
    await pty.shows('not a terminal', /agent processes of \d+/);
    expect(await pty.exit()).toBe(0);
    expect(pty.written).not.toContain('\u001b[?1049h');
  });
});

describe('tables that are not this machine', () => {
  it('--from FILE: acting keys say why they do nothing', async () => {
    const pty = new Pty(sandbox, { args: ['--from', recorded()] });
    await pty.shows('read-only', 'susp');
    pty.press('jj');
    for (const key of ['x', 'X', 'c', 'S', 'z', 'o']) {
      pty.press(key);
      await pty.until(`the reason for ${key}`, () => /recorded/i.test(pty.footer));
      pty.press('k');
      await pty.until('the reason to go', () => !/recorded/i.test(pty.footer));
    }
    pty.press('q');
    expect(await pty.exit()).toBe(0);
  });

  it('--from -: the keys come from the terminal', async () => {
    const pty = new Pty(sandbox, {
      command: ['sh', '-c', `cat ${recorded()} | ${REAPTOP} --from -; echo "exit $?"; stty -a; sleep 600`],
    });
    await pty.shows('read-only', 'susp');
    pty.press('?');
    await pty.shows('any other key leaves');
    pty.press(KEY.escape);
    await pty.hides('any other key leaves');
    pty.press('q');
    await pty.shows('exit 0', /[^-]icanon/);
    expect(pty.alternate).toBe(false);
  });

  it('--demo: a rich machine whose processes nobody signals', async () => {
    const pty = new Pty(sandbox, { args: ['--demo'] });
    await pty.shows('demo', '9 leaked');
    pty.press('c');
    await pty.shows('Clean what is proven leaked: 9 processes');
    await pty.confirm();
    await pty.shows(/ended +LEAK +\d+ /, '8 ended, 1 killed');
    pty.press(KEY.ctrlC);
    expect(await pty.exit()).toBe(130);
  });
});

describe('terminals of every sort', () => {
  it.each([['NO_COLOR'], ['--no-color']])('%s: no colour is written', async how => {
    await leaveBehind(sandbox, server('mcp-server-files'));
    const env: Record<string, string> = how === 'NO_COLOR' ? { NO_COLOR: '1' } : {};
    const pty = new Pty(sandbox, { args: how === 'NO_COLOR' ? [] : [how], env });
    await pty.shows('mcp-server-files', 'LEAK');
    for (const key of [KEY.down, KEY.enter, KEY.escape, 'c']) pty.press(key);
    await pty.shows('Clean what is proven leaked');
    const styles = [...pty.written.matchAll(/\u001b\[([\d;]*)m/g)].flatMap(match => match[1]!.split(';'));
    expect(styles.filter(code => /^(3[0-8]|4[0-8]|9\d|10\d)$/.test(code))).toEqual([]);
  });

  it('LANG=C: nothing but ASCII', async () => {
    await leaveBehind(sandbox, server('mcp-server-files'));
    const pty = new Pty(sandbox, { env: { LC_ALL: 'C', LANG: 'C' } });
    await pty.shows('mcp-server-files', 'LEAK');
    for (const key of [KEY.down, KEY.enter, KEY.escape, 'c']) pty.press(key);
    await pty.shows('Clean what is proven leaked');
    expect(pty.written).toMatch(/^[\u001b\r\n -~]*$/);
  });

  it('a screen reader gets a plain list, and can end a leak', async () => {
    const [leak] = (await leaveBehind(sandbox, server('mcp-server-files'))) as [RawProcess];
    const pty = new Pty(sandbox, { env: { INK_SCREEN_READER: 'true' } });
    await pty.shows(/reaptop: \d+ agents?, \d+ leaks?/);
    pty.press('/files');
    await pty.shows('filter files');
    pty.press(KEY.enter);
    await pty.shows(/Row \d of \d: mcp-server-files, mcp, process \d+, leak/);
    pty.press('x');
    await pty.shows('End: 1 process');
    await pty.confirm();
    await pty.shows('1 ended');
    expect(isRunning(leak.pid, leak.start)).toBe(false);
    expect(pty.alternate).toBe(false);
    expect(pty.text()).not.toMatch(/[│├└▾▌]/);
    pty.press(KEY.escape);
    pty.press('q');
    expect(await pty.exit()).toBe(0);
    expect(pty.cursorShown || !pty.written.includes('\u001b[?25l')).toBe(true);
  });
});

describe('what changes on the machine is seen', () => {
  it('an agent that starts, its server, its heartbeat, its death', async () => {
    const pty = new Pty(sandbox, { args: ['--interval', '30', '--root', sandbox.path('work')] });
    await pty.shows('every 30s');
    const agent = await startAgent(sandbox, { children: [server('mcp-server-files')] });
    // It may have been seen in the moment before it became what it is: then one look more is needed.
    await until('the agent and its server', () => {
      if (pty.text().includes(` ${agent.pid} `) && pty.text().includes('mcp-server-files')) return true;
      pty.press('r');
      return false;
    });

    // A file wakes the screen by itself, however long the interval is.
    mkdirSync(sandbox.path('work/specs/688_zombies'), { recursive: true });
    const written = Date.now();
    writeFileSync(
      sandbox.path('work/specs/688_zombies/.agent-progress.json'),
      JSON.stringify({
        session_id: agent.session,
        task_number: 688,
        last_update: new Date().toISOString(),
        operation: 'checking_diagnostics',
      }),
    );
    await pty.shows('Heartbeats 1');
    // A second is promised; the rest is for a machine that is busy with other tests.
    expect(Date.now() - written).toBeLessThan(5000);
    pty.press(KEY.tab);
    pty.press(KEY.tab);
    await pty.shows(/fine .*checking diagnostics/);
    pty.press(KEY.escape);

    for (const step of ['10', '5', '3', '2', '1', '0.5']) {
      pty.press('-');
      await pty.shows(`every ${step}s`);
    }
    pty.press('-');
    await pty.shows('that is the limit');
    process.kill(agent.pid, 'SIGKILL');
    await pty.shows(/LEAK +\d+ .*mcp-server-files/);
    await pty.hides(new RegExp(` ${agent.pid} .*claude`));
  });

  it('p freezes the view, not the collection; a, s, n, enter and ? do what the table says', async () => {
    const [leak] = (await leaveBehind(sandbox, server('mcp-server-files'))) as [RawProcess];
    const pty = new Pty(sandbox);
    await pty.shows(/warn +leaked: mcp-server-files/);
    pty.press('p');
    await pty.shows('FROZEN');
    process.kill(leak.pid, 'SIGKILL');
    pty.press('n');
    await pty.until('the finding in the footer', () => /warn: .*leaked/.test(pty.footer));
    expect(pty.row(new RegExp(`LEAK +${leak.pid}`))).toBeDefined();
    pty.press('p');
    await pty.hides('FROZEN');
    await pty.hides(new RegExp(`LEAK +${leak.pid}`));

    pty.press('a');
    await pty.shows('all processes', /\d+ of \d+/);
    await pty.select(String(pty.pid));
    pty.press(KEY.enter);
    await pty.shows(/verdict +protected: .*reaptop/);
    pty.press(KEY.enter);
    await pty.hides(/verdict +protected/);
    pty.press(KEY.escape);
    for (const order of ['memory', 'tree', 'cpu', 'newest', 'name', 'pid']) {
      pty.press('s');
      await pty.shows(new RegExp(`by ${order}`, 'i'));
    }
    pty.press('s');
    await pty.hides('by pid');
    pty.press('?');
    await pty.shows('any other key leaves', /end the selected or marked[\s\S]*subtrees \(TERM/);
  });
});
