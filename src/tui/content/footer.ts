import { cells } from '../../model/width.ts';
import type { Context } from '../keys/context.ts';
import { contextOf } from '../keys/context.ts';
import { BINDINGS, type Binding, type Situation } from '../keys/keymap.ts';
import { keyName } from '../keys/table.ts';
import { clickable } from '../view/clickable.ts';
import { type Line, lineToWidth, lineWidth, run, spread } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { toldOf, toldRows } from '../view/told.ts';
import { positionText } from './tabs.ts';

/** On a narrow screen these go first: people under stress look for how to end, to clean and to get help. */
const ORDER = [
  'clean',
  'end-process',
  'fix',
  'help',
  'quit',
  'filter',
  'detail',
  'mark',
  'next-finding',
  'next-panel',
  'kill',
  'zombies',
  'pane',
  'sort',
  'signal',
  'freeze',
  'all',
];

const rank = (name: string): number => {
  const at = ORDER.indexOf(name);
  return at < 0 ? ORDER.length : at;
};

/** A click on a hint types its key; not the one that runs a plan: the word for that is in the plan itself. */
const hint = (b: Binding): Line => {
  const pieces = [run(keyName(b.keys[0]!), 'key'), run(` ${b.label}`)];
  return [
    ...(b.name === 'go' ? pieces : pieces.map(piece => clickable(piece, { key: b.keys[0]! }))),
    run('  '),
  ];
};

/** On the main screen the hints stay where they are, and a key that cannot act says why; an overlay only offers what it can do. */
const offered = (context: Context, situation: Situation): readonly Binding[] =>
  BINDINGS.filter(
    b =>
      b.context === context &&
      b.label !== '' &&
      (context === 'main' || (b.disabledReason?.(situation) ?? null) === null),
  );

const hintWidth = (b: Binding): number => keyName(b.keys[0]!).length + b.label.length + 3;

/** `x end  c clean  ? help`, as many as toWidth, in the order of the table. */
const hints = (labelled: readonly Binding[], width: number): Line => {
  const byRank = [...labelled].sort((a, b) => rank(a.name) - rank(b.name));
  const kept = new Set<string>();
  let room = width - 1;
  for (const b of byRank) {
    const wide = hintWidth(b);
    if (wide > room) continue;
    kept.add(b.name);
    room -= wide;
  }
  return [run(' '), ...labelled.filter(b => kept.has(b.name)).flatMap(hint)];
};

const LEAVES: Partial<Record<Context, string>> = {
  plan: 'any other key cancels',
  help: 'any other key leaves',
  signals: 'Esc leaves',
  export: 'any other key leaves',
  entry: 'any other key leaves',
};

/** How to leave, shorter where the keys would not fit beside it: then it says nothing wrong of those that are missing. */
const leaveText = (context: Context, labelled: readonly Binding[], width: number): string => {
  const text = LEAVES[context] ?? '';
  const room = width - cells(text) - 3;
  const taken = labelled.reduce((sum, b) => sum + hintWidth(b), 0);
  return taken <= room ? text : text.replace('any other key', 'Esc');
};

const ways = (...all: readonly (readonly [text: string, key: string])[]): Line =>
  all.flatMap(([text, key], i) => [
    clickable(run(text, 'faint'), { key }),
    run(i === all.length - 1 ? ' ' : '  '),
  ]);

const FILTER_WAYS = ways(['enter keeps', 'enter'], ['Esc clears', 'escape'], ['tab searches', 'tab']);
const SEARCH_WAYS = ways(['enter next', 'enter'], ['Esc leaves', 'escape'], ['tab filters', 'tab']);

/** What went wrong or happened, in as many rows as it takes, else the row of the keys. */
export const footerLines = (screen: Screen): readonly Line[] => {
  const told = toldOf(screen);
  return told === null
    ? [keysLine(screen)]
    : toldRows(screen).map(row => lineToWidth([run(' '), run(row, told.tone)], screen.layout.columns));
};

/** The filter being typed, else the keys. */
export const keysLine = (screen: Screen): Line => {
  const { view, state, layout, glyphs } = screen;
  const width = layout.columns;
  if (view.overlay?.kind === 'planning')
    return lineToWidth([run(' Looking again before the plan', 'strong')], width);
  if (view.filterOpen) {
    const [word, text] = view.searching ? ['search', view.search] : ['filter', view.filter];
    const typed: Line = [run(` ${word} `, 'key'), run(text, 'strong'), run(glyphs.caret, 'key')];
    return lineToWidth(spread(typed, view.searching ? SEARCH_WAYS : FILTER_WAYS, width), width);
  }
  const context = contextOf(view);
  const labelled = offered(context, { view, state, row: null, targets: [], finding: null });
  const leave = leaveText(context, labelled, width);
  const filter: Line = context === 'main' && view.filter !== '' ? [run(`/${view.filter} `, 'mark')] : [];
  const position: Line =
    layout.tabs || context !== 'main' ? [] : [run(positionText(screen).trimEnd(), 'faint'), run(' ')];
  const right: Line = leave
    ? [clickable(run(leave, 'faint'), { key: 'escape' }), run(' ')]
    : [...filter, ...position];
  return lineToWidth(
    spread(hints(labelled, width - lineWidth(right) - 1), right, width),
    width,
    glyphs.ellipsis,
  );
};
