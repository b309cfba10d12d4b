import type { Finding } from '../../model/finding.ts';
import type { IdentityKey } from '../../model/identity.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Look } from './look.ts';
import type { CursorPlace } from './panel-entries.ts';
import { GROUPINGS } from './row-groups.ts';
import { SORTS, type SortId } from './row-sort.ts';

import type { Focus, Notice, Overlay, ViewState } from './state.ts';

export type ViewEvent =
  | { readonly type: 'select'; readonly key: string; readonly index: number }
  | {
      readonly type: 'placed';
      readonly selected: string | null;
      readonly index: number;
      readonly top: number;
    }
  | { readonly type: 'fold'; readonly keys: readonly string[]; readonly folded: boolean }
  | { readonly type: 'mark'; readonly keys: readonly IdentityKey[] }
  | { readonly type: 'keep-marks'; readonly living: ReadonlySet<IdentityKey> }
  | { readonly type: 'unmark-all' }
  | { readonly type: 'filter-open' }
  | { readonly type: 'filter'; readonly text: string }
  | { readonly type: 'search-open' }
  | { readonly type: 'search-filter' }
  | { readonly type: 'search'; readonly text: string }
  | { readonly type: 'filter-close'; readonly keep: boolean }
  | { readonly type: 'next-sort' }
  | { readonly type: 'next-grouping' }
  | { readonly type: 'list'; readonly sort: SortId }
  | { readonly type: 'focus'; readonly focus: Focus }
  | { readonly type: 'panel-cursor'; readonly cursor: number }
  | ({ readonly type: 'panel-kept' } & CursorPlace)
  | { readonly type: 'panel-scroll'; readonly to: number }
  | { readonly type: 'stepped'; readonly to: Finding }
  | { readonly type: 'detail'; readonly open: boolean }
  | { readonly type: 'detail-scroll'; readonly to: number }
  | { readonly type: 'overlay'; readonly overlay: Overlay | null }
  | { readonly type: 'overlay-scroll'; readonly to: number }
  | { readonly type: 'freeze'; readonly snapshot: Snapshot | null }
  | { readonly type: 'all'; readonly all: boolean }
  | { readonly type: 'look'; readonly look: Partial<Look> }
  | { readonly type: 'notice'; readonly notice: Notice | null };

const changed = (
  set: ReadonlySet<string>,
  keys: readonly string[],
  present: boolean,
): ReadonlySet<string> => {
  const next = new Set(set);
  for (const key of keys) {
    if (present) next.add(key);
    else next.delete(key);
  }
  return next;
};

/** Marks all of them, or unmarks them when all are marked already. */
const toggled = (set: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> =>
  changed(
    set,
    keys,
    keys.some(key => !set.has(key)),
  );

type Handlers = {
  readonly [T in ViewEvent['type']]: (view: ViewState, event: Extract<ViewEvent, { type: T }>) => ViewState;
};

const HANDLERS: Handlers = {
  select: (view, { key, index }) => ({ ...view, selected: key, selectedIndex: index, detailScroll: 0 }),
  placed: (view, { selected, index, top }) => ({ ...view, selected, selectedIndex: index, top }),
  fold: (view, { keys, folded }) => ({ ...view, folded: changed(view.folded, keys, folded) }),
  mark: (view, { keys }) => ({ ...view, marked: toggled(view.marked, keys) }),
  'keep-marks': (view, { living }) => ({
    ...view,
    marked: new Set([...view.marked].filter(key => living.has(key))),
  }),
  'unmark-all': view => ({ ...view, marked: new Set() }),
  'filter-open': view => ({ ...view, filterOpen: true, focus: 'tree' }),
  filter: (view, { text }) => ({ ...view, filter: text }),
  // What was typed so far is looked for in the other way.
  'search-open': view => ({ ...view, searching: true, search: view.filter, filter: '' }),
  'search-filter': view => ({ ...view, searching: false, search: '', filter: view.search }),
  search: (view, { text }) => ({ ...view, search: text }),
  'filter-close': (view, { keep }) => ({
    ...view,
    filterOpen: false,
    searching: false,
    search: '',
    filter: keep ? view.filter : '',
  }),
  'next-sort': view => ({
    ...view,
    reversed: false,
    sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length]!,
  }),
  'next-grouping': view => ({
    ...view,
    grouping: GROUPINGS[(GROUPINGS.indexOf(view.grouping) + 1) % GROUPINGS.length]!,
  }),
  list: (view, { sort }) => ({
    ...view,
    focus: 'tree',
    grouping: 'flat',
    sort,
    // The same key again turns it round.
    reversed: view.grouping === 'flat' && view.sort === sort && !view.reversed,
  }),
  focus: (view, { focus }) => ({
    ...view,
    focus,
    panel: focus === 'tree' ? view.panel : focus,
    panelCursor: 0,
    panelLost: null,
    panelTop: 0,
  }),
  'panel-kept': (view, { panelCursor, panelLost }) => ({ ...view, panelCursor, panelLost }),
  'panel-scroll': (view, { to }) => ({ ...view, panelTop: Math.max(0, to) }),
  'panel-cursor': (view, { cursor }) => ({ ...view, panelCursor: cursor, panelLost: null }),
  stepped: (view, { to }) => ({ ...view, steppedTo: to }),
  detail: (view, { open }) => ({ ...view, detail: open, detailScroll: 0 }),
  'detail-scroll': (view, { to }) => ({ ...view, detailScroll: Math.max(0, to) }),
  overlay: (view, { overlay }) => ({
    ...view,
    overlay,
    overlayScroll: overlay?.kind === view.overlay?.kind ? view.overlayScroll : 0,
  }),
  'overlay-scroll': (view, { to }) => ({ ...view, overlayScroll: Math.max(0, to) }),
  freeze: (view, { snapshot }) => ({ ...view, frozen: snapshot }),
  all: (view, { all }) => ({ ...view, all }),
  look: (view, { look }) => ({ ...view, look: { ...view.look, ...look } }),
  notice: (view, { notice }) => ({ ...view, notice }),
};

/** The one reducer: every change of what is looked at goes through here. */
export const reduce = (view: ViewState, event: ViewEvent): ViewState =>
  // The table's type guarantees that the handler takes this event; the compiler cannot relate the two unions.
  (HANDLERS[event.type] as (view: ViewState, event: ViewEvent) => ViewState)(view, event);
