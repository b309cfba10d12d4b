import { SIGNALS } from '../../words/signals.ts';
import { clickable } from '../view/clickable.ts';
import { type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { titleRule } from './tabs.ts';

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
  return [
    titleRule('Choose a signal; the plan comes next', layout.columns, glyphs.rule),
    ...Array.from({ length: rows - 1 }, (_, i) =>
      lineToWidth(lines[i] ?? [], layout.columns, glyphs.ellipsis),
    ),
  ];
};
