import type { ActRequest } from '../model/act-request.ts';
import type { FindingAction } from '../model/finding.ts';
import { type Plan, spellBack } from '../model/plan.ts';
import { cells } from '../model/text.ts';
import { choresText, countSteps, reclaimable } from './plan.ts';

type Worded = {
  readonly [A in ActRequest['act']]: (request: Extract<ActRequest, { act: A }>) => string;
};

const word = (words: Worded, request: ActRequest): string =>
  // The table's type guarantees that the entry takes this request; the compiler cannot relate the two unions.
  (words[request.act] as (request: ActRequest) => string)(request);

const SOUGHT: Worded = {
  end: ({ force }) => (force ? 'Kill at once' : 'End'),
  clean: () => 'Clean what is proven leaked',
  zombies: () => 'Zombies',
  signal: ({ signal }) => `Signal ${signal}`,
  fix: ({ finding }) => `Fix ${finding.id}`,
};

/** `Clean what is proven leaked: 10 processes, 3.2 GiB reclaimable`, or the figure alone where that is too long. */
export const planTitle = (request: ActRequest, plan: Plan, room = Number.POSITIVE_INFINITY): string => {
  const chores = choresText(plan);
  const counted = [plan.steps.length === 0 && chores !== '' ? '' : countSteps(plan), chores];
  const told = `${word(SOUGHT, request)}: ${counted.filter(Boolean).join(', ')}`;
  const whole = `${told}${reclaimable(plan)}`;
  return cells(whole) <= room || plan.bytes === 0 ? whole : `${told}, ${spellBack(plan)}`;
};

const MENDS = {
  clean: 'ends',
  zombies: 'may end',
  end: 'ends',
  continue: 'sends SIGCONT to',
  sweep: 'ends',
  'remove-file': 'ends',
  'stop-session': 'ends',
} satisfies Record<FindingAction, string>;

const DOES: Worded = {
  end: () => 'ends',
  clean: () => 'ends',
  zombies: () => 'may end',
  signal: ({ signal }) => `sends ${signal} to`,
  fix: ({ finding }) => MENDS[finding.action ?? 'end'],
};

/** `ends`, `may end`, `sends SIGSTOP to`: what a plan for this does to a process. */
export const doesTo = (request: ActRequest): string => word(DOES, request);
