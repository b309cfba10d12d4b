import type { Severity } from './finding.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { OtherOutcome, OutcomeKind } from './plan.ts';
import type { AgentSession } from './snapshot.ts';

/** Themes of the live screen, each with what it is for: help, the manual and the config's errors list these. */
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
export const COLUMN_IDS = [
  'verdict',
  'pid',
  'mem',
  'tree',
  'cpu',
  'age',
  'state',
  'ports',
  'kind',
  'tty',
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** Sessions alone; their servers, shells and builds too; every process. */
export const LEVELS = [1, 2, 3] as const;
export type Level = (typeof LEVELS)[number];

/** What the setup screen changes and saves. */
export interface UiSettings {
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

/** How loud a word is; the words beside it always say the same. Which colour that is, each face knows. */
export type Tone = 'plain' | 'faint' | 'strong' | 'good' | 'warn' | 'bad';

export const SEVERITY_TONES = { info: 'faint', warn: 'warn', critical: 'bad' } as const satisfies Record<
  Severity,
  Tone
>;

export const OUTCOME_TONES = {
  ended: 'good',
  killed: 'good',
  gone: 'faint',
  zombie: 'warn',
  respawned: 'warn',
  survived: 'bad',
  refused: 'warn',
  denied: 'bad',
} as const satisfies Record<OutcomeKind, Tone>;

/** Of what is no signal. */
export const OTHER_STEP_TONES = {
  done: 'good',
  gone: 'faint',
  skipped: 'warn',
  failed: 'bad',
} as const satisfies Record<OtherOutcome['outcome'], Tone>;

export const HEARTBEAT_TONES = {
  fine: 'good',
  warn: 'warn',
  critical: 'bad',
  unreadable: 'warn',
  leftover: 'faint',
} as const satisfies Record<Heartbeat['state'], Tone>;

export const SESSION_TONES = { busy: 'good', idle: 'faint', waiting: 'warn' } as const satisfies Record<
  NonNullable<AgentSession['doing']>,
  Tone
>;
