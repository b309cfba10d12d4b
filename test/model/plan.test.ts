import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/model/finding.ts';
import {
  type ActRequest,
  EMPTY_PLAN,
  type Plan,
  planRows,
  rowReason,
  type SignalName,
  type Step,
} from '../../src/model/plan.ts';
import { doesTo, endingSignals, planHeading, planTitle, signalNames } from '../../src/model/plan-text.ts';

const plan = (...signals: readonly SignalName[]): Plan => ({
  ...EMPTY_PLAN,
  steps: signals.map((signal, pid) => ({ pid, signal, rss: 0 }) as Step),
});

test.each([
  ['what ends in peace has its grace', ['SIGTERM', 'SIGTERM'], 'TERM, KILL after 7 s, children first'],
  ['at once', ['SIGKILL'], 'KILL, children first'],
  ['a nudge ends nobody', ['SIGCHLD'], 'CHLD'],
  [
    'a parent that is ended when the nudge did not help',
    ['SIGCHLD', 'SIGTERM'],
    'CHLD first; TERM, KILL after 7 s, children first',
  ],
  ['what is resumed goes on', ['SIGCONT'], 'CONT'],
] as const)('%s', (_, signals, told) => {
  expect(endingSignals(plan(...signals), 7)).toBe(told);
});

test('a chosen signal is told as it is', () => {
  expect(signalNames(plan('SIGTERM', 'SIGTERM').steps)).toBe('TERM');
});

const finding = (action: Finding['action']): Finding => ({ id: 'stopped', action }) as Finding;

test.each<[ActRequest, string, string]>([
  [{ act: 'end', targets: [], force: false }, 'End: 1 process', 'ends'],
  [{ act: 'end', targets: [], force: true }, 'Kill at once: 1 process', 'ends'],
  [{ act: 'clean' }, 'Clean what is proven leaked: 1 process', 'ends'],
  [{ act: 'zombies' }, 'Zombies: 1 process', 'may end'],
  [{ act: 'signal', targets: [], signal: 'SIGSTOP' }, 'Signal SIGSTOP: 1 process', 'sends SIGSTOP to'],
  [{ act: 'fix', finding: finding('continue') }, 'Fix stopped: 1 process', 'sends SIGCONT to'],
  [{ act: 'fix', finding: finding(null) }, 'Fix stopped: 1 process', 'ends'],
])('%j', (request, title, does) => {
  expect(planTitle(request, plan('SIGTERM'))).toBe(title);
  expect(doesTo(request)).toBe(does);
});

test('a plan without a signal counts what else it does', () => {
  const chores = (['end-session', 'claude-stop', 'archive', 'remove'] as const).map(act => ({
    act,
    target: 't',
    why: '',
  }));
  expect(planTitle({ act: 'clean' }, { ...EMPTY_PLAN, otherSteps: chores })).toBe(
    'Clean what is proven leaked: 1 tmux session, 1 background session, 2 files',
  );
});

test('what stands above a plan says whether it happens', () => {
  expect([planHeading(true, false), planHeading(false, true), planHeading(false, false)]).toEqual([
    'Ending',
    'Dry run: would end',
    'Would end',
  ]);
});

test('where a title is too long for its line, the figure stands alone', () => {
  const big = { ...plan('SIGTERM'), bytes: 3 * 1024 ** 3 };
  expect(planTitle({ act: 'clean' }, big)).toMatch(/: 1 process, 3\.0 GiB reclaimable$/);
  expect(planTitle({ act: 'clean' }, big, 56)).toMatch(/: 1 process, 3\.0 GiB$/);
  expect(planTitle({ act: 'clean' }, plan('SIGTERM'), 10)).toMatch(/: 1 process$/);
});

describe('a plan as it is read', () => {
  const step = (pid: number, root: number, more: Partial<Step> = {}): Step => ({
    pid,
    start: `s${pid}`,
    name: `p${pid}`,
    command: `p${pid}`,
    signal: 'SIGTERM',
    rss: 0,
    ageSeconds: null,
    why: pid === root ? `because of ${pid}` : `part of p${root} (${root})`,
    root: { pid: root, start: `s${root}` },
    stopped: false,
    confirm: false,
    ...more,
  });
  const read = (...steps: Step[]) =>
    planRows(steps).map(row => [row.step.pid, row.below, rowReason(row)] as const);

  test('stands tree by tree under its roots, each reason once, though signals go leaves first', () => {
    expect(read(step(12, 10), step(22, 20), step(11, 10), step(10, 10), step(20, 20))).toEqual([
      [10, false, 'because of 10'],
      [11, true, ''],
      [12, true, ''],
      [20, false, 'because of 20'],
      [22, true, ''],
    ]);
  });

  test('has a pid once, though it is nudged first and ended later', () => {
    const nudge = step(10, 10, { signal: 'SIGCHLD', why: 'has 1 zombie child' });
    expect(read(nudge, step(11, 10), step(10, 10, { why: 'only if it stays idle' }))).toEqual([
      [10, false, 'has 1 zombie child; only if it stays idle'],
      [11, true, ''],
    ]);
  });

  test('keeps the reason of a member that has one of its own, and of one whose root is not in it', () => {
    expect(read(step(11, 10, { why: 'once part of p10 (10), reparented since' }), step(10, 10))).toEqual([
      [10, false, 'because of 10'],
      [11, true, 'once part of p10 (10), reparented since'],
    ]);
    expect(read(step(11, 10), step(12, 10))).toEqual([
      [11, false, 'part of p10 (10)'],
      [12, false, 'part of p10 (10)'],
    ]);
  });
});
