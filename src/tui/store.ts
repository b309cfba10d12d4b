import type { Live } from '../engine/live-state.ts';
import { keyOf } from '../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { PssReader } from './detail/pss-reader.ts';
import type { KeyContext } from './keys/bindings.ts';
import { Clicks } from './keys/reader.ts';
import { keptCursor, panelLength, type Shown } from './panels/panel-entries.ts';
import { findingToFix, type Screen, type ScreenStore, selectedRow, targetsOf } from './screen.ts';
import { INITIAL_VIEW, reduce, type ViewEvent, type ViewState } from './state.ts';
import type { Row } from './tree/row-order.ts';
import { place, RowList } from './tree/rows.ts';
import type { Glyphs } from './ui/glyphs.ts';
import { type Layout, layoutFor, type Size } from './ui/layout.ts';
import { type Look, lookOf, type ThemeTone, themeFor, themeNameOf } from './ui/theme.ts';

/** What keys may ask of the terminal and of the program. */
export interface TerminalControl {
  /** Asks the terminal for reports of the mouse, or for none. */
  setMouse(mouse: boolean): void;
  /** The rows as they are painted, with their styles. */
  frame(): readonly string[];
  copy(text: string): void;
  quit(code: number): void;
  suspend(): void;
  /** Lets go of the terminal while something else has it; then the screen is there again. */
  lend?(work: () => Promise<string>): Promise<string>;
  /** Paint every row again, whatever is believed to be on the screen. */
  redraw(): void;
}

export interface StoreOptions {
  readonly live: Live;
  readonly terminal: TerminalControl;
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly all?: boolean;
  /** How it looks at first; default: as the config says. */
  readonly look?: Look;
  /** Default: true. */
  readonly colour?: boolean;
}

/**
 * The state of the engine and of the view as one `Screen` that is made once per change. Keys change it
 * through `dispatch`; components read it with `useScreen`.
 */
export class Store implements ScreenStore {
  readonly live: Live;
  readonly terminal: TerminalControl;
  readonly clicks = new Clicks();
  /** The latest read of the keyboard. */
  chunk = 0;
  readonly #options: StoreOptions;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  readonly #rows = new RowList();
  readonly #pss: PssReader;
  #view: ViewState;
  #size: Size;
  /** Null: something has changed since it was made. */
  #screen: Screen | null = null;
  #layout: { readonly madeFrom: readonly unknown[]; readonly layout: Layout } | null = null;
  #settled: Shown | null = null;
  #marksFor: Snapshot | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.live = options.live;
    this.terminal = options.terminal;
    this.#size = options.size;
    const look = options.look ?? lookOf(options.live.getState().config, null);
    const { level } = options.live.getState().config;
    this.#view = { ...INITIAL_VIEW, all: options.all ?? false, level, look };
    this.#pss = new PssReader(options.live, () => this.#changed());
    this.#settle();
    this.#unsubscribe = options.live.subscribe(() => this.#changed());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getScreen = (): Screen => {
    this.#screen ??= this.#makeScreen();
    return this.#screen;
  };

  get screen(): Screen {
    return this.getScreen();
  }

  get view(): ViewState {
    return this.#view;
  }

  get rows(): readonly Row[] {
    return this.screen.rows;
  }

  get snapshot(): Snapshot {
    return this.screen.snapshot;
  }

  get targets(): readonly JudgedProcess[] {
    return targetsOf(this.screen);
  }

  get keyContext(): KeyContext {
    const { screen, targets } = this;
    return {
      view: screen.view,
      state: screen.state,
      row: selectedRow(screen),
      targets,
      finding: findingToFix(screen),
    };
  }

  dispatch(event: ViewEvent): void {
    const { mouse } = this.#view.look;
    this.#view = reduce(this.#view, event);
    if (this.#view.look.mouse !== mouse) this.terminal.setMouse(!mouse);
    this.#changed();
  }

  notice(text: string, tone: ThemeTone = 'warn'): void {
    this.dispatch({ type: 'notice', notice: { text, tone } });
  }

  resize(size: Size): void {
    this.#size = size;
    this.#changed();
  }

  stop(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  #changed(): void {
    this.#screen = null;
    this.#settle();
    for (const listener of this.#listeners) listener();
  }

  #makeScreen(): Screen {
    const state = this.live.getState();
    const snapshot = this.#view.frozen ?? state.snapshot;
    return {
      state,
      snapshot,
      view: this.#view,
      rows: this.#rows.of(snapshot, this.#view, state.asleep),
      layout: this.#layoutNow(state.moment != null, { snapshot, state }),
      glyphs: this.#options.glyphs,
      theme: themeFor(themeNameOf(this.#view.look), this.#options.colour ?? true),
      pss: this.#pss.of(this.#view.selected),
      history: key => this.live.history(key),
      treeHistory: key => this.live.treeHistory(key),
    };
  }

  /** The same object for the same layout: what reads nothing else does not render again. */
  #layoutNow(past: boolean, shown: Shown): Layout {
    const { detail, focus, panel } = this.#view;
    const focused = focus === panel;
    // What an entry unfolds to is not known here: with the keys it gets all the room there is for it.
    const rows = focused ? Number.POSITIVE_INFINITY : panelLength(panel, shown);
    const madeFrom = [this.#size, detail, past, rows, focused];
    if (this.#layout === null || madeFrom.some((input, i) => input !== this.#layout!.madeFrom[i]))
      this.#layout = { madeFrom, layout: layoutFor(this.#size, detail, past, { rows, focused }) };
    return this.#layout.layout;
  }

  /** What a sample may have moved under the user's hands is put right. */
  #settle(): void {
    const { state, snapshot, rows, layout } = this.screen;
    const shown = { snapshot, state };
    const { snapshot: latest } = state;
    let view = withEntry(this.#view, this.#settled ?? shown, shown);
    this.#settled = shown;
    view = withPlace(view, rows, layout.treeRows);
    if (latest !== this.#marksFor) view = withLivingMarks(view, latest);
    this.#marksFor = latest;
    if (view !== this.#view) {
      this.#view = view;
      this.#screen = null;
    }
    const row = view.detail ? selectedRow(this.screen) : null;
    if (row?.process) this.#pss.want(row.key, row.process, snapshot.takenAt);
  }
}

/** The cursor in a panel stays on its entry. */
const withEntry = (view: ViewState, before: Shown, now: Shown): ViewState => {
  if (view.focus === 'tree') return view;
  const kept = keptCursor(view, view.focus, before, now);
  return kept.panelCursor === view.panelCursor && kept.panelLost === view.panelLost
    ? view
    : reduce(view, { type: 'panel-kept', ...kept });
};

/** The selected row is one that is there, and in sight. */
export const withPlace = (view: ViewState, rows: readonly Row[], treeRows: number): ViewState => {
  const placed = place(view, rows, treeRows);
  return placed.selected === view.selected && placed.index === view.selectedIndex && placed.top === view.top
    ? view
    : reduce(view, { type: 'placed', ...placed });
};

/** Processes that ended are no longer marked. */
export const withLivingMarks = (view: ViewState, { processes }: Snapshot): ViewState => {
  if (view.marked.size === 0) return view;
  const living = new Set(processes.map(p => keyOf(identityOf(p))));
  return [...view.marked].every(key => living.has(key)) ? view : reduce(view, { type: 'keep-marks', living });
};
