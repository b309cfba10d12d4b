import { type Finding, sameFinding } from '../../model/finding.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import type { Grouping } from '../../model/overview.ts';
import { identityOf } from '../../model/snapshot.ts';
import type { Action } from '../keys/input.ts';
import { panelLength } from '../panels/panel.tsx';
import { rowOptions } from '../state.ts';
import type { Store } from '../store.ts';
import type { SortId } from './row-order.ts';
import { foldsAbove, parentIndex, treeRows } from './rows.ts';

export const goTo = (store: Store, index: number): void => {
  const { rows } = store;
  const to = Math.max(0, Math.min(rows.length - 1, index));
  const row = rows[to];
  if (row) store.dispatch({ type: 'select', key: row.key, index: to });
};

/** Up and down move in whatever has the keys. */
export const moveBy = (store: Store, by: number): void => {
  const { view, screen } = store;
  if (view.focus === 'tree') {
    goTo(store, view.selectedIndex + by);
    return;
  }
  const last = Math.max(0, panelLength(view.focus, screen) - 1);
  // The entry after one that is over stands in its place.
  const from = view.panelLost !== null && by > 0 ? view.panelCursor - 1 : view.panelCursor;
  store.dispatch({ type: 'panel-cursor', cursor: Math.max(0, Math.min(last, from + by)) });
};

const page = (store: Store): number => {
  const { layout, view } = store.screen;
  return Math.max(
    1,
    (view.focus === 'tree' ? layout.treeRows || layout.detailRows : layout.panelRows || layout.treeRows) - 1,
  );
};

const FAR = Number.MAX_SAFE_INTEGER;

/** Selects the row of a process, unfolding and unfiltering as needed. */
export const reveal = (store: Store, identity: Identity): boolean => {
  const key = keyOf(identity);
  const { view, snapshot } = store;
  const options = rowOptions(view);
  let folds = foldsAbove(snapshot, key, options);
  if (!folds && view.filter !== '') {
    store.dispatch({ type: 'filter-close', keep: false });
    folds = foldsAbove(snapshot, key, { ...options, filter: '' });
  }
  if (!folds) return false;
  store.dispatch({ type: 'fold', keys: folds, folded: false });
  goTo(
    store,
    store.rows.findIndex(row => row.key === key),
  );
  return true;
};

/** Goes round the findings that concern a process, from the one selected now. */
const stepFinding = (store: Store, by: 1 | -1): void => {
  const { snapshot, view } = store;
  const findings = snapshot.findings.filter(f => f.processes.length > 0);
  if (findings.length === 0) {
    store.notice('The findings concern files only: tab shows them.');
    return;
  }
  const isHere = (f: Finding | null | undefined): f is Finding =>
    f?.processes.some(i => keyOf(i) === view.selected) === true;
  // A process may have two findings: the one we came for, or that under the panel's cursor; else it would start over each time.
  const cameFor =
    view.focus === 'findings'
      ? snapshot.findings[view.panelCursor]
      : view.steppedTo && sameFinding(view.steppedTo, findings);
  const at = isHere(cameFor) ? findings.indexOf(cameFor) : findings.findIndex(isHere);
  const next = at < 0 ? (by > 0 ? 0 : findings.length - 1) : (at + by + findings.length) % findings.length;
  const finding = findings[next]!;
  if (reveal(store, finding.processes[0]!)) {
    store.dispatch({ type: 'stepped', to: finding });
    if (view.panel === 'findings')
      store.dispatch({ type: 'panel-cursor', cursor: snapshot.findings.indexOf(finding) });
    store.notice(`${finding.severity}: ${finding.title}`);
  } else store.notice('That process is gone, or hidden: a shows all.');
};

/** On a heading: every top-level process of the group, folded away or not. */
const underHeading = ({ view, snapshot }: Store): readonly string[] => {
  const folded = new Set([...view.folded].filter(key => key !== view.selected));
  const rows = treeRows(snapshot, { ...rowOptions(view), folded });
  const heading = rows.findIndex(row => row.key === view.selected);
  const keys: string[] = [];
  for (let i = heading + 1; heading >= 0 && i < rows.length && rows[i]!.process; i += 1)
    if (rows[i]!.trail.length === 1) keys.push(rows[i]!.key);
  return keys;
};

const GROUPED = {
  tmux: 'By tmux session.',
  project: 'By project.',
  flat: 'One flat list.',
} satisfies Record<Grouping, string>;

/** The flat list from its top: what was asked for is the first row. */
const list = (store: Store, sort: SortId): void => {
  store.dispatch({ type: 'list', sort });
  goTo(store, 0);
};

/** Moving, folding, marking and ordering. */
export const TREE_KEYS = {
  up: store => moveBy(store, -1),
  down: store => moveBy(store, 1),
  'page-up': store => moveBy(store, -page(store)),
  'page-down': store => moveBy(store, page(store)),
  home: store => moveBy(store, -FAR),
  end: store => moveBy(store, FAR),
  left: store => {
    const { rows, view } = store;
    const row = rows[view.selectedIndex];
    if (row?.foldable && !row.folded) return store.dispatch({ type: 'fold', keys: [row.key], folded: true });
    const parent = parentIndex(rows, view.selectedIndex);
    if (parent >= 0) goTo(store, parent);
  },
  right: store => {
    const { rows, view } = store;
    const row = rows[view.selectedIndex];
    if (row?.folded) return store.dispatch({ type: 'fold', keys: [row.key], folded: false });
    if (row?.foldable) goTo(store, view.selectedIndex + 1);
  },
  'fold-all': store => {
    // From the inside out, so that what is hidden by a folded parent is folded as well when it opens.
    const keys = store.rows.filter(row => row.foldable).map(row => row.key);
    store.dispatch({ type: 'fold', keys, folded: true });
  },
  'unfold-all': store => store.dispatch({ type: 'fold', keys: [...store.view.folded], folded: false }),
  mark: store => {
    const { rows, view } = store;
    const row = rows[view.selectedIndex];
    if (!row || row.gone) return;
    const keys = row.process ? [keyOf(identityOf(row.process))] : underHeading(store);
    store.dispatch({ type: 'mark', keys });
    const next = rows[view.selectedIndex + 1];
    if (row.process && next) store.dispatch({ type: 'select', key: next.key, index: view.selectedIndex + 1 });
  },
  'unmark-all': store => store.dispatch({ type: 'unmark-all' }),
  sort: store => store.dispatch({ type: 'next-sort' }),
  grouping: store => {
    store.dispatch({ type: 'next-grouping' });
    store.notice(GROUPED[store.view.grouping], 'plain');
  },
  'by-memory': store => list(store, 'memory'),
  'by-cpu': store => list(store, 'cpu'),
  'by-age': store => list(store, 'start'),
  'next-finding': store => stepFinding(store, 1),
  'previous-finding': store => stepFinding(store, -1),
} satisfies Record<string, Action>;
