import type { HookSession } from '../../model/hook.ts';
import { spellBytes } from '../../model/units.ts';

/** However often a limit is passed, a session is asked once in this time. */
export const ASK_AGAIN_MS = 5 * 60_000;

export interface MemoryPressure {
  readonly now: number;
  /** RSS and swap of the agent's own process; null: not known. */
  readonly memory: number | null;
  readonly limitBytes: number;
  /** Of the session or subagent whose hook this is. */
  readonly turns: number;
  readonly turnsLimit: number | null;
  readonly askedAt: HookSession['askedAt'];
}

export interface Pressure {
  /** What to say; null: nothing is added to the session's context. */
  readonly say: string | null;
  readonly askedAt: HookSession['askedAt'];
}

const SAVE =
  'Save your progress now, return what you have as a partial result with the point to resume from, and end.';

/** The circuit breaker: an agent that outgrows its memory, or its turns, is stopped while its work can still be saved. */
export const pressureOn = (facts: MemoryPressure): Pressure => {
  const { now, memory, limitBytes, turns, turnsLimit, askedAt } = facts;
  const due = (last: number | null): boolean => last === null || now < last || now - last >= ASK_AGAIN_MS;
  const heavy = memory !== null && memory >= limitBytes && due(askedAt.memory);
  const long = turnsLimit !== null && turns > turnsLimit && due(askedAt.turns);
  if (!heavy && !long) return { say: null, askedAt };
  const why = [
    ...(heavy
      ? [`this session's process uses ${spellBytes(memory)}, over its limit of ${spellBytes(limitBytes)}`]
      : []),
    ...(long ? [`this is turn ${turns}, over the limit of ${turnsLimit}`] : []),
  ].join(', and ');
  return {
    say: `reaptop: ${why}. ${SAVE}`,
    askedAt: { memory: heavy ? now : askedAt.memory, turns: long ? now : askedAt.turns },
  };
};
