import type { ColumnId, ThemeChoice, ThemeName, UiSettings } from '../../model/ui-settings.ts';
import type { Background } from '../terminal/background.ts';

/** What a piece of text means. Components name the meaning; only this file knows colours. */
export const TONES = [
  'plain',
  'faint',
  'strong',
  'title',
  'cursor',
  'heading',
  'key',
  'rule',
  'frame',
  'good',
  'warn',
  'bad',
  'leak',
  'reason',
  'suspect',
  'live',
  'protected',
  'unknown',
  'agent',
  'server',
  'build',
  'group',
  'asleep',
  'mark',
  'graph',
  'selected',
] as const;
export type ThemeTone = (typeof TONES)[number];

/** SGR parameters per tone: 1 bold, 2 faint, 4 underline, 7 inverse, 30–37 and 90–97 colours, 38;5;N one of 256. */
export type Theme = Readonly<Record<ThemeTone, string>>;

/** The 16 ANSI colours, so that the user's own palette decides what red looks like. */
const DEFAULT = {
  plain: '',
  faint: '2',
  strong: '1',
  title: '1;36',
  cursor: '1;36',
  heading: '4',
  key: '1;36',
  rule: '2',
  frame: '36',
  good: '32',
  warn: '33',
  bad: '1;31',
  leak: '1;31',
  reason: '31',
  suspect: '33',
  live: '2;32',
  protected: '34',
  unknown: '2',
  agent: '1',
  server: '36',
  build: '35',
  group: '1;34',
  asleep: '2',
  mark: '1;33',
  graph: '36',
  // A shade of grey under the colours of the row.
  selected: '48;5;237',
} satisfies Theme;

export const THEMES = {
  default: DEFAULT,
  // On white yellow, cyan and green vanish in most palettes: these are fixed dark colours of the 256, each with a
  // contrast to white of at least 4.5 to 1 (a test measures it).
  light: {
    ...DEFAULT,
    faint: '38;5;241',
    title: '1;38;5;25',
    cursor: '1;38;5;25',
    key: '1;38;5;25',
    rule: '38;5;245',
    frame: '38;5;25',
    good: '38;5;22',
    warn: '38;5;94',
    bad: '1;38;5;124',
    leak: '1;38;5;124',
    reason: '38;5;124',
    suspect: '38;5;94',
    live: '38;5;22',
    protected: '38;5;19',
    unknown: '38;5;241',
    server: '38;5;24',
    build: '38;5;90',
    group: '1;38;5;19',
    asleep: '38;5;241',
    mark: '1;38;5;90',
    graph: '38;5;24',
    selected: '48;5;253',
  },
  // Nothing faint, everything that matters bold.
  'high-contrast': {
    ...DEFAULT,
    faint: '',
    title: '1;97',
    cursor: '1;97',
    heading: '1;4',
    key: '1;93',
    rule: '',
    frame: '1;96',
    good: '1;92',
    warn: '1;93',
    bad: '1;91',
    leak: '1;91',
    reason: '1;91',
    suspect: '1;93',
    live: '1;92',
    protected: '1;96',
    unknown: '',
    agent: '1;97',
    server: '1;96',
    build: '1;95',
    group: '1;97',
    asleep: '',
    mark: '1;93',
    graph: '1;96',
    selected: '1;7',
  },
} satisfies Record<ThemeName, Theme>;

/** NO_COLOR asks for no colour; bold, faint and inverse still carry the selection and the headings. */
const withoutColour = (parameters: string): string =>
  parameters
    .replace(/;?38;5;\d+/, '')
    .replace(/48;5;\d+/, '7')
    .split(';')
    .filter(Boolean)
    .filter(code => Number(code) < 30)
    .join(';');

const PLAIN_THEMES = new Map<ThemeName, Theme>();

/** The same object for the same theme: rows are painted again only when the theme changes. */
export const themeFor = (name: ThemeName, colour: boolean): Theme => {
  const theme = THEMES[name];
  if (colour) return theme;
  const plain =
    PLAIN_THEMES.get(name) ??
    (Object.fromEntries(TONES.map(tone => [tone, withoutColour(theme[tone])])) as Record<ThemeTone, string>);
  PLAIN_THEMES.set(name, plain);
  return plain;
};

/** How the screen looks now: what the config says until the setup screen changes it. */
export interface Look {
  readonly theme: ThemeChoice;
  readonly columns: readonly ColumnId[] | null;
  readonly mouse: boolean;
  /** As the terminal or the environment reports it; null: unknown. */
  readonly background: Background | null;
}

export const lookOf = (
  { theme, columns, mouse }: Omit<UiSettings, 'interval'>,
  background: Background | null,
): Look => ({ theme, columns, mouse, background });

/** An unknown background counts as dark: most terminals are. */
export const themeNameOf = ({ theme, background }: Look): ThemeName =>
  theme === 'auto' ? (background === 'light' ? 'light' : 'default') : theme;
