import type { Severity } from '../model/finding.ts';
import type { Heartbeat } from '../model/heartbeat.ts';
import type { ChoreOutcome, OutcomeKind } from '../model/plan.ts';
import type { AgentSession } from '../model/snapshot.ts';

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
export const CHORE_TONES = {
  done: 'good',
  gone: 'faint',
  skipped: 'warn',
  failed: 'bad',
} as const satisfies Record<ChoreOutcome['outcome'], Tone>;

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
