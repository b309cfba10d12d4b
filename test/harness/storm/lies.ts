import { rawProcess } from '../../support/proc.ts';
import type { Leaks } from './leaks.ts';
import { type Identity, keyOf, lives } from './machine.ts';

/** What a clean-up said of itself. */
export interface Told {
  readonly steps: readonly Identity[];
  readonly outcomes: readonly (Identity & {
    readonly outcome: string;
    readonly why: string;
    readonly freed: number;
  })[];
  /** When it said so, in epoch milliseconds. */
  readonly at: number;
}

const SAYS_ENDED = new Set(['ended', 'killed', 'gone', 'respawned']);
const SAYS_ALIVE = new Set(['survived', 'denied']);
const MAY_FREE = new Set(['ended', 'killed', 'zombie', 'respawned']);

/** Longer than any end takes to be noticed: who was last seen running before that had ended, and not survived. */
const LONG_BEFORE_MS = 1500;

/** What was said and is not so. */
export const liesIn = (told: Told, leaks: Leaks): string[] => {
  const lies: string[] = [];
  const heard = new Set(told.outcomes.map(keyOf));
  for (const step of told.steps)
    if (!heard.has(keyOf(step))) lies.push(`${keyOf(step)} was planned and has no outcome`);
  for (const outcome of told.outcomes) {
    const said = `${keyOf(outcome)} ${outcome.outcome} (${outcome.why})`;
    if (SAYS_ENDED.has(outcome.outcome) && lives(outcome)) lies.push(`${said}, and it runs`);
    if (outcome.outcome === 'zombie' && lives(outcome)) lies.push(`${said}, and it runs`);
    const seen = leaks.lastSeen(outcome);
    if (SAYS_ALIVE.has(outcome.outcome) && !lives(outcome) && (seen ?? 0) < told.at - LONG_BEFORE_MS)
      lies.push(`${said}, and it had ended long before (${rawProcess(outcome.pid)?.state ?? 'no such pid'})`);
    const successor = /started it again as (\d+)/.exec(outcome.why)?.[1];
    if (successor !== undefined && leaks.known.every(({ pid }) => pid !== Number(successor)))
      lies.push(`${said}, and that one is nobody's leak`);
    if (!MAY_FREE.has(outcome.outcome) && outcome.freed > 0)
      lies.push(`${said}, and claims ${outcome.freed} bytes`);
  }
  return lies;
};
