import { describe, expect, test } from 'vitest';
import { EMPTY_PLAN, type Plan } from '../../../src/model/plan.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import {
  BINDINGS,
  type BindingName,
  inPane,
  type KeyContext,
  needsDetail,
  needsLeak,
  needsMark,
  needsPane,
  needsPast,
  needsProcess,
  needsRemedy,
  needsSteps,
  needsStop,
  needsTarget,
  needsTree,
  needsWork,
  needsZombie,
  waitingIn,
} from '../../../src/tui/keys/bindings.ts';
import { INITIAL_VIEW } from '../../../src/tui/state.ts';
import { planOf } from '../../act/fake-system.ts';
import { invent, snapshotOf } from '../../judge/plan/machine.ts';

const READ_ONLY = 'This is a recorded table.';
const FINDING = { id: 'leak', action: 'clean', remedy: 'c', processes: [], files: [] };
const BUSY = { plan: EMPTY_PLAN, outcomes: [], done: false, summary: null };
const p = invent(10, 1);

/** Everything a key could want is there, except what is said. */
const keyContext = ({
  view = {},
  state = {},
  ...rest
}: { view?: object; state?: object } & Omit<Partial<KeyContext>, 'view' | 'state'> = {}): KeyContext => {
  const empty = snapshotOf([p]);
  const snapshot = { ...empty, totals: { ...empty.totals, leaks: 1, zombies: 1 }, findings: [FINDING] };
  return {
    view: { ...INITIAL_VIEW, ...view },
    state: { snapshot, readOnly: null, running: null, ...state },
    row: null,
    targets: [p],
    finding: FINDING,
    ...rest,
  } as unknown as KeyContext;
};
const unansweredByTmux = {
  ...snapshotOf([p]),
  tmux: [{ socket: '', pid: 5, reachable: false, panes: [] }],
};
const totals = (leaks: number, zombies: number) => ({
  snapshot: { ...snapshotOf([]), totals: { leaks, zombies }, findings: [] },
});

describe.each([
  ['x, X and S', needsTarget],
  ['f', needsRemedy],
  ['c', needsLeak],
  ['z', needsZombie],
])('%s', (_, why) => {
  test('may act where there is something to act on', () => expect(why(keyContext())).toBeNull());

  test('may not where nothing can be signalled, and says why', () =>
    expect(why(keyContext({ state: { readOnly: READ_ONLY } }))).toBe(READ_ONLY));

  test('may not while a plan runs, and may when it is done', () => {
    expect(why(keyContext({ state: { running: BUSY } }))).toContain('still running');
    expect(why(keyContext({ state: { running: { ...BUSY, done: true } } }))).toBeNull();
  });
});

describe('nothing to act on is said, each time for its own reason', () => {
  const row = (gone: boolean) => ({ key: 'k', gone }) as unknown as KeyContext['row'];
  test.each<[string, () => string | null]>([
    ['Nothing to act on: select', () => needsTarget(keyContext({ targets: [] }))],
    ['Nothing to act on: select', () => needsTarget(keyContext({ targets: [], row: row(false) }))],
    ['has ended', () => needsTarget(keyContext({ targets: [], row: row(true) }))],
    ['no process of this entry', () => needsTarget(keyContext({ targets: [], view: { focus: 'findings' } }))],
    ['Nothing to fix on this row', () => needsRemedy(keyContext({ finding: null }))],
    ['Nothing to run', () => needsRemedy(keyContext({ finding: { ...FINDING, action: null } as never }))],
    ['no process is proven leaked', () => needsLeak(keyContext({ state: totals(0, 1) }))],
    ['no zombies', () => needsZombie(keyContext({ state: totals(1, 0) }))],
    ['No findings', () => needsStop(keyContext({ state: totals(1, 1) }))],
    ['No findings', () => needsStop(keyContext({ view: { frozen: totals(1, 1).snapshot } }))],
    ['Nothing to copy', () => needsProcess(keyContext({ targets: [] }))],
    ['This key is for the tree', () => needsTree(keyContext({ view: { focus: 'log' } }))],
    ['Nothing is marked', () => needsMark(keyContext())],
    ['nothing to stop', () => needsWork(keyContext())],
    ['nothing to stop', () => needsWork(keyContext({ state: { running: { ...BUSY, done: true } } }))],
    [
      'Nothing would be',
      () => needsSteps(keyContext({ view: { overlay: { kind: 'plan', plan: EMPTY_PLAN } } })),
    ],
    ['detail pane is closed', () => needsDetail(keyContext())],
    ['Already live', () => needsPast(keyContext())],
    ['not in a tmux pane', () => needsPane(keyContext())],
    ['tmux has not answered yet', () => needsPane(keyContext({ state: { snapshot: unansweredByTmux } }))],
    [READ_ONLY, () => needsPane(keyContext({ state: { readOnly: READ_ONLY } }))],
  ])('%s', (said, why) => expect(why()).toContain(said));
});

