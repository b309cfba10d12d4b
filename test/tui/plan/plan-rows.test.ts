import { describe, expect, test } from 'vitest';
import type { RunningPlan } from '../../../src/engine/live-state.ts';
import type { ActRequest, OtherOutcome, Outcome, Plan, Step } from '../../../src/model/plan.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { columnNames, planContent, runningContent, withExtras } from '../../../src/tui/plan/plan-rows.ts';
import type { Runs } from '../../../src/tui/ui/runs.ts';
import { planOf } from '../../act/fake-system.ts';
import { id, invent, snapshotOf } from '../../judge/plan/machine.ts';
import { screenOf } from '../screen.ts';

const text = (line: Runs): string => line.map(run => run.text).join('');
/** The words of a row that have a meaning of their own: `bad: KILL`. */
const tones = (line: Runs): string[] =>
  line
    .filter(run => run.tone !== 'plain' && run.text.trim() !== '')
    .map(run => `${run.tone}: ${run.text.trim()}`);

const step = (pid: number, part: Partial<Step> = {}) => ({ ...id(pid), ...part });
const machine = snapshotOf([
  invent(10, 1, { verdict: 'leak', facts: { rss: 300 * 1024 ** 2 } }),
  invent(11, 10, { verdict: 'leak' }),
  invent(12, 1, { verdict: 'suspect' }),
  invent(13, 1, { verdict: 'live' }),
]);
const rowsOf = (
  plan: Plan,
  {
    columns = 100,
    snapshot = machine,
    request = { act: 'clean' } as ActRequest,
    changed,
  }: { columns?: number; snapshot?: Snapshot; request?: ActRequest; changed?: string } = {},
): readonly Runs[] => {
  const screen = screenOf({ snapshot }, columns);
  const question = { kind: 'plan', openedIn: 0, typed: '', confirmed: [] } as const;
  return planContent({ ...question, plan, request, ...(changed === undefined ? {} : { changed }) }, screen);
};
const shown = (...given: Parameters<typeof rowsOf>): string[] =>
  rowsOf(...given).map(line => text(line).trimEnd());

