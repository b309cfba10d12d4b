import { expect, test } from 'vitest';
import type { ActRequest } from '../../src/model/act-request.ts';
import type { Finding } from '../../src/model/finding.ts';
import type { Plan, SignalName, Step } from '../../src/model/plan.ts';
import { EMPTY_PLAN } from '../../src/model/plan.ts';
import { endingSignals, planHeading, signalNames } from '../../src/words/plan.ts';
import { doesTo, planTitle } from '../../src/words/request.ts';

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
  expect(planTitle({ act: 'clean' }, { ...EMPTY_PLAN, chores })).toBe(
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
