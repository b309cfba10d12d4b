import type { ActRequest, Live, ShownAgain } from '../live/live.ts';
import type { Finding } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import type { Plan } from '../model/plan.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import type { Controls } from './keys/action.ts';
import { handleStroke } from './keys/actions.ts';
import { Clicks } from './keys/clicks.ts';
import type { Situation } from './keys/keymap.ts';
import type { Keystroke } from './keys/reader.ts';
import type { Glyphs } from './look/glyphs.ts';
import { type Tone, themeFor } from './look/theme.ts';
import { findingCursor, withSelected } from './view/keep-selected.ts';
import { type Layout, layoutFor, type Size } from './view/layout.ts';
import { type Look, lookOf, themeNameOf } from './view/look.ts';
import { place } from './view/placement.ts';
import { PssReader } from './view/pss-reader.ts';
import { type Row, treeRows } from './view/rows.ts';
import { type Screen, type ScreenStore, selectedRow } from './view/screen.ts';
import { INITIAL_VIEW, reduce, rowOptions, type ViewEvent, type ViewState } from './view/state.ts';
import { findingToFix, panelTargets } from './view/subject.ts';

export interface ControllerOptions {
  readonly live: Live;
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly all?: boolean;
  /** How it looks at first; default: as the config says. */
  readonly look?: Look;
  /** Default: true. */
  readonly colour?: boolean;
  setMouse?(mouse: boolean): void;
  /** The rows as they are painted. */
  frame?(): readonly string[];
  toClipboard?(text: string): void;
  quit(code: number): void;
  suspend(): void;
  /** Paint every row again, whatever is believed to be on the screen. */
  redraw(): void;
}

/** Nobody answers a question sooner than this after it appeared: such a key was typed before. */
const SEEN_MS = 25;
const UNSEEN = Number.POSITIVE_INFINITY;

/**
 * Between the engine and the screen: owns the view, answers keys, and offers the screen as a store that components
 * read with `useScreen`. What is not different on the screen is not rendered again.
 */
export class Controller implements Controls, ScreenStore {
  readonly #options: ControllerOptions;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #view: ViewState;
  #size: Size;
  #rowsFor: readonly unknown[] = [];
  #rows: readonly Row[] = [];
  #findings: readonly Finding[] = [];
  #shown: Screen;
  #scheduled = false;
  #marksFor: Snapshot | null = null;
  readonly #pss: PssReader;
  readonly clicks = new Clicks();
  copied: string | null = null;
  /** The latest read of the keyboard. */
  chunk = 0;
  toldOfQuitting: Plan | null = null;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#size = options.size;
    const look = options.look ?? lookOf(options.live.getState().config, null);
    this.#view = { ...INITIAL_VIEW, all: options.all ?? false, look };
    this.#pss = new PssReader(options.live, () => this.schedule());
    this.#settle();
    this.#shown = this.screen;
    this.#unsubscribe = options.live.subscribe(() => {
      this.#settle();
      this.schedule();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getScreen = (): Screen => this.#shown;

  get live(): Live {
    return this.#options.live;
  }

  get view(): ViewState {
    return this.#view;
  }

  get snapshot(): Snapshot {
    return this.#view.frozen ?? this.live.getState().snapshot;
  }

