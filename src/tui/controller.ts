import type { Live, ShownAgain } from '../live/live.ts';
import type { ActRequest } from '../model/act-request.ts';
import type { Plan } from '../model/plan.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import type { ControllerOptions } from './controller-options.ts';
import type { Controls } from './keys/action.ts';
import { handleStroke } from './keys/actions.ts';
import { Clicks } from './keys/clicks.ts';
import type { Situation } from './keys/keymap.ts';
import type { Keystroke } from './keys/reader.ts';
import { type Tone, themeFor } from './look/theme.ts';
import { PlanQuestion } from './plan-question.ts';
import { type Layout, layoutFor, type Size } from './view/layout.ts';
import { lookOf, themeNameOf } from './view/look.ts';
import { PssReader } from './view/pss-reader.ts';
import { reduce, type ViewEvent } from './view/reducer.ts';
import type { Row } from './view/row.ts';
import { RowList } from './view/rows.ts';
import { type Screen, type ScreenStore, selectedRow } from './view/screen.ts';
import { withEntry, withLivingMarks, withPlace } from './view/settling.ts';
import { INITIAL_VIEW, type ViewState } from './view/state.ts';
import { findingToFix, targetsOf } from './view/subject.ts';

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
  readonly #rows = new RowList();
  #settled: Pick<Screen, 'snapshot' | 'state'> | null = null;
  #shown: Screen;
  #scheduled = false;
  #marksFor: Snapshot | null = null;
  readonly #pss: PssReader;
  readonly #question = new PlanQuestion(this);
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
    return this.#rows.of(this.snapshot, this.#view);
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
    return targetsOf(this.screen);
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
    this.#question.open(request);
  }

  showAgain(request: ActRequest, again: ShownAgain): void {
    this.#question.showAgain(request, again);
  }

  stop(): void {
    this.#unsubscribe();
    this.#listeners.clear();
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
    const shown = { snapshot: this.snapshot, state: this.live.getState() };
    this.#view = withEntry(this.#view, this.#settled ?? shown, shown);
    this.#settled = shown;
    this.#view = withPlace(this.#view, this.rows, this.layout.treeRows);
    const { snapshot } = this.live.getState();
    if (snapshot !== this.#marksFor) this.#view = withLivingMarks(this.#view, snapshot);
    this.#marksFor = snapshot;
    const row = this.#view.detail ? selectedRow({ rows: this.rows, view: this.#view }) : null;
    if (row?.process) this.#pss.want(row.key, row.process, this.snapshot.takenAt);
  }

  #publish(): void {
    this.#shown = this.screen;
    for (const listener of this.#listeners) listener();
  }
}