test('where it is there, nothing speaks against it', () => {
  const overlay = { kind: 'plan', plan: planOf([{ pid: 1, start: 's' }]) };
  const pane = invent(11, 1, { tmux: { pane: '%1' } as never });
  const onPane = keyContext({ row: { process: pane } as never });
  expect([
    needsStop(keyContext()),
    needsProcess(keyContext()),
    needsTree(keyContext()),
    needsMark(keyContext({ view: { marked: new Set(['k']) } })),
    needsWork(keyContext({ state: { running: BUSY } })),
    needsSteps(keyContext({ view: { overlay } })),
    needsSteps(keyContext()),
    needsDetail(keyContext({ view: { detail: true } })),
    needsPast(keyContext({ state: { moment: { at: 1 } } })),
    needsPane(onPane),
  ]).toEqual(Array.from({ length: 10 }, () => null));
  // In the tree it is about the row, in a panel about its entry.
  expect(inPane(onPane)).toBe(pane);
  expect(inPane({ ...onPane, view: { ...onPane.view, focus: 'findings' } })).toBe(p);
  expect(inPane(keyContext({ targets: [] }))).toBeNull();
});

describe('a key of the table', () => {
  const reason = (name: BindingName, given: Parameters<typeof keyContext>[0] = {}): string | null =>
    BINDINGS.find(binding => binding.name === name)!.disabledReason!(keyContext(given));
  const session = (doing: string) =>
    invent(12, 1, { kind: 'agent', session: { doing } as unknown as JudgedProcess['session'] });
  const onRow = (process: JudgedProcess | null) => ({ finding: null, row: { process } as never });
  const of = (...processes: JudgedProcess[]) => ({ snapshot: snapshotOf(processes) });
  const overlay = (plan: Partial<Plan>) => ({ overlay: { kind: 'plan', plan: { ...EMPTY_PLAN, ...plan } } });
  const nudge = planOf([{ pid: 5, start: 's', signal: 'SIGCHLD' }]);
  const end = planOf([{ pid: 5, start: 's' }]);

  test('w goes to a session that waits, also on a frozen screen, and n stops there', () => {
    const none = 'No session waits for you.';
    expect(reason('next-waiting', { state: of(session('busy'), p) })).toBe(none);
    expect(reason('next-waiting', { state: of(p, session('waiting')) })).toBeNull();
    const frozen = { view: { frozen: of(session('waiting')).snapshot }, state: of(p) };
    expect(reason('next-waiting', frozen)).toBeNull();
    expect(reason('next-waiting', { view: { frozen: of(p).snapshot }, state: of(session('waiting')) })).toBe(
      none,
    );
    expect(needsStop(keyContext({ state: of(session('waiting')) }))).toBeNull();
    expect(waitingIn(snapshotOf([p, session('waiting'), session('idle')])).map(one => one.facts.pid)).toEqual(
      [12],
    );
  });

  test('f puts an idle session to sleep from the tree, not from a panel and not a busy one', () => {
    expect(reason('fix', onRow(session('idle')))).toBeNull();
    for (const given of [
      onRow(session('busy')),
      onRow(null),
      onRow({ ...session('idle'), isSession: false }),
      { ...onRow(session('idle')), view: { focus: 'findings' } },
    ])
      expect(reason('fix', given)).toContain('Nothing to fix on this row');
  });

  test('A needs a finding, in the log none, in the past it cannot', () => {
    expect(reason('acknowledge')).toBeNull();
    expect(reason('acknowledge', { finding: null })).toContain('No finding on this row');
    expect(reason('acknowledge', { finding: null, view: { focus: 'log' } })).toBeNull();
    expect(reason('acknowledge', { state: { moment: { at: 1 }, readOnly: READ_ONLY } })).toBe(READ_ONLY);
  });

  test('Y works in the heartbeats, which have files', () => {
    expect(reason('copy', { targets: [], view: { focus: 'heartbeats' } })).toBeNull();
  });

  test('n in a plan for zombies nudges only, where something would be ended', () => {
    const would = (plan: Partial<Plan>): boolean => reason('nudge-only', { view: overlay(plan) }) === null;
    expect(would({ ...end, how: 'zombies' })).toBe(true);
    expect(would({ steps: [...nudge.steps, ...end.steps], how: 'zombies' })).toBe(true);
    expect(would({ ...nudge, how: 'zombies' })).toBe(false);
    expect(would({ ...end, how: 'signal' })).toBe(false);
    expect(reason('nudge-only')).toBe('Nothing would be ended here.');
    expect(reason('nudge-only', { view: { overlay: { kind: 'running' } } })).toBe(
      'Nothing would be ended here.',
    );
  });

  test('tab in a plan needs another way', () => {
    const only = 'There is only one way to do this.';
    expect(reason('plan-other-way', { view: overlay({}) })).toBe(only);
    expect(reason('plan-other-way', { view: overlay({ otherWay: 'sleep' }) })).toBeNull();
    expect(reason('plan-other-way', { view: { overlay: null } })).toBeNull();
    expect(reason('plan-other-way', { view: { overlay: { kind: 'running' } } })).toBeNull();
  });
});
