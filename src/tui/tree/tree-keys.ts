import { type Finding, sameFinding } from '../../model/finding.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import type { Grouping } from '../../model/levels.ts';
import { identityOf, sessionText } from '../../model/snapshot.ts';
import { LEVELS, type Level } from '../../model/ui-settings.ts';
import { waitingIn } from '../keys/bindings.ts';
import type { Action } from '../keys/input.ts';
import { panelLength } from '../panels/panel-entries.ts';
import { rowOptions, type ViewEvent } from '../state.ts';
import type { Store } from '../store.ts';
import type { SortId } from './row-order.ts';
import { foldsAbove, parentIndex, treeRows } from './rows.ts';

export const goTo = (store: Store, index: number): void => {
  const { rows } = store;
  const wanted = Math.max(0, Math.min(rows.length - 1, index));
  // What has ended is left by any move, at the ends of the list too.
  const to = rows[wanted]?.gone && rows.length > 1 ? (wanted === 0 ? 1 : wanted - 1) : wanted;
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
  // A shell above a session has a row only where every process has one.
  if (!folds && view.level !== 3) {
    folds = foldsAbove(snapshot, key, { ...options, filter: '', level: 3 });
    if (folds) store.dispatch({ type: 'level', level: 3 });
  }
  if (!folds) return false;
  store.dispatch({ type: 'fold', keys: folds, folded: false });
  goTo(
    store,
    store.rows.findIndex(row => row.key === key),
  );
  return true;
};

/** The rows that held the selected one when every process had a row, nearest first; then those that it held. */
const kin = ({ view, snapshot }: Store): readonly string[] => {
  const full = treeRows(snapshot, { ...rowOptions(view), level: 3, folded: new Set() });
  const at = full.findIndex(row => row.key === view.selected);
  const keys: string[] = [];
  for (let i = parentIndex(full, at); i >= 0; i = parentIndex(full, i)) keys.push(full[i]!.key);
  const depth = full[at]?.trail.length ?? 0;
  for (let i = at + 1; at >= 0 && i < full.length && full[i]!.trail.length > depth; i += 1)
    keys.push(full[i]!.key);
  return keys;
};

/** The selection stays on what it was on, or on what holds it. */
const changeRows = (store: Store, ...events: readonly ViewEvent[]): void => {
  const { selected } = store.view;
  const near = [selected, ...kin(store)];
  for (const event of events) store.dispatch(event);
  const places = new Map(store.rows.map((row, i) => [row.key, i]));
  const to = near.find(key => key !== null && places.has(key));
  if (to != null) goTo(store, places.get(to)!);
};

const LEVEL_WORDS = {
  1: 'One row per session.',
  2: 'Sessions with their servers, shells and builds.',
  3: 'Every process.',
} satisfies Record<Level, string>;

const setLevel = (store: Store, level: Level): void => {
  const again = store.view.level === level && store.view.grouping !== 'flat';
  changeRows(
    store,
    { type: 'leave-list' },
    ...(store.view.grouping === 'flat' && store.view.listedFrom === null
      ? [{ type: 'next-grouping' } as const]
      : []),
    { type: 'level', level },
    ...(again ? [{ type: 'unfold-own' } as const] : []),
  );
  store.notice(LEVEL_WORDS[level], 'plain');
};

/** Goes round the sessions that wait, from the one selected now. */
export const nextWaiting = (store: Store): void => {
  const waiting = waitingIn(store.snapshot);
  const at = waiting.findIndex(p => keyOf(p.facts) === store.view.selected);
  const next = waiting[(at + 1) % waiting.length];
  if (next === undefined) return;
  reveal(store, identityOf(next));
  if (next.session) store.notice(sessionText(next.session), 'plain');
};

/** Where `n` stops: who waits for the user, then the findings that concern a process. */
interface Stop {
  readonly finding: Finding | null;
  readonly identity: Identity;
  readonly text: string;
}

