import { SIGNALS } from '../../words/signals.ts';
import { clickable } from '../view/clickable.ts';
import { type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import { windowTop } from '../view/placement.ts';
import type { Screen } from '../view/screen.ts';
import { scrollText, titleRule } from './tabs.ts';

export const signalsLines = (screen: Screen, rows: number): readonly Line[] => {
  const { layout, glyphs, view } = screen;
  const cursor = view.overlay?.kind === 'signals' ? view.overlay.cursor : 0;
  const lines = SIGNALS.map(({ name, means }, i): Line => {
    const selected = i === cursor;
    return [
      clickable(run(selected ? ` ${glyphs.cursor}` : '  ', 'title'), { entry: i }),
      run(toWidth(name, 9), selected ? 'selected' : name === 'SIGKILL' ? 'bad' : 'strong'),
      run(`  ${means}`, selected ? 'plain' : 'faint'),
    ];
  });
  // The chosen one stays in view on the smallest screen, too: nobody should choose what he cannot see.
  const room = rows - 1;
  const from = windowTop(cursor, lines.length, room);
  const more = scrollText({ from, room, length: lines.length }, glyphs);
  return [
    titleRule('Choose a signal; the plan comes next', layout.columns, glyphs.rule, more),
    ...Array.from({ length: room }, (_, i) =>
      lineToWidth(lines[from + i] ?? [], layout.columns, glyphs.ellipsis),
    ),
  ];
};
