import type { ReactNode } from 'react';
import type { LogEntry, LogLine } from '../../engine/live-state.ts';
import { wrap } from '../../model/text.ts';
import { formatBytes } from '../../model/units.ts';
import { type KeyActions, useKeys } from '../keys/use-keys.ts';
import type { Screen } from '../screen.ts';
import type { Store } from '../store.ts';
import { bodyRows } from '../ui/layout.ts';
import { Lines } from '../ui/line.tsx';
import { type Runs, run, toWidth } from '../ui/runs.ts';
import { LEAVES, Sheet, scrolled, scrollSheet } from '../ui/sheet.tsx';
import { useScreen } from '../ui/use-screen.ts';
import { clockTime } from './panel.tsx';

/** An act of the log with its plan and its outcomes. */
export const LogEntrySheet = (): ReactNode => {
  const screen = useScreen();
  const { layout, view } = screen;
  useKeys('entry', ENTRY_KEYS, LEAVES);
  if (view.overlay?.kind !== 'entry') return null;
  const { line } = view.overlay;
  const { shown, more } = scrolled(entryContent(line, layout.columns), roomOf(screen), screen);
  return (
    <Sheet title={`${clockTime(line.at)} by ${line.entry?.by ?? '?'}`} more={more}>
      <Lines of={shown} width={layout.columns} />
    </Sheet>
  );
};

const roomOf = (screen: Screen): number => bodyRows(screen) - 1;

const scroll = (store: Store, by: number): void => {
  const { view, layout } = store.screen;
  if (view.overlay?.kind !== 'entry') return;
  const { length } = entryContent(view.overlay.line, layout.columns);
  scrollSheet(store, length, roomOf(store.screen), by);
};

const ENTRY_KEYS: KeyActions<'entry'> = {
  'entry-up': store => scroll(store, -1),
  'entry-down': store => scroll(store, 1),
};

const INDENT = 11;

const entryRows = ({ rows }: LogEntry, width: number): readonly Runs[] =>
  rows.flatMap(({ what, pid, name, bytes, why }): readonly Runs[] => [
    [
      run('  '),
      run(toWidth(what, INDENT - 2), 'strong'),
      run(pid === null ? '' : `${pid} `, 'strong'),
      run(name),
      run(bytes > 0 ? `  ${formatBytes(bytes)}` : ''),
    ],
    ...wrap(why, Math.max(12, width - INDENT)).flatMap((part): readonly Runs[] =>
      part === '' ? [] : [[run(' '.repeat(INDENT)), run(part, 'faint')]],
    ),
  ]);

/** An act of the log with its plan and its outcomes. */
export const entryContent = ({ text, entry }: LogLine, width: number): readonly Runs[] => {
  const told = [text, entry?.why ? `asked for: ${entry.why}` : '', entry?.note ?? ''].filter(Boolean);
  return [
    ...told.flatMap(part => wrap(part, Math.max(12, width - 3)).map((piece): Runs => [run(`  ${piece}`)])),
    [],
    ...(entry ? entryRows(entry, width) : []),
  ];
};
