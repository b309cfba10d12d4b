import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { leaveBehind } from '../support/leftovers.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { cellOf, readBy, SGR } from '../tui/mouse-hand.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const alive = (p: RawProcess): boolean => isRunning(p.pid, p.start);

it('by the mouse alone: select a leak, end it with one click on the word, export and quit; the terminal is given back', async () => {
  const [leak] = (await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`)) as [RawProcess];
  const pty = new Pty(sandbox);
  await pty.shows(new RegExp(`LEAK +${leak.pid}`));
  expect(pty.written).toContain('\u001b[?1000h\u001b[?1006h');
  pty.press(SGR.click(cellOf(pty.lines(), `${leak.pid} `)));
  await pty.shows(new RegExp(`^│?▌ LEAK +${leak.pid}`, 'm'));
  // A double click on the word that opens the plan opens it, and no more.
  const end = SGR.click(cellOf(pty.lines(), 'end  '));
  pty.press(end + end);
  await pty.shows('End: 1 process', 'Press y to run');
  expect(alive(leak)).toBe(true);
  await pty.until('the plan to be read', readBy());
  const run = SGR.click(cellOf(pty.lines(), /run\.$/));
  pty.press(run);
  // On a busy machine the plan may have been painted later than it was made: then the click is too early.
  await until('it to end', () => {
    if (pty.text().includes('Too early')) pty.press(run);
    return !alive(leak);
  });
  await pty.shows('1 ended');
  pty.press(KEY.escape);
  await pty.hides('1 ended');
  pty.press('e');
  await pty.shows('t text');
  pty.press('t');
  await pty.shows('Written: ');
  const [name] = readdirSync(sandbox.path('work')).filter(one => one.startsWith('reaptop-'));
  expect(readFileSync(`${sandbox.path('work')}/${name}`, 'utf8')).toMatch(/^ reaptop /);
  pty.press('q');
  expect(await pty.exit()).toBe(0);
  expect(pty.written.slice(-200)).toContain('\u001b[?1006l\u001b[?1000l');
});

it('a program of the user is told of a critical finding once, however often the screen looks', async () => {
  const told = sandbox.path('told');
  const config = sandbox.write(
    'alerts.json',
    JSON.stringify({
      alerts: { command: ['sh', '-c', 'cat >> "$0"', told] },
      thresholds: { leak: { criticalBytes: 1 } },
    }),
  );
  await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`);
  const pty = new Pty(sandbox, { args: ['--interval', '0.3', '--bell', '--no-mouse', '--config', config] });
  await pty.shows('LEAK');
  await until('it to be told', () => existsSync(told) && readFileSync(told, 'utf8').includes('\n'));
  await pty.until('the bell', () => pty.written.includes('\u0007'));
  expect(pty.written).not.toContain('\u001b[?1000h');
  // Some more looks.
  const rows = pty.written.length;
  pty.press('r');
  await pty.until('another look', () => pty.written.length > rows);
  const findings = readFileSync(told, 'utf8').trim().split('\n');
  expect(findings.filter(line => JSON.parse(line).id === 'leak')).toHaveLength(1);
  pty.press('q');
  expect(await pty.exit()).toBe(0);
});