  get layout(): Layout {
    return layoutFor(this.#size, this.#view.detail, this.live.getState().moment != null);
  }

  get rows(): readonly Row[] {
    const options = rowOptions(this.#view);
    const inputs = [this.snapshot, ...Object.values(options)];
    if (inputs.some((input, i) => input !== this.#rowsFor[i])) {
      // What the user folds, filters or sorts away is not kept.
      const looked = inputs.every((input, i) => i === 0 || input === this.#rowsFor[i]);
      const rows = treeRows(this.snapshot, options);
      this.#rowsFor = inputs;
      this.#rows = looked ? withSelected(this.#view.selected, this.#rows, rows, this.snapshot) : rows;
    } else if (this.#rows.some(row => row.gone && row.key !== this.#view.selected))
      this.#rows = this.#rows.filter(row => !row.gone);
    return this.#rows;
  }

  get screen(): Screen {
    return {
      state: this.live.getState(),
      snapshot: this.snapshot,
      view: this.#view,
      rows: this.rows,
      layout: this.layout,
      glyphs: this.#options.glyphs,
      theme: themeFor(themeNameOf(this.#view.look), this.#options.colour ?? true),
      pss: this.#pss.of(this.#view.selected),
      history: key => this.live.history(key),
      course: key => this.live.course(key),
    };
  }

  get targets(): readonly JudgedProcess[] {
    const inPanel = panelTargets(this.screen);
    if (inPanel !== null) return inPanel;
    if (this.#view.marked.size > 0)
      return this.snapshot.processes.filter(p => this.#view.marked.has(keyOf(identityOf(p))));
    const row = selectedRow(this.screen);
    return row?.process && !row.gone ? [row.process] : [];
  }

  get situation(): Situation {
    const { view, screen } = this;
    return {
      view,
      state: screen.state,
      row: selectedRow(screen),
      targets: this.targets,
      finding: findingToFix(screen),
    };
  }

  dispatch(event: ViewEvent): void {
    const { mouse } = this.#view.look;
    this.#view = reduce(this.#view, event);
    if (this.#view.look.mouse !== mouse) this.#options.setMouse?.(!mouse);
    this.#settle();
    this.schedule();
  }

  notice(text: string, tone: Tone = 'warn'): void {
    this.dispatch({ type: 'notice', notice: { text, tone } });
  }

  key(stroke: Keystroke): void {
    this.chunk = stroke.chunk;
    handleStroke(this, stroke);
  }

  resize(size: Size): void {
    this.#size = size;
    this.#settle();
    this.#publish();
  }

  quit(code: number): void {
    this.#options.quit(code);
  }

  suspend(): void {
    this.#options.suspend();
  }

  frame(): readonly string[] {
    return this.#options.frame?.() ?? [];
  }

  toClipboard(text: string): void {
    this.#options.toClipboard?.(text);
  }

  redraw(): void {
    this.#options.redraw();
  }

  openPlan(request: ActRequest): void {
    const overlay = { kind: 'planning', request } as const;
    this.dispatch({ type: 'overlay', overlay });
    this.live.plan(request).then(
      plan => {
        if (this.#view.overlay === overlay) this.#show(request, plan); // else it was left meanwhile
      },
      (error: unknown) => {
        if (this.#view.overlay === overlay) this.dispatch({ type: 'overlay', overlay: null });
        this.notice(
          `The plan could not be made: ${error instanceof Error ? error.message : String(error)}`,
          'bad',
        );
      },
    );
  }

  /** The plan that was to be run is not what the user read any more. */
  showAgain(request: ActRequest, { plan, because }: ShownAgain): void {
    if (this.#view.overlay?.kind === 'running') this.#show(request, plan, because);
    else this.notice(`Nothing was signalled: ${because}`);
  }

  #show(request: ActRequest, plan: Plan, changed?: string): void {
    const asked = { kind: 'plan', request, plan, openedIn: UNSEEN, typed: '', confirmed: [] } as const;
    const overlay = changed === undefined ? asked : { ...asked, changed };
    this.dispatch({ type: 'overlay', overlay });
    // After the timer one more turn of the loop, so that keys which waited in the terminal meanwhile are read first.
    setTimeout(() => setImmediate(() => this.#planSeen(plan)), SEEN_MS);
  }

  stop(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  /** From the next read of the keyboard on, `y` may be an answer to this plan. */
  #planSeen(plan: Plan): void {
    const { overlay } = this.#view;
    if (overlay?.kind !== 'plan' || overlay.plan !== plan) return;
    this.clicks.shown();
    this.dispatch({ type: 'overlay', overlay: { ...overlay, openedIn: this.chunk } });
  }

  /** One screen for all that happens in this turn of the loop. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#publish();
    });
  }

  #settle(): void {
    this.#keepFinding();
    const { view } = this;
    const placed = place(view, this.rows, this.layout.treeRows);
    if (placed.selected !== view.selected || placed.index !== view.selectedIndex || placed.top !== view.top)
      this.#view = reduce(view, { type: 'placed', ...placed });
    const { snapshot } = this.live.getState();
    if (snapshot !== this.#marksFor && this.#view.marked.size > 0) {
      const living = new Set(snapshot.processes.map(p => keyOf(identityOf(p))));
      if ([...this.#view.marked].some(key => !living.has(key)))
        this.#view = reduce(this.#view, { type: 'keep-marks', living });
    }
    this.#marksFor = snapshot;
    const row = this.#view.detail ? selectedRow({ rows: this.rows, view: this.#view }) : null;
    if (row?.process) this.#pss.want(row.key, row.process, this.snapshot.takenAt);
  }

  #keepFinding(): void {
    const { findings } = this.snapshot;
    const before = this.#findings;
    this.#findings = findings;
    if (findings === before || this.#view.focus !== 'findings') return;
    const kept = findingCursor(this.#view, before, findings);
    if (kept.panelCursor !== this.#view.panelCursor || kept.panelLost !== this.#view.panelLost)
      this.#view = reduce(this.#view, { type: 'panel-kept', ...kept });
  }

  #publish(): void {
    this.#shown = this.screen;
    for (const listener of this.#listeners) listener();
  }
}
