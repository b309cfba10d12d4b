import { describe, expect, test } from 'vitest';
import { EMPTY_PLAN } from '../../../src/model/plan.ts';
import {
  inPane,
  needsDetail,
  needsFinding,
  needsLeak,
  needsMark,
  needsPane,
  needsPast,
  needsProcess,
  needsRemedy,
  needsSteps,
  needsTarget,
  needsTree,
  needsWork,
  needsZombie,
  type Situation,
} from '../../../src/tui/keys/reasons.ts';
import { INITIAL_VIEW } from '../../../src/tui/view/state.ts';
import { planOf } from '../../act/fake-system.ts';
import { invent, snapshotOf } from '../../judge/plan/machine.ts';

const READ_ONLY = 'This is a recorded table.';
const FINDING = { id: 'leak', action: 'clean', remedy: 'c', processes: [], files: [] };
const BUSY = { plan: EMPTY_PLAN, outcomes: [], done: false, summary: null };
const p = invent(10, 1);

/** Everything a key could want is there, except what is said. */
const situation = ({
  view = {},
  state = {},
  ...rest
}: { view?: object; state?: object } & Omit<Partial<Situation>, 'view' | 'state'> = {}): Situation => {
  const empty = snapshotOf([p]);
  const snapshot = { ...empty, totals: { ...empty.totals, leaks: 1, zombies: 1 }, findings: [FINDING] };
  return {
    view: { ...INITIAL_VIEW, ...view },
    state: { snapshot, readOnly: null, running: null, ...state },
    row: null,
    targets: [p],
    finding: FINDING,
    ...rest,
  } as unknown as Situation;
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
  test('may act where there is something to act on', () => expect(why(situation())).toBeNull());

  test('may not where nothing can be signalled, and says why', () =>
    expect(why(situation({ state: { readOnly: READ_ONLY } }))).toBe(READ_ONLY));

  test('may not while a plan runs, and may when it is done', () => {
    expect(why(situation({ state: { running: BUSY } }))).toContain('still running');
    expect(why(situation({ state: { running: { ...BUSY, done: true } } }))).toBeNull();
  });
});

describe('nothing to act on is said, each time for its own reason', () => {
  const row = (gone: boolean) => ({ key: 'k', gone }) as unknown as Situation['row'];
  test.each<[string, () => string | null]>([
    ['Nothing to act on: select', () => needsTarget(situation({ targets: [] }))],
    ['Nothing to act on: select', () => needsTarget(situation({ targets: [], row: row(false) }))],
    ['It has ended', () => needsTarget(situation({ targets: [], row: row(true) }))],
    ['concerns no process', () => needsTarget(situation({ targets: [], view: { focus: 'findings' } }))],
    ['No finding here', () => needsRemedy(situation({ finding: null }))],
    ['Nothing to run', () => needsRemedy(situation({ finding: { ...FINDING, action: null } as never }))],
    ['No process is proven leaked', () => needsLeak(situation({ state: totals(0, 1) }))],
    ['No zombies', () => needsZombie(situation({ state: totals(1, 0) }))],
    ['No findings', () => needsFinding(situation({ state: totals(1, 1) }))],
    ['No findings', () => needsFinding(situation({ view: { frozen: totals(1, 1).snapshot } }))],
    ['Nothing to copy', () => needsProcess(situation({ targets: [] }))],
    ['That is for the tree', () => needsTree(situation({ view: { focus: 'log' } }))],
    ['Nothing is marked', () => needsMark(situation())],
    ['nothing to stop', () => needsWork(situation())],
    ['nothing to stop', () => needsWork(situation({ state: { running: { ...BUSY, done: true } } }))],
    [
      'Nothing would be',
      () => needsSteps(situation({ view: { overlay: { kind: 'plan', plan: EMPTY_PLAN } } })),
    ],
    ['detail pane is closed', () => needsDetail(situation())],
    ['This is now', () => needsPast(situation())],
    ['No tmux server', () => needsPane(situation())],
    [READ_ONLY, () => needsPane(situation({ state: { readOnly: READ_ONLY } }))],
  ])('%s', (said, why) => expect(why()).toContain(said));
});

test('where it is there, nothing speaks against it', () => {
  const overlay = { kind: 'plan', plan: planOf([{ pid: 1, start: 's' }]) };
  const pane = invent(11, 1, { tmux: { pane: '%1' } as never });
  const onPane = situation({ row: { process: pane } as never });
  expect([
    needsFinding(situation()),
    needsProcess(situation()),
    needsTree(situation()),
    needsMark(situation({ view: { marked: new Set(['k']) } })),
    needsWork(situation({ state: { running: BUSY } })),
    needsSteps(situation({ view: { overlay } })),
    needsSteps(situation()),
    needsDetail(situation({ view: { detail: true } })),
    needsPast(situation({ state: { moment: { at: 1 } } })),
    needsPane(onPane),
  ]).toEqual(Array.from({ length: 10 }, () => null));
  // In the tree it is about the row, in a panel about its entry.
  expect(inPane(onPane)).toBe(pane);
  expect(inPane({ ...onPane, view: { ...onPane.view, focus: 'findings' } })).toBe(p);
  expect(inPane(situation({ targets: [] }))).toBeNull();
});
