import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/model/finding.ts';
import { keyOf } from '../../src/model/identity.ts';
import { findingToFix, type Screen, targetsOf } from '../../src/tui/screen.ts';
import { INITIAL_VIEW, type ViewState } from '../../src/tui/state.ts';
import type { Row } from '../../src/tui/tree/row-order.ts';
import { invent, snapshotOf } from '../judge/plan/machine.ts';
import { screenOf } from './screen.ts';

const identity = (pid: number) => ({ pid, start: `s${pid}` });
const finding = (title: string, pids: readonly number[], action: Finding['action'] = 'end'): Finding => ({
  id: 'leak',
  severity: 'warn',
  title,
  why: '',
  processes: pids.map(identity),
  files: [],
  remedy: '',
  action,
});
/** 20 has 21 below it, which has 22; 30 stands alone. */
const processes = [invent(20, 1), invent(21, 20), invent(22, 21), invent(30, 1)];
const rows = processes.map(
  process => ({ key: keyOf(process.facts), process, gone: false }) as unknown as Row,
);
const screen = (view: Partial<ViewState>, more: object = {}, part: Partial<Screen> = {}): Screen =>
  screenOf({ snapshot: snapshotOf(processes, more), rows, view: { ...INITIAL_VIEW, ...view }, ...part });
const on = (pid: number) => ({ selected: keyOf(identity(pid)), selectedIndex: 0 });
const pids = (of: Screen): readonly number[] => targetsOf(of).map(p => p.facts.pid);

describe('a key that acts is about', () => {
  test('the selected row, wherever it stands', () => {
    expect(pids(screen(on(21)))).toEqual([21]);
  });

  test('nobody, where the selected row has ended, is a heading, or is not there', () => {
    const gone = rows.map(row => ({ ...row, gone: true }) as Row);
    expect(pids(screen(on(21), {}, { rows: gone }))).toEqual([]);
    const headings = rows.map(
      ({ key }) => ({ key, process: null, roots: [], gone: false }) as unknown as Row,
    );
    expect(pids(screen(on(21), {}, { rows: headings }))).toEqual([]);
    expect(pids(screen({ selected: 'none' }))).toEqual([]);
  });

  test('all that one row stands for', () => {
    const left = rows.map(
      ({ key }) => ({ key, process: null, roots: processes, gone: false }) as unknown as Row,
    );
    expect(pids(screen(on(21), {}, { rows: left }))).toEqual([20, 21, 22, 30]);
  });

  test('the marked ones in place of the selected one, each by its identity', () => {
    const marked = new Set([keyOf(identity(20)), keyOf(identity(30)), keyOf({ pid: 22, start: 'another' })]);
    expect(pids(screen({ ...on(21), marked }))).toEqual([20, 30]);
  });

  test('the processes of the finding under the cursor, and neither the marked nor the selected', () => {
    const findings = [finding('a', [30]), finding('b', [21, 22])];
    const marked = new Set([keyOf(identity(20))]);
    const view = { ...on(20), marked, focus: 'findings' as const };
    expect(pids(screen({ ...view, panelCursor: 0 }, { findings }))).toEqual([30]);
    // 22 is below 21 and goes with it.
    expect(pids(screen({ ...view, panelCursor: 1 }, { findings }))).toEqual([21]);
    expect(pids(screen({ ...view, panelCursor: 2 }, { findings }))).toEqual([]);
    expect(pids(screen({ ...view, panelLost: findings[0]! }, { findings }))).toEqual([]);
  });

  test('the topmost, also with one between that is not meant', () => {
    const findings = [finding('a', [20, 22])];
    expect(pids(screen({ focus: 'findings' }, { findings }))).toEqual([20]);
  });

  test('the agent of the heartbeat under the cursor, if it has one', () => {
    const heartbeats = [{ agent: identity(30) }, { agent: null }];
    const view = { ...on(20), focus: 'heartbeats' as const };
    expect(pids(screen(view, { heartbeats }))).toEqual([30]);
    expect(pids(screen({ ...view, panelCursor: 1 }, { heartbeats }))).toEqual([]);
    expect(pids(screen({ ...view, focus: 'log' }, { heartbeats }))).toEqual([]);
  });
});

describe('f is about', () => {
  const findings = [finding('other', [20]), finding('told', [30, 21], null), finding('mended', [22, 21])];
  const title = (view: Partial<ViewState>, part: Partial<Screen> = {}) =>
    findingToFix(screen(view, { findings }, part))?.title ?? null;

  test('the first finding of the selected row that can be mended, else its first', () => {
    expect(title(on(21))).toBe('mended');
    expect(title(on(30))).toBe('told');
    expect(findingToFix(screen(on(22), { findings: [] }))).toBeNull();
    expect(title({ selected: 'none' })).toBeNull();
  });

  test('the finding under the cursor while the panel has the keys, and no row of the tree', () => {
    expect(title({ ...on(21), focus: 'findings', panelCursor: 1 })).toBe('told');
    expect(title({ ...on(21), focus: 'log' })).toBeNull();
  });
});
