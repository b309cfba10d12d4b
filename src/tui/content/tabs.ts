import { cells } from '../../model/width.ts';
import type { Glyphs } from '../look/glyphs.ts';
import { clickable } from '../view/clickable.ts';
import { type Line, lineToWidth, lineWidth, run, spread, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { PANELS, type PanelId } from '../view/state.ts';
import { panelLength } from './panel.ts';

const TITLES = { findings: 'Findings', heartbeats: 'Heartbeats', log: 'Log' } satisfies Record<
  PanelId,
  string
>;

/** `12 of 48`, with arrows when there is more above or below. */
export const positionText = ({ rows, view, layout, glyphs }: Screen): string => {
  if (rows.length === 0) return '';
  const up = view.top > 0 ? glyphs.up : ' ';
  const down = view.top + layout.treeRows < rows.length ? glyphs.down : ' ';
  return ` ${view.selectedIndex + 1} of ${rows.length} ${up}${down} `;
};

/** The rule between the tree and the panel: its titles, and where in the tree we are. */
export const tabsLine = (screen: Screen): Line => {
  const { view, layout, glyphs } = screen;
  const tabs = PANELS.flatMap(panel => {
    const text = ` ${TITLES[panel]} ${panelLength(panel, screen)} `;
    const tone = view.focus === panel ? 'selected' : panel === view.panel ? 'strong' : 'faint';
    return [clickable(run(text, tone), { panel }), run(glyphs.rule, 'rule')];
  });
  const left: Line = [run(glyphs.rule, 'rule'), ...tabs];
  const right: Line = [run(positionText(screen), 'faint'), run(glyphs.rule, 'rule')];
  const gap = layout.columns - lineWidth(left) - lineWidth(right);
  if (gap < 0)
    return spread(lineToWidth(left, Math.min(layout.columns, lineWidth(left))), [], layout.columns);
  return lineToWidth([...left, run(glyphs.rule.repeat(gap), 'rule'), ...right], layout.columns);
};

/** `9 of 12 ▼`: the last line in view, and where there is more; empty when all of it is. */
export const scrollText = (
  { from, room, length }: { readonly from: number; readonly room: number; readonly length: number },
  { up, down }: Glyphs,
): string => {
  if (length <= room) return '';
  const last = Math.min(length, from + room);
  return `${last} of ${length} ${from > 0 ? up : ''}${last < length ? down : ''}`;
};

/** A rule with a title, above the detail pane and the overlays. What stands at its right end is never cut. */
export const titleRule = (title: string, width: number, rule: string, right = ''): Line => {
  const end: Line = right === '' ? [] : [run(` ${right} `, 'faint'), run(rule, 'rule')];
  const room = Math.max(1, width - lineWidth(end) - 3);
  const shown = cells(title) > room ? toWidth(title, room) : title;
  const left: Line = [run(rule, 'rule'), run(` ${shown} `, 'strong')];
  const gap = Math.max(0, width - lineWidth(left) - lineWidth(end));
  return lineToWidth([...left, run(rule.repeat(gap), 'rule'), ...end], width);
};

/** What of an overlay's content is in view, and the words that say so. */
export const scrolledOverlay = (
  content: readonly Line[],
  room: number,
  { view, glyphs }: Pick<Screen, 'view' | 'glyphs'>,
): { readonly shown: readonly Line[]; readonly more: string } => {
  const from = Math.min(view.overlayScroll, Math.max(0, content.length - room));
  return {
    shown: Array.from({ length: room }, (_, i) => content[from + i] ?? []),
    more: scrollText({ from, room, length: content.length }, glyphs),
  };
};
