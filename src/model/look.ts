/** Themes of the live screen, each with what it is for: help, the README and the config's errors list these. */
export const THEME_WORDS = {
  default: 'for dark backgrounds: the 16 colours of your palette',
  light: 'for light backgrounds: dark colours, readable on white',
  'high-contrast': 'nothing faint, everything that matters bold and bright; for dark backgrounds',
} as const;
export type ThemeName = keyof typeof THEME_WORDS;

/** `auto` asks the terminal. */
export const THEME_CHOICES = ['auto', ...(Object.keys(THEME_WORDS) as ThemeName[])] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

export const AUTO_WORDS = 'light or default, as the background of the terminal is (OSC 11, else COLORFGBG)';

/** Columns of the tree, in the order they stand by themselves. */
export const COLUMN_IDS = ['verdict', 'pid', 'mem', 'tree', 'cpu', 'age', 'state', 'kind', 'tty'] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** What the setup screen changes and saves. */
export interface Settings {
  readonly theme: ThemeChoice;
  /** In order; null: the built-in choice by width. */
  readonly columns: readonly ColumnId[] | null;
  /** The wheel, clicks and double clicks; without it the terminal selects text. */
  readonly mouse: boolean;
  /** Seconds between two refreshes. */
  readonly interval: number;
}

/** Fastest and slowest refresh that make sense in a pane. */
export const INTERVAL_BOUNDS = [0.2, 3600] as const;
