import type { SweepResult } from '../act/sweep/run.ts';
import { plural } from '../model/format.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Outcome, OutcomeKind } from '../model/plan.ts';
import { summarise } from '../words/outcomes.ts';

/** What an act left running is left alone for a while: trying every ten seconds helps nobody and fills the log. */
const REST_SECONDS = 600;
const ACTS_KEPT = 10;

const OVER: ReadonlySet<OutcomeKind> = new Set(['ended', 'killed', 'gone', 'zombie']);

/** What guard has done since it started. */
export class Account {
  ended = 0;
  reclaimedBytes = 0;
  readonly acts: { readonly at: number; readonly text: string }[] = [];
  readonly #rests = new Map<IdentityKey, number>();

  note(text: string, wall: number): void {
    this.acts.push({ at: wall, text });
    if (this.acts.length > ACTS_KEPT) this.acts.shift();
  }

  /** Takes outcomes; whatever is not over rests, with its root. */
  take(outcomes: readonly Outcome[], roots: ReadonlyMap<IdentityKey, IdentityKey>, at: number): void {
    for (const outcome of outcomes) {
      const key = keyOf(outcome);
      if (outcome.outcome === 'ended' || outcome.outcome === 'killed') this.ended += 1;
      this.reclaimedBytes += outcome.freed;
      if (!OVER.has(outcome.outcome)) this.#rests.set(roots.get(key) ?? key, at + REST_SECONDS);
    }
  }

  resting(at: number): ReadonlySet<IdentityKey> {
    for (const [key, until] of this.#rests) if (until <= at) this.#rests.delete(key);
    return new Set(this.#rests.keys());
  }
}

/** `3 ended, 312 MiB freed`, with the names of what was ended. */
export const endingText = (what: string, outcomes: readonly Outcome[]): string => {
  const names = [...new Set(outcomes.filter(({ outcome }) => OVER.has(outcome)).map(({ name }) => name))];
  const told = names.length === 0 ? '' : `: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}`;
  return `${what}: ${summarise(outcomes)}${told}`;
};

export const sweepText = ({ outcomes, sessions, files }: SweepResult): string => {
  const over = sessions.filter(({ outcome }) => outcome === 'ended' || outcome === 'gone').length;
  const done = files.filter(({ outcome }) => outcome === 'done').length;
  const parts = [
    ...(outcomes.length === 0 ? [] : [summarise(outcomes)]),
    ...(over === 0 ? [] : [plural(over, 'session')]),
    plural(done, 'file'),
  ];
  return `sweep: ${parts.join(', ')}`;
};
