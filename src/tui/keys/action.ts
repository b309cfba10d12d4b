import type { Live, ShownAgain } from '../../live/live.ts';
import type { ActRequest } from '../../model/act-request.ts';
import type { Plan } from '../../model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import type { Tone } from '../look/theme.ts';
import type { Layout } from '../view/layout.ts';
import type { ViewEvent } from '../view/reducer.ts';
import type { Row } from '../view/row.ts';
import type { Screen } from '../view/screen.ts';
import type { ViewState } from '../view/state.ts';
import type { Clicks } from './clicks.ts';
import type { Situation } from './keymap.ts';
import type { Keystroke } from './reader.ts';

/** What a key can see and do. */
export interface Controls {
  readonly live: Live;
  readonly view: ViewState;
  readonly snapshot: Snapshot;
  readonly layout: Layout;
  readonly rows: readonly Row[];
  readonly screen: Screen;
  readonly targets: readonly JudgedProcess[];
  readonly situation: Situation;
  readonly clicks: Clicks;
  /** The latest read of the keyboard. */
  readonly chunk: number;
  /** The pids that were copied last: the same again asks for the commands. */
  copied: string | null;
  /** The rows as they are painted, with their styles. */
  frame(): readonly string[];
  toClipboard(text: string): void;
  /** The running plan of which the user knows that quitting cuts it short. */
  toldOfQuitting: Plan | null;
  dispatch(event: ViewEvent): void;
  notice(text: string, tone?: Tone): void;
  /** Asks the engine for a plan and shows it; nothing is signalled until it is confirmed. */
  openPlan(request: ActRequest): void;
  /** Shows a plan a second time, with what has changed since it was read. */
  showAgain(request: ActRequest, again: ShownAgain): void;
  quit(code: number): void;
  suspend(): void;
  /** Paint every row again, whatever is believed to be on the screen. */
  redraw(): void;
}

export type Action = (controller: Controls, stroke: Keystroke) => void;
