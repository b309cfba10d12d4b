import type { SignalName } from '../../model/plan.ts';
import { VERDICTS, type Verdict } from '../../model/snapshot.ts';

/** Who asks for a plan; goes into the audit log. */
export type AskedBy = 'tui' | 'clean' | 'guard' | 'hook' | 'sweep';

/** What a plan may touch. Hard protection is in no policy: nobody can switch it off. */
export interface EndPolicy {
  readonly by: AskedBy;
  readonly signal: SignalName;
  /** Verdicts a target may have. With `live` among them, live members are taken too. */
  readonly verdicts: readonly Verdict[];
  /** A person reads this plan and may end soft-protected processes, each after typing its pid. */
  readonly allowSoft: boolean;
  /** A target must be at least this old. Its members need not be. */
  readonly minimumAgeSeconds: number;
}

/** `x` and `X`: it is the user's machine; everything but the hard-protected, after the plan. */
export const handPolicy = (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): EndPolicy => ({
  by: 'tui',
  signal,
  verdicts: VERDICTS,
  allowSoft: true,
  minimumAgeSeconds: 0,
});

/** `c`, `clean`, `guard` and hooks: proven leaks, and suspects only when asked for. */
export const leakPolicy = (
  by: AskedBy,
  options: { readonly suspects?: boolean; readonly minimumAgeSeconds?: number } = {},
): EndPolicy => ({
  by,
  signal: 'SIGTERM',
  verdicts: options.suspects === true ? ['leak', 'suspect'] : ['leak'],
  allowSoft: false,
  minimumAgeSeconds: options.minimumAgeSeconds ?? 0,
});

/** `sweep`: also a live agent, but only one whose own records say that it finished; the caller proves that. */
export const sweepPolicy = (): EndPolicy => ({
  by: 'sweep',
  signal: 'SIGTERM',
  verdicts: ['leak', 'suspect', 'live'],
  allowSoft: false,
  minimumAgeSeconds: 0,
});