const stopsIn = ({ snapshot }: Store): readonly Stop[] => [
  ...waitingIn(snapshot).map(p => ({
    finding: null,
    identity: identityOf(p),
    text: p.session ? sessionText(p.session) : p.name,
  })),
  ...snapshot.findings.flatMap(finding => {
    const [first] = finding.processes;
    if (first === undefined) return [];
    return [{ finding, identity: first, text: `${finding.severity}: ${finding.title}` }];
  }),
];

/** Goes round the stops, from the one selected now. */
const stepFinding = (store: Store, by: 1 | -1): void => {
  const { snapshot, view } = store;
  const stops = stopsIn(store);
  if (stops.length === 0) {
    store.notice('The findings concern files only: tab shows them.');
    return;
  }
  const isHere = ({ finding, identity }: Stop): boolean =>
    finding === null
      ? keyOf(identity) === view.selected
      : finding.processes.some(i => keyOf(i) === view.selected);
  // A process may have two findings: the one we came for, or that under the panel's cursor; else it would start over each time.
  const cameFor =
    view.focus === 'findings'
      ? snapshot.findings[view.panelCursor]
      : view.steppedTo && sameFinding(view.steppedTo, snapshot.findings);
  const here = stops.filter(isHere);
  const now = here.find(stop => stop.finding !== null && stop.finding === cameFor) ?? here[0];
  const at = now === undefined ? -1 : stops.indexOf(now);
  const next = at < 0 ? (by > 0 ? 0 : stops.length - 1) : (at + by + stops.length) % stops.length;
  const { finding, identity, text } = stops[next]!;
  if (!reveal(store, identity)) {
    store.notice('That process is gone, or hidden: a shows all.');
    return;
  }
  store.dispatch({ type: 'stepped', to: finding });
  if (finding !== null && view.panel === 'findings')
    store.dispatch({ type: 'panel-cursor', cursor: snapshot.findings.indexOf(finding) });
  store.notice(text, finding === null ? 'plain' : 'warn');
};

/** On a heading: every top-level process of the group, folded away or not. */
const underHeading = ({ view, snapshot }: Store): readonly string[] => {
  const folded = new Set([...view.folded].filter(key => key !== view.selected));
  const opened = new Set(view.selected === null ? view.opened : [...view.opened, view.selected]);
  const rows = treeRows(snapshot, { ...rowOptions(view), folded, opened });
  const heading = rows.findIndex(row => row.key === view.selected);
  const keys: string[] = [];
  for (let i = heading + 1; heading >= 0 && i < rows.length && rows[i]!.trail !== ''; i += 1)
    if (rows[i]!.trail.length === 1) keys.push(rows[i]!.key);
  return keys;
};

const GROUPED = {
  tmux: 'By tmux session.',
  project: 'By project.',
  flat: 'One flat list.',
} satisfies Record<Grouping, string>;

/** The flat list from its top: what was asked for is the first row. */
export const list = (store: Store, sort: SortId): void => {
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
  'level-1': store => setLevel(store, 1),
  'level-2': store => setLevel(store, 2),
  'level-3': store => setLevel(store, 3),
  'level-up': store => setLevel(store, LEVELS[LEVELS.indexOf(store.view.level) - 1] ?? 1),
  'level-down': store => setLevel(store, LEVELS[LEVELS.indexOf(store.view.level) + 1] ?? 3),
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
  tree: store => setLevel(store, store.view.level),
  'next-waiting': nextWaiting,
  grouping: store => {
    changeRows(store, { type: 'next-grouping' });
    store.notice(GROUPED[store.view.grouping], 'plain');
  },
  'by-memory': store => list(store, 'memory'),
  'by-cpu': store => list(store, 'cpu'),
  'by-age': store => list(store, 'start'),
  'next-finding': store => stepFinding(store, 1),
  'previous-finding': store => stepFinding(store, -1),
} satisfies Record<string, Action>;
