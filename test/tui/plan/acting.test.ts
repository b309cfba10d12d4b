import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Live } from '../../../src/engine/live-state.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { awaited } from '../../support/until.ts';
import { type Driven, type DriveOptions, drive, standingDemo } from '../drive.ts';

let driven: Driven;
const open = async (columns = 100, rows = 30, options: DriveOptions = {}): Promise<Driven> => {
  driven = await drive(columns, rows, options);
  return driven;
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
/** Who got a signal so far. */
const signalled = (): readonly number[] =>
  driven.demo.system.delivered
    .filter(({ signal }) => signal !== 'SIGSTOP' && signal !== 'SIGCONT') // to hold it still for the other
    .map(({ pid }) => pid);
const lastRow = (): string => driven.terminal.lines().at(-1)!;

describe('the plan comes first', () => {
  test('c shows every pid with its memory, age and reason, and runs nothing', async () => {
    await open();
    await driven.press('clean');
    for (const pid of [3310, 3331, 3402, 3440, 3450, 3460, 3505, 3520, 3533])
      expect(text()).toContain(String(pid));
    expect(text()).toContain('Clean what is proven leaked: 9 processes, 3.0 GiB reclaimable');
    expect(text()).toMatch(/TERM +LEAK +3402 lean-lsp-mcp +153M 19h00m +child of Claude/);
    expect(signalled()).toEqual([]);
  });

  test.each([
    ['enter', '\r'],
    ['Esc', '\u001b'],
    ['c again', 'c'],
    ['n', 'n'],
    ['q', 'q'],
  ])('%s leaves it and nothing happens', async (_, key) => {
    await open();
    await driven.press('clean');
    await driven.type(key);
    expect(text()).not.toContain('Clean what is proven leaked');
    expect(signalled()).toEqual([]);
  });

  test('left with Esc while it is made, it does not come up, and y then runs nothing', async () => {
    const made = awaited();
    await open(100, 30, {
      answering: live => ({
        plan: async request => {
          await made.promise;
          return live.plan(request);
        },
      }),
    });
    await driven.press('clean', 'back');
    made.resolve();
    await driven.type('y');
    expect(text()).not.toContain('Clean what is proven leaked');
    expect(signalled()).toEqual([]);
  });

  test('y runs it: outcomes row by row, then the summary, which stays in the log', async () => {
    await open();
    await driven.press('clean');
    await driven.type('y');
    await driven.terminal.until('8 ended, 1 killed, 3.0 GiB freed');
    expect(text()).toMatch(/killed +LEAK +3460 +lean --worker/);
    expect(text()).toMatch(/ended +LEAK +3402 lean-lsp-mcp/);
    await driven.press('running-leave', 'previous-panel');
    await driven.terminal.until('8 ended, 1 killed, 3.0 GiB freed');
    expect(text()).not.toContain('leaked 3.0G');
  });

  test('a repeated y runs it once', async () => {
    await open();
    await driven.press('clean');
    await driven.type('yyyy');
    await driven.terminal.until('Done');

    expect(signalled().filter(pid => pid === 3402)).toHaveLength(1);
  });

  test('keys typed before the plan is there do not confirm it', async () => {
    await open();
    driven.terminal.type('c');
    driven.terminal.type('y');
    await driven.type('');
    expect(signalled()).toEqual([]);
  });

  test('outcomes arrive while the rest is still waiting', async () => {
    const waiting: (() => void)[] = [];
    await open(100, 30, {
      pace: () => new Promise<void>(go => waiting.push(go)),
      graceMs: 60_000,
    });
    await driven.press('clean');
    await driven.type('y');
    await driven.terminal.until('Working: 0 of 9');
    for (const done of ['Working: 1 of 9', 'Working: 2 of 9']) {
      waiting.shift()?.();
      await driven.terminal.until(done);
    }
    await driven.press('stop');
    expect(lastRow()).toContain('No further signals');
    waiting.shift()?.();
    await driven.terminal.until('2 ended');
  });
});

describe('a plan in which something has changed for the worse', () => {
  test('is shown again with what changed, and y must be pressed again', async () => {
    const asked: Plan[] = [];
    const answering = (live: Live): Partial<Live> => ({
      run: async (plan, request) => {
        asked.push(plan);
        return asked.length === 1
          ? { plan: await live.plan(request), because: '1601 claude was leak and is live now: it is back' }
          : live.run(plan, request);
      },
    });
    await open(100, 30, { answering });
    await driven.press('down', 'end-process');
    await driven.type('yy');
    expect(text()).toContain('Nothing was signalled: since you read this plan, 1601 claude was leak');
    expect(asked).toHaveLength(1);
    await driven.type('y');
    await driven.terminal.until('Done');
    expect(asked).toHaveLength(2);
  });
});

describe('chunks', () => {
  test('jjjx typed at once moves three rows and opens the plan for that row', async () => {
    await open();
    await driven.type('jjjx');
    expect(text()).toContain('End: 5 processes');
    expect(text()).toContain('lean --worker');
    expect(signalled()).toEqual([]);
  });

  test('xy typed at once opens the plan and does not run it', async () => {
    await open();
    await driven.filterTo(3310);
    await driven.press('back');
    await driven.type('xy');
    expect(text()).toContain('End: 2 processes');
    expect(signalled()).toEqual([]);
    await driven.type('y');
    await driven.terminal.until('Done');
    expect(signalled().length).toBeGreaterThan(0);
  });

  test('a pasted xy is no key at all', async () => {
    await open();
    await driven.press('down');
    await driven.type('\u001b[200~xy\u001b[201~');
    expect(text()).not.toContain('End:');
    expect(lastRow()).toContain('Pasted text is not read as keys');
  });
});

describe('protected processes', () => {
  test('a hard-protected one is refused, with the reason', async () => {
    await open();
    await driven.filterTo(4150);
    await driven.press('end-process');
    expect(text()).toMatch(/Refused: 1 process\n +4150 claude daemon: Claude's own supervisor/);
    await driven.type('y');
    expect(signalled()).toEqual([]);
  });

  test('a soft-protected one asks for its pid, and y counts only after that', async () => {
    await open();
    await driven.filterTo(4101);
    await driven.press('end-process');
    expect(text()).toContain('Type its pid, 4101, to confirm');
    await driven.type('y');
    expect(signalled()).toEqual([]);
    expect(lastRow()).toContain('Type 4101 first');
    await driven.type('4101y');
    expect(signalled()).toEqual([]);
    await driven.type('y');
    await driven.terminal.until('Done');
    expect(signalled().length).toBeGreaterThan(0);
  });

  test('a wrong pid can be erased', async () => {
    await open();
    await driven.filterTo(4101);
    await driven.press('end-process');
    await driven.type('42');
    expect(lastRow()).toContain('42 is not 4101; Backspace erases, Esc cancels.');
    await driven.press('plan-erase', 'plan-erase');
    await driven.type('4101');
    expect(text()).toContain('1 process: TERM, KILL after 5 s');
  });
});

describe('the pid prompt', () => {
  beforeEach(async () => {
    await open();
    await driven.filterTo(4101);
    await driven.press('end-process');
  });

  test('offers no y before the pid, and says what Enter would need', async () => {
    expect(lastRow()).not.toContain('y run');
    await driven.type('\r');
    expect(lastRow()).toContain('Type 4101 to confirm, or press Esc to cancel.');
    await driven.type('4101');
    await driven.type('\r');
    expect(lastRow()).toContain('Confirmed. Press y to run, Esc to cancel.');
    expect(signalled()).toEqual([]);
  });

  test('says that another key cancelled it', async () => {
    await driven.type('q');
    expect(lastRow()).toContain('Cancelled; nothing was signalled.');
    expect(text()).not.toContain('Type its pid');
  });
});

describe('what the keys act on', () => {
  test('marked subtrees together, else the selected one', async () => {
    await open();
    await driven.filterTo(3310);
    await driven.press('back', 'mark', 'down', 'mark');
    await driven.press('kill');
    expect(text()).toContain('Kill at once: 5 processes');
    expect(text()).toMatch(/KILL +LEAK +3505/);
  });

  test('n in the plan for zombies ends nothing: it only nudges', async () => {
    await open();
    await driven.press('zombies');
    expect(text()).toMatch(/may end +LEAK +3402/);
    expect(lastRow()).toContain('n nudge only');
    await driven.press('nudge-only');
    expect(text()).toContain('Zombies: nudge 3 parents');
    expect(text()).not.toContain('may end');
    expect(lastRow()).not.toContain('nudge only');
  });

  test('space on a heading marks all below it', async () => {
    await open();
    await driven.filterTo(3310);
    await driven.press('back', 'up', 'mark', 'end-process');
    expect(text()).toContain('End: 5 processes');
  });

  test('x on a heading says what to do instead', async () => {
    await open();
    await driven.filterTo(5330);
    await driven.press('back', 'left', 'left', 'left', 'left', 'end-process');
    expect(lastRow()).toContain('select a process, or mark some with space');
  });

  test('z nudges the parent that owes the wait', async () => {
    await open();
    await driven.press('zombies');
    expect(text()).toMatch(/CHLD +\w+ +1522 lean-lsp-mcp .*has 3 zombie children:\s+lake\s+\(1601\)/);
    await driven.type('y');
    await driven.terminal.until('Done');
    await driven.press('running-leave');
    expect(text()).not.toContain('Z×3');
  });

  test('S chooses a signal, and its plan still waits for y', async () => {
    await open();
    await driven.press('down', 'signal', 'signals-down', 'signals-choose');
    expect(text()).toContain('Signal SIGINT: 1 process');
    expect(signalled()).toEqual([]);
  });

  test('a recorded table is read-only and says so', async () => {
    await open(100, 30, { readOnly: 'A recorded table: nothing here can be signalled.' });
    await driven.press('clean');
    expect(lastRow()).toContain('A recorded table: nothing here can be signalled.');
    expect(text()).toContain('read-only');
  });
});

describe('ending what is at work never looks like ending a leak', () => {
  test('the first line of the plan says LIVE, which session, and when it was last active', async () => {
    const demo = await standingDemo();
    const state = demo.live.getState();
    const session = {
      id: 's',
      project: 'web',
      name: null,
      doing: 'idle' as const,
      waitingFor: null,
      seconds: 40,
    };
    const processes = state.snapshot.processes.map(p =>
      p.kind === 'agent' && p.verdict === 'live' && p.tmux ? { ...p, isSession: true, session } : p,
    );
    const agent = processes.find(p => p.isSession && p.session?.project === 'web' && p.protection === null)!;
    const shown = { ...state, snapshot: { ...state.snapshot, processes } };
    await open(100, 30, { demo, answering: () => ({ getState: () => shown }) });
    await driven.filterTo(agent.facts.pid);
    await driven.press('end-process');
    const said = `LIVE: ends the running ${agent.agent} session web in tmux ${agent.tmux?.session} (last active 40s ago)`;
    expect(driven.terminal.lines()[4]).toContain(said);
    expect(driven.terminal.cells(4)[4]!.foreground).toBe(1);
    expect(text()).toMatch(new RegExp(`TERM +live +${agent.facts.pid} `));
    expect(text()).toContain('KILL after 5 s');
  });

  test('a plan for leaks says nothing of the kind', async () => {
    await open();
    await driven.press('clean');
    expect(text()).not.toContain('LIVE');
  });

  test('a plan that would do nothing offers no y, and any key leaves it', async () => {
    const nothing: Plan = { steps: [], refused: [], files: [], bytes: 0 };
    await open(60, 20, { answering: () => ({ plan: async () => nothing }) });
    await driven.press('clean');
    expect(text()).toContain('Nothing would be signalled. Any key leaves.');
    expect(lastRow()).not.toContain('y run');
    await driven.type('y');
    expect(text()).not.toContain('Nothing would be signalled');
    expect(signalled()).toEqual([]);
  });

  test('S shows the memory that a process holds, though the signal gives none back', async () => {
    await open();
    await driven.filterTo(3402);
    await driven.press(
      'signal',
      'signals-down',
      'signals-down',
      'signals-down',
      'signals-down',
      'signals-choose',
    );
    expect(text()).toMatch(/STOP +LEAK +3402 lean-lsp-mcp +153M/);
  });

  test.each([
    [60, 20],
    [40, 10],
  ])('%i×%i: what scrolls says so, and how to go on is there', async (columns, rows) => {
    await open(columns, rows);
    await driven.press('clean');
    expect(text()).toMatch(/\d+ of \d+ ▼/);
    expect(text()).toMatch(/y runs it\.|Press y to run/);
    await driven.press('plan-down');
    expect(text()).toMatch(/\d+ of \d+ ▲▼/);
  });
});
