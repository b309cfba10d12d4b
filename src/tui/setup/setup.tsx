import { Box } from 'ink';
import type { ReactNode } from 'react';
import { AUTO_WORDS, THEME_WORDS } from '../../model/ui-settings.ts';
import { useKeys } from '../keys/use-keys.ts';
import type { SelectEntry } from '../keys/use-mouse.ts';
import type { Screen } from '../screen.ts';
import { COLUMNS } from '../tree/columns.ts';
import { windowTop } from '../tree/rows.ts';
import { ColumnNames, TreeRows } from '../tree/tree.tsx';
import type { Glyphs } from '../ui/glyphs.ts';
import { bodyRows } from '../ui/layout.ts';
import { Line } from '../ui/line.tsx';
import { clickable, onSelected, type Runs, run, runsToWidth, toWidth } from '../ui/runs.ts';
import { Sheet } from '../ui/sheet.tsx';
import { themeNameOf } from '../ui/theme.ts';
import { useScreen } from '../ui/use-screen.ts';
import { type SetupItem, setupItems } from './setup-items.ts';
import { moveSetup, SETUP_KEYS } from './setup-keys.ts';

const PREVIEW_ROWS = 7;

/** Columns, theme, refresh and mouse; what is changed is seen at once, and kept when it is saved. */
export const Setup = (): ReactNode => {
  const screen = useScreen();
  const { layout, glyphs, view } = screen;
  useKeys('setup', SETUP_KEYS);
  const cursor = view.overlay?.kind === 'setup' ? view.overlay.cursor : 0;
  const items = setupItems(screen);
  const room = bodyRows(screen) - 1;
  const withPreview = room >= items.length + PREVIEW_ROWS && layout.treeRows > 0;
  const list = withPreview ? items.length : room;
  const top = windowTop(cursor, items.length, list);
  const last = Math.min(items.length, top + list);
  const more =
    items.length > list
      ? `${cursor + 1} of ${items.length} ${top > 0 ? glyphs.up : ''}${last < items.length ? glyphs.down : ''}`
      : '';
  return (
    <Sheet title="Setup" more={more.trim()} wheel="entries">
      {items.slice(top, last).map((item, i) => {
        const selected = top + i === cursor;
        const body = runsToWidth(itemRuns(item, screen), layout.columns - 2, glyphs.ellipsis);
        const edge = clickable(run(selected ? `${glyphs.cursor} ` : '  ', 'cursor'), { entry: top + i });
        return (
          <Line
            key={item.kind === 'column' ? item.id : item.kind}
            runs={[edge, ...(selected ? onSelected(body) : body)]}
            selected={selected}
            onEntry={select}
          />
        );
      })}
      {withPreview && <Preview width={layout.columns} />}
    </Sheet>
  );
};

/** What the tones of the theme look like, and the first rows of the tree as they will be. */
const Preview = ({ width }: { readonly width: number }): ReactNode => (
  <Box flexDirection="column" aria-hidden>
    <Line runs={[]} />
    <Line
      runs={[
        run('  '),
        run('LEAK', 'leak'),
        run(' susp', 'suspect'),
        run(' live', 'live'),
        run(' prot', 'protected'),
        run('  agent', 'agent'),
        run(' server', 'server'),
        run(' build', 'build'),
        run('  good', 'good'),
        run(' warn', 'warn'),
        run(' bad', 'bad'),
        run(' faint', 'faint'),
      ]}
      width={width}
    />
    <ColumnNames />
    <TreeRows most={4} />
  </Box>
);

const select: SelectEntry = (store, entry, { double }, type) => {
  moveSetup(store, entry);
  if (double) type('enter');
};

const LABEL = 10;
const VALUE = 18;

/** `◂ light ▸`: what left and right change. */
const choice = (value: string, { left, right }: Glyphs): string => `${left} ${value} ${right}`;

const themeNote = ({ view }: Screen): string =>
  view.look.theme === 'auto' ? `${themeNameOf(view.look)} now; ${AUTO_WORDS}` : THEME_WORDS[view.look.theme];

const TELL = {
  theme: screen => ['theme', choice(screen.view.look.theme, screen.glyphs), themeNote(screen)],
  interval: ({ state, glyphs }) => [
    'refresh',
    choice(`${state.intervalSeconds} s`, glyphs),
    'between samples of the machine',
  ],
  mouse: ({ view }) => [
    'mouse',
    view.look.mouse ? '[x] on' : '[ ] off',
    'wheel, click, double click; Shift selects text as usual',
  ],
  columns: ({ view }) => [
    'columns',
    view.look.columns ? '[ ] automatic' : '[x] automatic',
    'as many as the width allows, the most important first',
  ],
} satisfies Record<
  Exclude<SetupItem['kind'], 'column'>,
  (screen: Screen) => readonly [string, string, string]
>;

const itemRuns = (item: SetupItem, screen: Screen): Runs => {
  if (item.kind === 'column') {
    const column = COLUMNS.find(c => c.id === item.id)!;
    return [
      run(' '.repeat(LABEL)),
      run(toWidth(`${item.on ? '[x]' : '[ ]'} ${item.id}`, VALUE), item.on ? 'strong' : 'faint'),
      run(column.description, 'faint'),
    ];
  }
  const [label, value, note] = TELL[item.kind](screen);
  return [run(toWidth(label, LABEL)), run(toWidth(value, VALUE), 'strong'), run(note, 'faint')];
};
