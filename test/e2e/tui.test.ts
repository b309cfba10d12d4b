import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shellLine } from '../../src/model/shell.ts';
import { program } from '../act/stage.ts';
import { startAgent } from '../support/agent.ts';
import { auditLines } from '../support/audit.ts';
import { REAPTOP } from '../support/cli.ts';
import { leaveBehind, stubborn } from '../support/leftovers.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const server = (name: string): string => `${sandbox.sleeper(name)} 600`;
const gone = (...processes: RawProcess[]): Promise<unknown> =>
  until('them to end', () => processes.every(p => !isRunning(p.pid, p.start)));
const alive = (...processes: RawProcess[]): boolean => processes.every(p => isRunning(p.pid, p.start));

/** The pids that the open plan or its outcomes list. */
const listed = (pty: Pty): number[] =>
  pty
    .lines()
    .flatMap(line => /^ {2}(?:TERM|KILL|CHLD|ended|killed|gone) +\w+ +(\d+) /.exec(line)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
const pids = (...processes: RawProcess[]): number[] => processes.map(p => p.pid).sort((a, b) => a - b);

describe('a person clears what a session left', () => {
  it('see, filter, mark, plan, end, resize, quit: the terminal as it was', async () => {
    const agent = await startAgent(sandbox, { children: [server('mcp-server-live')] });
    const [files, github, java] = (await leaveBehind(
      sandbox,
      server('mcp-server-files'),
      server('mcp-server-hub'),
      server('java'),
    )) as [RawProcess, RawProcess, RawProcess];
    const pty = new Pty(sandbox, {
      command: ['sh', '-c', `${REAPTOP} --interval 0.5; echo "exit $?"; stty -a; sleep 600`],
    });
    await pty.shows('leaked', 'mcp-server-files', 'mcp-server-hub', new RegExp(`LEAK +${files.pid}`));
    expect(pty.alternate).toBe(true);
    expect(pty.cursorShown).toBe(false);

    await pty.select('mcp-server-files');
    pty.press(' ');
    await pty.shows('1 marked');
    pty.press(KEY.escape);
    await pty.hides('/mcp-server-files');
    await pty.select('mcp-server-hub');
    pty.press(' ');
    await pty.shows('2 marked');
    pty.press('x');
    await pty.shows('End: 2 processes');
    expect(listed(pty)).toEqual(pids(files, github));
    expect(alive(files, github)).toBe(true);
    await pty.confirm();
    await pty.shows('2 ended, ');
    await gone(files, github);
    expect(listed(pty)).toEqual(pids(files, github));
    expect(alive(java, agent)).toBe(true);

    pty.press(KEY.enter);
    pty.press(KEY.escape);
    await pty.hides('mcp-server-hub');
    pty.press(KEY.shiftTab);
    await pty.shows(/\d\d:\d\d {2}tui: 2 ended, .* freed: mcp-server/);
    pty.press(KEY.shiftTab);
    pty.press(KEY.shiftTab);
    pty.press(KEY.escape);
    pty.press('g');

    for (const [columns, rows] of [
      [60, 40],
      [200, 50],
      [80, 24],
    ] as const) {
      pty.resize(columns, rows);
      const fresh = new Pty(sandbox, { columns, rows });
      // The first rows hold the machine's memory and load, which change. The log stays what it was.
      const below = (of: Pty): string =>
        of
          .lines()
          .slice(columns < 72 ? 2 : 1)
          .join('\n')
          .replaceAll(/Log \d+/g, 'Log');
      await pty.until(`the screen of a fresh start at ${columns}×${rows}`, () => below(pty) === below(fresh));
      fresh.press('q');
      expect(await fresh.exit()).toBe(0);
    }

    pty.press('q');
    await pty.shows('exit 0', /[^-]icanon/, /[^-]echo /);
    expect(pty.alternate).toBe(false);
    expect(pty.cursorShown).toBe(true);
    expect(pty.terminal.modes.bracketedPasteMode).toBe(false);
    expect(pty.terminal.modes.wraparoundMode).toBe(true);
    expect(auditLines(sandbox)).toMatchObject([
      { event: 'intent', by: 'tui' },
      { event: 'outcome', by: 'tui' },
    ]);
  });

  it('c cleans what is proven, and nothing else', async () => {
    const agent = await startAgent(sandbox, { children: [server('mcp-server-live')] });
    const mine = await leaveBehind(sandbox, server('mcp-server-files'), server('java'));
    const pty = new Pty(sandbox);
    await pty.shows(...mine.map(p => new RegExp(`LEAK +${p.pid}`)));
    // Other tests may run on this machine: their leaks are theirs to end.
    await pty.until('a plan of exactly ours', async () => {
      pty.press('c');
      await pty.shows('Clean what is proven leaked');
      if (String(listed(pty)) === String(pids(...mine))) return true;
      pty.press(KEY.escape);
      await pty.hides('Clean what is proven leaked');
      return false;
    });
    await pty.confirm();
    await pty.shows('2 ended, ');
    await gone(...mine);
    expect(alive(agent)).toBe(true);
    pty.press(KEY.escape);
    for (const { pid } of mine) await pty.hides(new RegExp(`LEAK +${pid} `));
  });

  it('X kills at once what ignores TERM', async () => {
    const [hard] = (await leaveBehind(sandbox, stubborn(sandbox, 'stubborn-mcp'))) as [RawProcess];
    const pty = new Pty(sandbox);
    await pty.shows(new RegExp(`LEAK +${hard.pid}`));
    await pty.select('stubborn-mcp');
    pty.press('X');
    await pty.shows('Kill at once: 2 processes', new RegExp(`KILL +LEAK +${hard.pid} `));
    await pty.confirm();
    await pty.shows(/2 killed/);
    await gone(hard);
  });

  it('S stops and continues the chosen one', async () => {
    const [idle] = (await leaveBehind(sandbox, server('mcp-server-idle'))) as [RawProcess];
    const pty = new Pty(sandbox);
    await pty.shows(new RegExp(`LEAK +${idle.pid}`));
    await pty.select('mcp-server-idle');
    for (const [signal, down, state] of [
      ['SIGSTOP', 4, 'T'],
      ['SIGCONT', 5, 'S'],
    ] as const) {
      pty.press('S');
      await pty.shows('Choose a signal');
      pty.press('j'.repeat(down));
      await pty.shows(new RegExp(`^.[^ ]${signal}`, 'm'));
      pty.press(KEY.enter);
      await pty.shows(`Signal ${signal}: 1 process`);
      await pty.confirm();
      await pty.shows(`${signal} sent to 1`);
      await until(`state ${state}`, () => rawProcess(idle.pid)?.state === state);
      pty.press(KEY.escape);
      await pty.hides(`${signal} sent to 1`);
    }
  });

  it('z nudges the parent that owes the wait', async () => {
    const [go, ready] = [sandbox.path('go'), sandbox.path('ready')];
    const agent = await startAgent(sandbox, {
      children: [shellLine(['perl', program('reaps-on-chld.pl'), go, ready])],
    });
    const parent = await until('the zombies', () =>
      childrenOf(agent.pid).find(p => childrenOf(p.pid).filter(child => child.state === 'Z').length === 3),
    );
    // Only now does it listen: the signals of its children's ends are long gone.
    sandbox.write('go', '');
    await until('it to listen for SIGCHLD', () => existsSync(ready));
    expect(childrenOf(parent.pid)).toHaveLength(3);
    const pty = new Pty(sandbox);
    await pty.shows(/Z×3/);
    pty.press('z');
    await pty.shows('Zombies: nudge perl', /CHLD +\w+ +\d+/);
    await pty.confirm();
    await pty.shows('reaped by its parent after SIGCHLD');
    pty.press(KEY.escape);
    await pty.hides(/Z×3/);
  });
});
