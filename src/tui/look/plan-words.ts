import type { ActRequest } from '../../live/live.ts';
import { plural } from '../../model/format.ts';
import type { Outcome, Plan, Step } from '../../model/plan.ts';
import { countSteps, reclaimable } from '../../words/plan.ts';

const SOUGHT = {
  end: 'End',
  clean: 'Clean what is proven leaked',
  zombies: 'Zombies',
  signal: 'Signal',
  fix: 'Fix',
} satisfies Record<ActRequest['act'], string>;

/** `Clean what is proven leaked: 10 processes, 3.2 GiB reclaimable`. */
export const planTitle = (request: ActRequest, plan: Plan): string => {
  const verb = request.act === 'end' && request.force ? 'Kill at once' : SOUGHT[request.act];
  const what =
    request.act === 'signal'
      ? `${verb} ${request.signal}`
      : request.act === 'fix'
        ? `${verb} ${request.finding.id}`
        : verb;
  const chores = choresText(plan);
  const counted = [plan.steps.length === 0 && chores !== '' ? '' : countSteps(plan), chores];
  return `${what}: ${counted.filter(Boolean).join(', ')}${reclaimable(plan)}`;
};

/** `1 tmux session, 5 files`; empty when there is none. */
export const choresText = ({ chores = [] }: Plan): string => {
  const sessions = chores.filter(({ act }) => act === 'end-session').length;
  const jobs = chores.filter(({ act }) => act === 'claude-stop').length;
  const files = chores.length - sessions - jobs;
  return [
    sessions > 0 ? plural(sessions, 'tmux session') : '',
    jobs > 0 ? plural(jobs, 'background session') : '',
    files > 0 ? plural(files, 'file') : '',
  ]
    .filter(Boolean)
    .join(', ');
};

/**
 * The pids that must be typed: one per tree that holds a soft-protected process. The tree's root stands
 * for its members when it is protected itself.
 */
export const pidsToType = (plan: Plan): readonly number[] => {
  const guarded = plan.steps.filter(s => s.confirm);
  const roots = new Set(guarded.filter(s => s.pid === s.root.pid).map(s => s.pid));
  return [...new Set(guarded.map(s => (roots.has(s.root.pid) ? s.root.pid : s.pid)))];
};

export const outcomeOf = (step: Step, outcomes: readonly Outcome[]): Outcome | null =>
  outcomes.find(o => o.pid === step.pid && o.start === step.start) ?? null;
