import type { ActRequest } from '../../live/live.ts';
import type { FindingAction } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { liveWarnings } from '../../words/live-plan.ts';
import { wrap } from '../../words/wrap.ts';
import { type Line, run } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';

const FIX_VERBS = {
  clean: 'ends',
  zombies: 'may end',
  end: 'ends',
  continue: 'sends SIGCONT to',
  sweep: 'ends',
  'remove-file': 'ends',
  'stop-session': 'ends',
} satisfies Record<FindingAction, string>;

const VERBS = {
  end: () => 'ends',
  clean: () => 'ends',
  zombies: () => 'may end',
  signal: request => (request.act === 'signal' ? `sends ${request.signal} to` : ''),
  fix: request => (request.act === 'fix' ? FIX_VERBS[request.finding.action ?? 'end'] : ''),
} satisfies Record<ActRequest['act'], (request: ActRequest) => string>;

/** The first lines of a plan that would end live work, in colour. */
export const liveLines = (
  { plan, request }: { readonly plan: Plan; readonly request: ActRequest },
  { snapshot, layout }: Screen,
): readonly Line[] => {
  const told = liveWarnings(plan, snapshot, VERBS[request.act](request));
  if (told.length === 0) return [];
  const width = Math.max(10, layout.columns - 4);
  return [...told.flatMap(text => wrap(text, width).map((part): Line => [run(`  ${part}`, 'bad')])), []];
};
