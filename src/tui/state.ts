import type { LogLine } from '../engine/live-state.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import type { Finding } from '../model/finding.ts';
import type { Heartbeat } from '../model/heartbeat.ts';
import type { IdentityKey } from '../model/identity.ts';
import { GROUPINGS, type Grouping, KERNEL } from '../model/levels.ts';
import type { ActRequest, Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Level } from '../model/ui-settings.ts';
import { type RowOptions, SORTS, type SortId } from './tree/row-order.ts';
import { type Look, lookOf, type ThemeTone } from './ui/theme.ts';

/**
 * What is looked at. Ink has no state of its own and React would scatter it over components, where a key could not
 * see it: the keys, the components and the tests share this one, and one reducer changes it.
 */

export const PANELS = ['findings', 'heartbeats', 'asleep', 'log'] as const;
export type PanelId = (typeof PANELS)[number];
export type Focus = 'tree' | PanelId;

export type Overlay =
  | { readonly kind: 'help' }
  /** An act of the log, with its plan and outcomes. */
  | { readonly kind: 'entry'; readonly line: LogLine }
  /** A question in the footer; `frame`: the rows as they were painted when it was asked. */
  | { readonly kind: 'export'; readonly frame: readonly string[] }
  /** `before`: how it was, for leaving without a change. */
  | {
      readonly kind: 'setup';
      readonly cursor: number;
      readonly before: { readonly look: Look; readonly interval: number };
    }
  | { readonly kind: 'signals'; readonly cursor: number }
  | { readonly kind: 'planning'; readonly request: ActRequest }
  | {
      readonly kind: 'plan';
      readonly request: ActRequest;
      readonly plan: Plan;
      /** The last chunk of keys typed before it was seen, or in which a pid was completed: a `y` from it does not count. */
      readonly openedIn: number;
      /** Digits typed so far, and pids typed in full: soft-protected processes ask for theirs. */
      readonly typed: string;
      readonly confirmed: readonly number[];
      /** Why it is shown a second time. */
      readonly changed?: string;
    }
  | { readonly kind: 'running' };

export interface Notice {
  readonly text: string;
  readonly tone: ThemeTone;
}

export interface ViewState {
  /** A row's key, and where it was last seen: when the user hides it the row in its place is selected. */
  readonly selected: string | null;
  readonly selectedIndex: number;
  readonly top: number;
  /** How much of each session is shown; what the user closed or opened stays so on every level. */
  readonly level: Level;
  readonly folded: ReadonlySet<string>;
  readonly opened: ReadonlySet<string>;
  readonly marked: ReadonlySet<IdentityKey>;
  readonly filter: string;
  readonly filterOpen: boolean;
  /** The prompt searches, and hides nothing; `search` is what for. */
  readonly searching: boolean;
  readonly search: string;
  readonly sort: SortId;
  readonly reversed: boolean;
  readonly grouping: Grouping;
  /** How the rows were before a key made a list of them: Esc goes back to it. */
  readonly listedFrom: Pick<ViewState, 'grouping' | 'sort' | 'reversed'> | null;
  readonly focus: Focus;
  /** The panel under the tree while the tree has the keys. */
  readonly panel: PanelId;
  readonly panelCursor: number;
  /** The entry that the cursor was on, when it is no longer there: it stays so until the user moves. */
  readonly panelLost: Finding | Heartbeat | null;
  /** The first entry in view of a panel that has not the keys: the wheel moves it. */
  readonly panelTop: number;
  /** Where `n` went last: a process may have several findings, and its row does not tell which one. */
  readonly steppedTo: Finding | null;
  readonly detail: boolean;
  readonly detailScroll: number;
  readonly overlay: Overlay | null;
  readonly overlayScroll: number;
  readonly frozen: Snapshot | null;
  readonly all: boolean;
  readonly look: Look;
  readonly notice: Notice | null;
  /** What the pane of a process showed when the user peeked. */
  readonly peek: { readonly key: string; readonly lines: readonly string[] } | null;
  /** The pids that were copied last: the same again asks for the commands. */
  readonly copied: string | null;
  /** The running plan of which the user knows that quitting cuts it short. */
  readonly quitting: Plan | null;
}

