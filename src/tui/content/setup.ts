import { AUTO_WORDS, THEME_WORDS } from '../../model/look.ts';
import { COLUMNS } from '../look/columns.ts';
import type { Glyphs } from '../look/glyphs.ts';
import { clickable } from '../view/clickable.ts';
import { inTone, type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import { themeNameOf } from '../view/look.ts';
import { windowTop } from '../view/placement.ts';
import type { Screen } from '../view/screen.ts';
import { type SetupItem, setupItems } from '../view/setup.ts';
import { titleRule } from './tabs.ts';
import { columnHeader, treeLines } from './tree.ts';

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
    'between two looks at the machine',
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

const itemLine = (item: SetupItem, screen: Screen): Line => {
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

/** What the tones of the theme look like, and the first rows of the tree as they will be. */
const preview = (screen: Screen): readonly Line[] => [
  [],
  [run('  '), run('LEAK', 'leak'), run(' susp', 'suspect'), run(' live', 'live'), run(' prot', 'protected')]
    .concat([run('  agent', 'agent'), run(' server', 'server'), run(' build', 'build')])
    .concat([run('  good', 'good'), run(' warn', 'warn'), run(' bad', 'bad'), run(' faint', 'faint')]),
  columnHeader(screen),
  ...treeLines(screen).slice(0, 4),
];

const PREVIEW_ROWS = 7;

/** Columns, theme, refresh and mouse; what is changed is seen at once, and kept when it is saved. */
export const setupLines = (screen: Screen, rows: number): readonly Line[] => {
  const { layout, glyphs, view } = screen;
  if (view.overlay?.kind !== 'setup') return [];
  const { cursor } = view.overlay;
  const items = setupItems(screen);
  const room = rows - 1;
  const withPreview = room >= items.length + PREVIEW_ROWS && layout.treeRows > 0;
  const list = withPreview ? items.length : room;
  const top = windowTop(cursor, items.length, list);
  const last = Math.min(items.length, top + list);
  const more =
    items.length > list
      ? `${cursor + 1} of ${items.length} ${top > 0 ? glyphs.up : ''}${last < items.length ? glyphs.down : ''}`
      : '';
  const lines = items.slice(top, last).map((item, i): Line => {
    const selected = top + i === cursor;
    const body = lineToWidth(itemLine(item, screen), layout.columns - 2, glyphs.ellipsis);
    const edge = clickable(run(selected ? `${glyphs.cursor} ` : '  ', 'title'), { entry: top + i });
    return [edge, ...(selected ? inTone(body, 'selected') : body)];
  });
  const all = [...lines, ...(withPreview ? preview(screen) : [])];
  return [
    titleRule('Setup', layout.columns, glyphs.rule, more.trim()),
    ...Array.from({ length: room }, (_, i) => lineToWidth(all[i] ?? [], layout.columns, glyphs.ellipsis)),
  ];
};