describe('a step of a plan', () => {
  test.each([
    [96, '  TERM     LEAK      10 p10                        100B  1h23m  it is left'],
    [95, '  TERM     LEAK      10 p10                                                         100B  1h23m'],
    [60, '  TERM     LEAK      10 p10                      100B  1h23m'],
    [43, '  TERM     LEAK      10 p10     100B  1h23m'],
    [42, '  TERM     LEAK      10 p10           100B'],
  ])('has its columns at %s columns, and the reason beside it or below', (columns, first) => {
    const rows = shown(planOf([step(10, { why: 'it is left' })]), { columns });
    expect(rows[0]).toBe(first);
    expect(rows.slice(1)).toEqual(columns >= 96 ? [] : ['           it is left']);
  });

  test('under the names of its columns', () => {
    const names = (columns: number): string => text(columnNames(screenOf({}, columns), 'SIGNAL')).trimEnd();
    expect(names(96)).toBe('  SIGNAL            PID NAME                        MEM    AGE  WHY');
    expect(names(95)).toBe(`  SIGNAL            PID NAME${' '.repeat(57)}MEM    AGE`);
    expect(names(42)).toBe('  SIGNAL            PID NAME           MEM');
  });

  test('says its reason once for neighbours with the same one', () => {
    const plan = planOf([
      step(12, { why: 'ended twice', root: id(12) }),
      step(11, { why: 'ended twice', root: id(11) }),
      step(10, { why: 'another', root: id(10) }),
    ]);
    expect(shown(plan, { columns: 60 }).map(row => row.trim().split(/ {2,}/)[0])).toEqual([
      'TERM',
      'ended twice',
      'TERM',
      'TERM',
      'another',
    ]);
    expect(shown(plan, { columns: 100 }).filter(row => row.endsWith('ended twice'))).toHaveLength(2);
  });

  test('without a reason has one row', () => {
    expect(shown(planOf([step(10, { why: '' })]), { columns: 60 })).toHaveLength(1);
  });

  test('below its root stands indented under it', () => {
    const plan = planOf([step(11, { why: 'part of p10 (10)' }), step(10)], id(10));
    expect(shown(plan).map(row => row.slice(24, 34))).toEqual(['p10       ', '  p11     ']);
  });

  test('goes on to its condition’s end, and a reason is cut', () => {
    const long = (what: string): string => `${what} ${'word '.repeat(20)}end`;
    const rows = (part: Partial<Step>): string[] => shown(planOf([step(10, part)]));
    expect(rows({ why: long('it is left') })).toHaveLength(1);
    for (const part of [
      { why: long('only if it stays') },
      { why: long('nudged'), signal: 'SIGCHLD' },
      { why: long('kept'), confirm: true },
    ] as const) {
      const all = rows(part);
      expect(all.length).toBeGreaterThan(1);
      expect(all.at(-1)).toMatch(/^ {64,}.*end$/);
      for (const row of all) expect(row.length).toBeLessThanOrEqual(100);
    }
  });

  test('that is protected says so, in colour, until it runs', () => {
    const plan = planOf([step(10, { confirm: true, why: 'run by VS Code' })]);
    const [line] = rowsOf(plan);
    expect(tones(line!)).toContain('warn: protected: run by VS Code');
    const running = { plan, outcomes: [] } as unknown as RunningPlan;
    expect(text(runningContent(running, screenOf({ snapshot: machine }, 100))[0]!)).toContain(
      '  run by VS Code',
    );
  });

  test.each([
    ['SIGTERM', undefined, 'TERM'],
    ['SIGKILL', undefined, 'KILL'],
    ['SIGTERM', 'only if it stays', 'may end'],
  ] as const)('with %s says what will happen (%s)', (signal, why, word) => {
    const [line] = rowsOf(planOf([step(10, { signal, ...(why === undefined ? {} : { why }) })]));
    expect(text(line!)).toMatch(new RegExp(`^  ${word} `));
    expect(tones(line!).some(tone => tone === `bad: ${word}`)).toBe(signal === 'SIGKILL');
  });

  test('is no certain end where a nudge comes first', () => {
    const rows = shown(
      planOf([step(10, { signal: 'SIGCHLD', why: 'owes a wait' }), step(10, { why: 'a server' })]),
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatch(/^ {2}may end .* owes a wait; a server$/);
  });

  test('has the verdict of who it was when the plan was made, else of who it is now', () => {
    const verdict = (part: Partial<Step>): string => text(rowsOf(planOf([step(12, part)]))[0]!).slice(11, 16);
    const subject = { kind: 'other', agent: null, session: null, cwd: null, verdict: 'live' } as const;
    expect(verdict({ subject })).toBe('live ');
    expect(verdict({})).toBe('susp ');
    expect(verdict({ start: 'another' })).toBe('     ');
    expect(tones(rowsOf(planOf([step(12)]))[0]!)).toContain('suspect: susp');
  });

  test('counts what it gives back, else what it holds', () => {
    const memory = (part: Partial<Step>): string =>
      text(rowsOf(planOf([step(10, part)]))[0]!)
        .slice(50, 55)
        .trim();
    expect(memory({ rss: 5000 })).toBe('4.9K');
    expect(memory({ rss: 0 })).toBe('300M');
    expect(memory({ rss: 0, start: 'gone' })).toBe('0');
  });
});

describe('the rest of a plan', () => {
  const other: Plan = {
    ...planOf([]),
    otherSteps: [
      {
        act: 'remove',
        target: '/home/ada/a-long-directory/of/many/parts/.diagnostic-lock',
        why: 'older than 30 s',
      },
      { act: 'claude-stop', target: '1a2b3c4d', why: 'its job' },
      { act: 'end-session', target: 'agent_7', why: 'finished' },
    ],
    refused: [
      { pid: 30, start: 's30', name: 'kept', why: 'it is a service of its own in its cgroup, and is wanted' },
    ],
    leftAlone: [{ what: '/p/live', why: 'its agent runs' }],
    otherWay: 'interrupt',
  };

  test('is files, sessions and commands, another way, what is refused and what is left alone', () => {
    expect(shown(other)).toEqual([
      '  remove   /home/ada/a-long-directory/of/many/parts/.diagnostic-lock',
      '           older than 30 s',
      '  stop     claude stop 1a2b3c4d',
      '           its job',
      '  end tmux agent_7',
      '           finished',
      '',
      expect.stringMatching(/^ {2}tab: /),
      '',
      '  Refused: 1 process',
      '                30 kept: it is a service of its own in its cgroup, and is wanted',
      '',
      '  Left alone:',
      '           /p/live: its agent runs',
    ]);
  });

  test('goes on below where it is narrow, and nothing is cut', () => {
    expect(shown(other, { columns: 40 }).slice(0, 12)).toEqual([
      '  remove   /home/ada/a-long-directory/of',
      '           /many/parts/.diagnostic-lock',
      '           older than 30 s',
      '  stop     claude stop 1a2b3c4d',
      '           its job',
      '  end tmux agent_7',
      '           finished',
      '',
      expect.stringMatching(/^ {2}tab: /),
      '',
      '  Refused: 1 process',
      '                30 kept: it is a',
    ]);
    expect(shown(other, { columns: 40 })[12]).toMatch(/^ {19}\S/);
  });

  test('is nothing where there is nothing more', () => {
    expect(shown(planOf([]))).toEqual([]);
  });

  test('begins with what changed, and what it would do to live work, in colour', () => {
    const rows = rowsOf(planOf([step(13)]), {
      request: { act: 'end', targets: [id(13)], force: false },
      changed: 'p13 (13) is live now',
    });
    expect(tones(rows[0]!)[0]).toMatch(/^bad: .*p13/);
    expect(text(rows[1]!)).toBe('');
    expect(tones(rows[2]!)).toEqual([
      'warn: Nothing was signalled: since you read this plan, p13 (13) is live now',
    ]);
    expect(text(rows[3]!)).toBe('');
  });

  test('wraps what it begins with', () => {
    const rows = shown(planOf([]), { columns: 30, changed: 'p13 (13) is live now' });
    expect(rows).toEqual([
      '  Nothing was signalled:',
      '  since you read this plan,',
      '  p13 (13) is live now',
      '',
    ]);
  });
});

describe('a plan that runs', () => {
  const outcome = (pid: number, part: Partial<Outcome> = {}): Outcome => ({
    ...id(pid),
    name: `p${pid}`,
    outcome: 'ended',
    why: 'ended by SIGTERM',
    freed: 100,
    ...part,
  });
  const running = (
    plan: Plan,
    outcomes: Outcome[],
    otherOutcomes?: OtherOutcome[],
    columns = 100,
  ): readonly Runs[] =>
    runningContent(
      { plan, outcomes, otherOutcomes } as unknown as RunningPlan,
      screenOf({ snapshot: machine }, columns),
    );

  test('says of each process what became of it, and nothing of those it waits for', () => {
    const plan = planOf([step(10, { root: id(10) }), step(12, { root: id(12) })]);
    const rows = running(plan, [outcome(10)], undefined, 60).map(line => text(line).trimEnd());
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/^ {2}ended {4}LEAK +10 p10/);
    expect(rows[1]).toBe('           ended by SIGTERM');
    expect(rows[2]).toMatch(/^ {11}susp +12 p12/);
  });

  test('calls a nudge a nudge while it has no outcome', () => {
    const [line] = running(planOf([step(10, { signal: 'SIGCHLD' })]), []);
    expect(text(line!)).toMatch(/^ {2}nudge /);
    expect(tones(line!)).toContain('faint: nudge');
  });

  test('lists whom no step named, as what became of them', () => {
    const plan = planOf([step(10)]);
    const all = withExtras(plan, [
      outcome(10),
      outcome(77, { name: 'born meanwhile', freed: 7 }),
      outcome(10, { start: 'x' }),
    ]);
    expect(all.steps.slice(1)).toEqual([
      expect.objectContaining({
        pid: 77,
        name: 'born meanwhile',
        signal: 'SIGTERM',
        rss: 7,
        stopped: false,
        confirm: false,
        ageSeconds: null,
      }),
      expect.objectContaining({ pid: 10, start: 'x' }),
    ]);
  });

  test('says what became of files and sessions, each of its own', () => {
    const remove = { act: 'remove', target: '/p/lock', why: 'old' } as const;
    const end = { act: 'end-session', target: '/p/lock', why: 'finished' } as const;
    const plan: Plan = { ...planOf([]), otherSteps: [remove, end, { ...remove, target: '/p/other' }] };
    const rows = running(
      plan,
      [],
      [
        { ...end, outcome: 'failed', why: 'no server' },
        { ...remove, outcome: 'done', why: 'removed' },
      ],
    );
    expect(rows.map(line => text(line).trimEnd())).toEqual([
      '  done     /p/lock',
      '           removed',
      '  failed   /p/lock',
      '           no server',
      '           /p/other',
      '           old',
    ]);
    expect(tones(rows[2]!)[0]).toBe('bad: failed');
    expect(running(plan, []).map(line => text(line).trimEnd())[0]).toBe('           /p/lock');
  });
});