export const INITIAL_VIEW: ViewState = {
  selected: null,
  selectedIndex: 0,
  top: 0,
  level: 2,
  folded: new Set([KERNEL.key]),
  opened: new Set(),
  marked: new Set(),
  filter: '',
  filterOpen: false,
  searching: false,
  search: '',
  sort: 'start',
  reversed: false,
  grouping: 'tmux',
  listedFrom: null,
  focus: 'tree',
  panel: 'findings',
  panelCursor: 0,
  panelLost: null,
  panelTop: 0,
  steppedTo: null,
  detail: false,
  detailScroll: 0,
  overlay: null,
  overlayScroll: 0,
  frozen: null,
  all: false,
  look: lookOf(DEFAULT_CONFIG, null),
  notice: null,
  copied: null,
  peek: null,
  quitting: null,
};

/** Rows stand for whole trees: not every process has one. */
export const isWhole = ({ grouping, level }: Pick<ViewState, 'grouping' | 'level'>): boolean =>
  grouping !== 'flat' && level !== 3;

/** How the rows are made, as far as the view decides. */
export const rowOptions = ({
  level,
  folded,
  opened,
  filter,
  sort,
  all,
  grouping,
  reversed,
}: ViewState): RowOptions => ({
  level,
  folded,
  opened,
  filter,
  sort,
  all,
  grouping,
  reversed,
});

export type ViewEvent =
  | { readonly type: 'select'; readonly key: string; readonly index: number }
  | {
      readonly type: 'placed';
      readonly selected: string | null;
      readonly index: number;
      readonly top: number;
    }
  | { readonly type: 'fold'; readonly keys: readonly string[]; readonly folded: boolean }
  | { readonly type: 'level'; readonly level: Level }
  /** As the level has it, whatever was closed and opened. */
  | { readonly type: 'unfold-own' }
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
  | { readonly type: 'leave-list' }
  | { readonly type: 'focus'; readonly focus: Focus }
  | { readonly type: 'panel-cursor'; readonly cursor: number }
  | ({ readonly type: 'panel-kept' } & CursorPlace)
  | { readonly type: 'panel-scroll'; readonly to: number }
  | { readonly type: 'stepped'; readonly to: Finding | null }
  | { readonly type: 'detail'; readonly open: boolean }
  | { readonly type: 'detail-scroll'; readonly to: number }
  | { readonly type: 'overlay'; readonly overlay: Overlay | null }
  | { readonly type: 'overlay-scroll'; readonly to: number }
  | { readonly type: 'freeze'; readonly snapshot: Snapshot | null }
  | { readonly type: 'all'; readonly all: boolean }
  | { readonly type: 'look'; readonly look: Partial<Look> }
  | { readonly type: 'notice'; readonly notice: Notice | null }
  | { readonly type: 'copied'; readonly pids: string | null }
  | { readonly type: 'peek'; readonly key: string; readonly lines: readonly string[] }
  | { readonly type: 'quitting'; readonly plan: Plan };

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
  fold: (view, { keys, folded }) => ({
    ...view,
    folded: changed(view.folded, keys, folded),
    opened: changed(view.opened, keys, !folded),
  }),
  level: (view, { level }) => ({ ...view, level }),
  'unfold-own': view => ({ ...view, folded: new Set(), opened: new Set() }),
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
    listedFrom: null,
    grouping: GROUPINGS[(GROUPINGS.indexOf(view.grouping) + 1) % GROUPINGS.length]!,
  }),
  'leave-list': view => ({ ...view, ...view.listedFrom, listedFrom: null }),
  list: (view, { sort }) => ({
    ...view,
    focus: 'tree',
    grouping: 'flat',
    listedFrom:
      view.grouping === 'flat'
        ? view.listedFrom
        : { grouping: view.grouping, sort: view.sort, reversed: view.reversed },
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
  copied: (view, { pids }) => ({ ...view, copied: pids }),
  peek: (view, { key, lines }) => ({ ...view, peek: { key, lines }, detailScroll: 0 }),
  quitting: (view, { plan }) => ({ ...view, quitting: plan }),
};

/** The one reducer: every change of what is looked at goes through here. */
export const reduce = (view: ViewState, event: ViewEvent): ViewState =>
  // The table's type guarantees that the handler takes this event; the compiler cannot relate the two unions.
  (HANDLERS[event.type] as (view: ViewState, event: ViewEvent) => ViewState)(view, event);

export type CursorPlace = Pick<ViewState, 'panelCursor' | 'panelLost'>;
