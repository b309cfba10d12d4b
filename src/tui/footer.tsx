import { Box } from 'ink';
import type { ReactNode } from 'react';
import { doesNothing } from '../model/plan.ts';
import { cells, cut, wrap } from '../model/text.ts';
import { keyName } from './help/key-names.ts';
import {
  BINDINGS,
  type Binding,
  type BindingName,
  type Context,
  contextOf,
  type KeyContext,
  pidToType,
} from './keys/bindings.ts';
import { useKeys } from './keys/use-keys.ts';
import { positionText } from './panels/panel.tsx';
import type { Screen } from './screen.ts';
import { FILTER_KEYS, SEARCH_KEYS, TYPED_FILTER, TYPED_SEARCH } from './tree/filter-keys.ts';
import { Line, Lines } from './ui/line.tsx';
import { clickable, type Runs, run, runsWidth, spread } from './ui/runs.ts';
import type { ThemeTone } from './ui/theme.ts';
import { useScreen } from './ui/use-screen.ts';

/** A notice never covers more rows than this. */
const MOST_ROWS = 3;

type Telling = Pick<Screen, 'view' | 'state' | 'layout' | 'glyphs'>;

/** What the footer shows in place of the keys. */
export const noticeOf = ({
  view,
  state,
}: Pick<Screen, 'view' | 'state'>): { text: string; tone: ThemeTone } | null =>
  view.notice ?? (state.error === null ? null : { text: state.error, tone: 'bad' });

/** The notice in rows: a reason that is cut before its end explains nothing. */
export const noticeRows = (screen: Telling): readonly string[] => {
  const { columns, rows, headerRows } = screen.layout;
  const notice = noticeOf(screen);
  if (notice === null) return [];
  const room = Math.max(1, columns - 2);
  const most = Math.max(1, Math.min(MOST_ROWS, rows - headerRows - 2));
  const all = wrap(notice.text, room);
  if (all.length <= most) return all;
  return [...all.slice(0, most - 1), cut(all.slice(most - 1).join(' '), room, screen.glyphs.ellipsis)];
};

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
const hint = (b: Binding): Runs => {
  const pieces = [run(keyName(b.keys[0]!), 'key'), run(` ${b.label}`)];
  return [
    ...(b.name === 'go' ? pieces : pieces.map(piece => clickable(piece, { key: b.keys[0]! }))),
    run('  '),
  ];
};

/** What cannot be done in the past, nor to a recorded table. */
const CHANGES: ReadonlySet<BindingName> = new Set([
  'end-process',
  'kill',
  'fix',
  'clean',
  'zombies',
  'signal',
  'pane',
]);

const IN_THE_PAST: Runs = [
  [
    ['[', '['],
    [' ]', ']'],
    [' step  ', ''],
  ],
  [
    ['{', '{'],
    [' }', '}'],
    [' event  ', ''],
  ],
  [
    ['Esc', 'escape'],
    [' now  ', 'escape'],
  ],
]
  .flat()
  .map(([text = '', key = '']) =>
    key === '' ? run(text) : clickable(run(text, text.startsWith(' n') ? 'plain' : 'key'), { key }),
  );

/** The main screen shows all its hints, and a disabled key explains itself; an overlay shows only keys that can act. */
const offered = (context: Context, keyContext: KeyContext): readonly Binding[] =>
  BINDINGS.filter(
    b =>
      b.context === context &&
      b.label !== '' &&
      (context === 'main' || (b.disabledReason?.(keyContext) ?? null) === null) &&
      (b.name !== 'go' || pidToType(keyContext.view) === null) &&
      (keyContext.state.readOnly === null || !CHANGES.has(b.name)),
  );

const hintWidth = (b: Binding): number => keyName(b.keys[0]!).length + b.label.length + 3;

/** `x end  c clean  ? help`, as many as toWidth, in the order of the table. */
const hints = (labelled: readonly Binding[], width: number): Runs => {
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

/** How to leave: `Esc` where not all keys fit beside it, because the missing ones do not leave. */
const leaveText = (context: Context, labelled: readonly Binding[], width: number): string => {
  const text = LEAVES[context] ?? '';
  const room = width - cells(text) - 3;
  const taken = labelled.reduce((sum, b) => sum + hintWidth(b), 0);
  return taken <= room ? text : text.replace('any other key', 'Esc');
};

const ways = (...all: readonly (readonly [text: string, key: string])[]): Runs =>
  all.flatMap(([text, key], i) => [
    clickable(run(text, 'faint'), { key }),
    run(i === all.length - 1 ? ' ' : '  '),
  ]);

const FILTER_WAYS = ways(['enter keeps', 'enter'], ['Esc clears', 'escape'], ['tab searches', 'tab']);
const SEARCH_WAYS = ways(['enter next', 'enter'], ['Esc leaves', 'escape'], ['tab filters', 'tab']);

/** The filter being typed, else the keys. */
const keysRuns = (screen: Screen): Runs => {
  const { view, state, layout, glyphs } = screen;
  const width = layout.columns;
  if (view.overlay?.kind === 'planning') return [run(' Refreshing before planning', 'strong')];
  if (view.filterOpen) {
    const [word, text] = view.searching ? ['search', view.search] : ['filter', view.filter];
    const typed: Runs = [run(` ${word} `, 'key'), run(text, 'strong'), run(glyphs.caret, 'key')];
    return spread(typed, view.searching ? SEARCH_WAYS : FILTER_WAYS, width);
  }
  const context = contextOf(view);
  const labelled = offered(context, { view, state, row: null, targets: [], finding: null });
  // A plan that does nothing says itself how to leave it.
  const saidAbove = view.overlay?.kind === 'plan' && doesNothing(view.overlay.plan);
  const leave = saidAbove ? '' : leaveText(context, labelled, width);
  const filter: Runs = context === 'main' && view.filter !== '' ? [run(`/${view.filter} `, 'mark')] : [];
  const position: Runs =
    layout.tabs || context !== 'main' ? [] : [run(positionText(screen).trimEnd(), 'faint'), run(' ')];
  const right: Runs = leave
    ? [clickable(run(leave, 'faint'), { key: 'escape' }), run(' ')]
    : [...filter, ...position];
  const travelling: Runs = context === 'main' && state.moment ? [run(' '), ...IN_THE_PAST] : [];
  const room = width - runsWidth(right) - 1 - runsWidth(travelling);
  return spread([...travelling, ...hints(labelled, room)], right, width);
};

/** The last row, or rows: what went wrong or happened, what is being typed, or the keys. */
export const Footer = (): ReactNode => {
  const screen = useScreen();
  const { columns } = screen.layout;
  useKeys('filter', FILTER_KEYS, TYPED_FILTER);
  useKeys('search', SEARCH_KEYS, TYPED_SEARCH);
  const notice = noticeOf(screen);
  if (notice === null)
    return (
      <Box flexShrink={0}>
        <Line runs={keysRuns(screen)} width={columns} />
      </Box>
    );
  return (
    <Box flexDirection="column" flexShrink={0} aria-label={notice.text}>
      <Lines of={noticeRows(screen).map(row => [run(' '), run(row, notice.tone)])} width={columns} />
    </Box>
  );
};
