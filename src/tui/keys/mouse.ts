import { footerLines } from '../content/footer.ts';
import { panelLength, panelLines } from '../content/panel.ts';
import { SHEETS } from '../content/sheets.ts';
import { tabsLine } from '../content/tabs.ts';
import { clickAt, entryOf } from '../view/clickable.ts';
import type { Line } from '../view/line.ts';
import { type Place, placeAt, type RegionId } from '../view/region.ts';
import type { Controls } from './action.ts';
import { goTo, scrollDetail } from './actions-moving.ts';
import { moveSetup } from './actions-setup.ts';
import type { MouseReport } from './mouse-report.ts';
import type { Keystroke } from './reader.ts';

/** Rows of one notch of the wheel. */
const NOTCH = 3;

/** Types a key of the table in place of the hand. */
export type TypeKey = (key: string) => void;

/** The tree moves under the selection, which stays in view: what x acts on is always to be seen. */
const scrollTree = (controller: Controls, by: number): void => {
  const { rows, view, layout } = controller;
  const top = Math.max(0, Math.min(rows.length - layout.treeRows, view.top + by));
  const index = Math.max(top, Math.min(view.selectedIndex, top + layout.treeRows - 1, rows.length - 1));
  const row = rows[index];
  if (row) controller.dispatch({ type: 'placed', selected: row.key, index, top });
};

const scrollPanel = (controller: Controls, by: number, { rows }: Place): void => {
  const { view, screen } = controller;
  const length = panelLength(view.panel, screen);
  if (view.focus === view.panel) {
    const cursor = Math.max(0, Math.min(length - 1, view.panelCursor + by));
    controller.dispatch({ type: 'panel-cursor', cursor });
  } else
    controller.dispatch({
      type: 'panel-scroll',
      to: Math.min(Math.max(0, length - rows), view.panelTop + by),
    });
};

/** A sheet scrolls by its own keys: each knows how far it goes. */
const scrollSheet = (controller: Controls, by: number, _: Place, type: TypeKey): void => {
  const notches =
    controller.view.overlay?.kind === 'signals' || controller.view.overlay?.kind === 'setup' ? 1 : NOTCH;
  for (let i = 0; i < notches; i += 1) type(by < 0 ? 'up' : 'down');
};

type Scroll = (controller: Controls, by: number, place: Place, type: TypeKey) => void;

/** What the wheel scrolls is what is under it. */
const SCROLLED = {
  header: null,
  columns: scrollTree,
  tree: scrollTree,
  detail: scrollDetail,
  caption: null,
  tabs: scrollPanel,
  panel: scrollPanel,
  overlay: scrollSheet,
  footer: null,
} satisfies Record<RegionId, Scroll | null>;

/** The line at this place, where it has pieces to click on. */
const lineAt = ({ screen }: Controls, { region, line, rows }: Place): Line => {
  if (region === 'footer') return footerLines(screen)[line] ?? [];
  if (region === 'tabs') return tabsLine(screen);
  if (region === 'panel') return panelLines(screen, rows)[line] ?? [];
  const sheet = region === 'overlay' && screen.view.overlay ? SHEETS[screen.view.overlay.kind] : null;
  return sheet?.(screen, rows)[line] ?? [];
};

const clickTree = (controller: Controls, { line }: Place, double: boolean): void => {
  const { rows, view } = controller;
  const index = view.top + line;
  const row = rows[index];
  if (!row) return;
  if (view.focus !== 'tree') controller.dispatch({ type: 'focus', focus: 'tree' });
  goTo(controller, index);
  if (row.group) controller.dispatch({ type: 'fold', keys: [row.key], folded: !row.folded });
  else if (double) controller.dispatch({ type: 'detail', open: true });
};

const clickEntry = (controller: Controls, entry: number, double: boolean, type: TypeKey): void => {
  const { view } = controller;
  if (view.overlay?.kind === 'signals')
    controller.dispatch({ type: 'overlay', overlay: { kind: 'signals', cursor: entry } });
  else if (view.overlay?.kind === 'setup') moveSetup(controller, entry);
  else {
    if (view.focus !== view.panel) controller.dispatch({ type: 'focus', focus: view.panel });
    controller.dispatch({ type: 'panel-cursor', cursor: entry });
  }
  if (double) type('enter');
};

/** The key that runs a plan is typed only by a single click, long after the plan appeared. */
const clickLine = (
  controller: Controls,
  line: Line,
  column: number,
  { double, hurried }: { readonly double: boolean; readonly hurried: boolean },
  type: TypeKey,
): void => {
  const { overlay, focus } = controller.view;
  const clicked = clickAt(line, column);
  const entry = entryOf(line);
  if (clicked && 'key' in clicked) {
    if (overlay?.kind === 'plan' && clicked.key === 'y' && hurried)
      controller.notice('Too early: read the plan, then click once.');
    else type(clicked.key);
  } else if (clicked && 'panel' in clicked)
    controller.dispatch({ type: 'focus', focus: focus === clicked.panel ? 'tree' : clicked.panel });
  else if (entry !== null) clickEntry(controller, entry, double, type);
};

/** A press of the left button. */
const click = (controller: Controls, mouse: MouseReport, place: Place, type: TypeKey): void => {
  const { double, hurried } = controller.clicks.note(mouse);
  if (controller.view.notice) {
    controller.dispatch({ type: 'notice', notice: null });
    // The words of the footer stood under what was said: nobody has aimed at them.
    if (place.region === 'footer') return;
  }
  if (place.region === 'tree') clickTree(controller, place, double);
  else clickLine(controller, lineAt(controller, place), mouse.column, { double, hurried }, type);
};

/** What the mouse does is what a key would do where it points: nothing more, and a plan comes first as always. */
export const handleMouse = (
  controller: Controls,
  { mouse, chunk }: Keystroke,
  press: (controller: Controls, stroke: Keystroke) => void,
): void => {
  const place = mouse && placeAt(controller.screen, mouse.column, mouse.row);
  if (!place) return;
  const type: TypeKey = key => press(controller, { key, text: '', chunk });
  if (mouse.what === 'press') click(controller, mouse, place, type);
  else SCROLLED[place.region]?.(controller, mouse.what === 'wheel-up' ? -NOTCH : NOTCH, place, type);
};
