import type { AskedBy, EndPolicy } from '../../model/plan.ts';
import { VERDICTS } from '../../model/snapshot.ts';

export type { AskedBy, EndPolicy };

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
