import type { ActRequest } from '../../model/act-request.ts';
import type { Plan } from '../../model/plan.ts';
import { liveWarnings } from '../../words/live-plan.ts';
import { doesTo } from '../../words/request.ts';
import { wrap } from '../../words/wrap.ts';
import { type Line, run } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';

/** The first lines of a plan that would end live work, in colour. */
export const liveLines = (
  { plan, request }: { readonly plan: Plan; readonly request: ActRequest },
  { snapshot, layout }: Screen,
): readonly Line[] => {
  const told = liveWarnings(plan, snapshot, doesTo(request));
  if (told.length === 0) return [];
  const width = Math.max(10, layout.columns - 4);
  return [...told.flatMap(text => wrap(text, width).map((part): Line => [run(`  ${part}`, 'bad')])), []];
};
