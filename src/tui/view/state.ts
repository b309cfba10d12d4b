import type { LogLine } from '../../live/live.ts';
import type { ActRequest } from '../../model/act-request.ts';
import { DEFAULT_CONFIG } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { IdentityKey } from '../../model/identity.ts';
import type { Plan } from '../../model/plan.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Tone } from '../look/theme.ts';
import { type Look, lookOf } from './look.ts';
import type { RowOptions } from './row.ts';
import { type Grouping, KERNEL } from './row-groups.ts';
import type { SortId } from './row-sort.ts';

/**
 * What is looked at. Ink has no state of its own and React would scatter it over components, where a key could not
 * see it: the keys, the components and the tests share this one, and one reducer changes it.
 */

export const PANELS = ['findings', 'heartbeats', 'log'] as const;
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
  readonly tone: Tone;
}

export interface ViewState {
  /** A row's key, and where it was last seen: when the user hides it the row in its place is selected. */
  readonly selected: string | null;
  readonly selectedIndex: number;
  readonly top: number;
  readonly folded: ReadonlySet<string>;
  readonly marked: ReadonlySet<IdentityKey>;
  readonly filter: string;
  readonly filterOpen: boolean;
  /** The prompt searches, and hides nothing; `search` is what for. */
  readonly searching: boolean;
  readonly search: string;
  readonly sort: SortId;
  readonly reversed: boolean;
  readonly grouping: Grouping;
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
}

export const INITIAL_VIEW: ViewState = {
  selected: null,
  selectedIndex: 0,
  top: 0,
  folded: new Set([KERNEL.key]),
  marked: new Set(),
  filter: '',
  filterOpen: false,
  searching: false,
  search: '',
  sort: 'start',
  reversed: false,
  grouping: 'tmux',
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
};

/** How the rows are made, as far as the view decides. */
export const rowOptions = ({ folded, filter, sort, all, grouping, reversed }: ViewState): RowOptions => ({
  folded,
  filter,
  sort,
  all,
  grouping,
  reversed,
});
