import type { ReactNode } from 'react';
import { VERDICT_WORDS } from '../../model/snapshot.ts';
import { wrap } from '../../model/text.ts';
import { AUTO_WORDS, THEME_WORDS } from '../../model/ui-settings.ts';
import { BINDINGS, type Binding, type BindingName, CONTEXTS } from '../keys/bindings.ts';
import type { Action } from '../keys/input.ts';
import { type KeyActions, useKeys } from '../keys/use-keys.ts';
import type { Screen } from '../screen.ts';
import type { Store } from '../store.ts';
import { COLUMNS } from '../tree/columns.ts';
import { bodyRows } from '../ui/layout.ts';
import { Lines } from '../ui/line.tsx';
import { type Runs, run, runsWidth, toWidth } from '../ui/runs.ts';
import { LEAVES, Sheet, scrolled, scrollSheet } from '../ui/sheet.tsx';
import { useScreen } from '../ui/use-screen.ts';
import { CONTEXT_TITLES, keyNames } from './key-names.ts';

/** Every key, theme and column. */
export const Help = (): ReactNode => {
  const screen = useScreen();
  useKeys('help', HELP_KEYS, LEAVES);
  const { shown, more } = scrolled(contentOf(screen), roomOf(screen), screen);
  return (
    <Sheet title="Help" more={more}>
      <Lines of={shown} width={screen.layout.columns} />
    </Sheet>
  );
};

const contentOf = ({ layout, glyphs }: Screen): readonly Runs[] =>
  helpContent(layout.columns, glyphs.rule === '-');

const roomOf = (screen: Screen): number => bodyRows(screen) - 1;

const scroll = (store: Store, by: number): void =>
  scrollSheet(store, contentOf(store.screen).length, roomOf(store.screen), by);

const HELP_KEYS: KeyActions<'help'> = {
  'help-up': store => scroll(store, -1),
  'help-down': store => scroll(store, 1),
  'help-page-up': store => scroll(store, 1 - roomOf(store.screen)),
  'help-page-down': store => scroll(store, roomOf(store.screen) - 1),
};

export const HELP_KEY = {
  help: store => store.dispatch({ type: 'overlay', overlay: { kind: 'help' } }),
} satisfies Record<string, Action>;

const KEYS = 14;

const entry = (left: string, text: string, width: number): readonly Runs[] =>
  wrap(text, Math.max(12, width - KEYS - 3)).map((part, i) => [
    run('  '),
    run(toWidth(i === 0 ? left : '', KEYS), 'key'),
    run(part),
  ]);

const section = (title: string, entries: readonly (readonly Runs[])[]): readonly Runs[] => [
  [run(` ${title}`, 'strong')],
  ...entries.flat(),
  [],
];

/** What the words and signs on a row mean. */
const LEGEND: readonly (readonly [string, string])[] = [
  [VERDICT_WORDS.leak, 'leaked, proven: press c to clean'],
  [VERDICT_WORDS.suspect, 'probably leaked: check, then x'],
  [VERDICT_WORDS.protected, 'protected: clean-up never touches it'],
  [VERDICT_WORDS.live, 'in use by a running agent or its user'],
  [VERDICT_WORDS.unknown, "not known, or not an agent's"],
  ['gone', 'ended since you looked'],
];
const ZOMBIES = 'three children that ended and were not collected';

/** Two columns from this width on. */
const TWO_COLUMNS = 96;

/** Made from the table of bindings and the table of columns: help cannot say what is not so. */
export const helpContent = (width: number, ascii: boolean): readonly Runs[] => {
  const columns = width >= TWO_COLUMNS ? 2 : 1;
  const room = columns === 1 ? width : Math.floor(width / 2);
  const keysOf = (bindings: readonly Binding[]): (readonly Runs[])[] =>
    bindings.map(b => entry(keyNames(b, ascii), b.description, room));
  const main = BINDINGS.filter(b => b.context === 'main');
  const acts = main.filter(b => ACTING.has(b.name));
  const legend = section('On a row', [
    ...LEGEND.map(([word, meaning]) => entry(word, meaning, room)),
    entry(ascii ? 'Zx3' : 'Z×3', ZOMBIES, room),
  ]);
  const heads = section(
    'Columns',
    COLUMNS.map(c => entry(c.header || 'verdict', c.description, room)),
  );
  const acting = section('Act, always after the plan', keysOf(acts));
  const moving = section('Look around', keysOf(main.filter(b => !ACTING.has(b.name))));
  const others = [
    ...CONTEXTS.filter(context => context !== 'main').map(context =>
      section(CONTEXT_TITLES[context], keysOf(BINDINGS.filter(b => b.context === context))),
    ),
    section('Themes', [
      entry('auto', AUTO_WORDS, room),
      ...Object.entries(THEME_WORDS).map(([name, words]) => entry(name, words, room)),
    ]),
  ];
  if (columns === 1) return [...acting, ...legend, ...moving, ...others.flat(), ...heads];
  const left = [...acting, ...moving];
  const right = [...legend, ...heads];
  for (const lines of others) (left.length < right.length ? left : right).push(...lines);
  return sideBySide(left, right, room);
};

const sideBySide = (left: readonly Runs[], right: readonly Runs[], width: number): readonly Runs[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const beside = left[i] ?? [];
    return [...beside, run(' '.repeat(Math.max(0, width - runsWidth(beside)))), ...(right[i] ?? [])];
  });

const ACTING: ReadonlySet<BindingName> = new Set([
  'clean',
  'end-process',
  'kill',
  'fix',
  'zombies',
  'signal',
]);
