import type { Verdict } from '../model/snapshot.ts';

/** Four letters, so that the verdict is read and not guessed from a colour. */
export const VERDICT_WORDS = {
  live: 'live',
  leak: 'LEAK',
  suspect: 'susp',
  protected: 'prot',
  unknown: '?',
} satisfies Record<Verdict, string>;
