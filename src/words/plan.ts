import { plural } from '../model/format.ts';
import { type Plan, type Step, spellBack } from '../model/plan.ts';
import { shortSignal } from './signals.ts';

const isNudge = (step: Step): boolean => step.signal === 'SIGCHLD';

/**
 * How many, and what becomes of them: `3 processes`; for zombies `nudge 2; end 1 only if it stays idle`, because the
 * same parent is nudged first and ended only when that did not help.
 */
export const countSteps = ({ steps }: Pick<Plan, 'steps'>): string => {
  const nudged = steps.filter(isNudge).length;
  const ended = steps.length - nudged;
  if (nudged === 0) return plural(ended, 'process', 'processes');
  return ended === 0
    ? `nudge ${nudged}`
    : `nudge ${nudged}; end ${ended} only if ${ended === 1 ? 'it stays' : 'they stay'} idle`;
};

/** `, about 3.1 GiB reclaimable`, where there is something. */
export const reclaimable = (plan: Plan): string => (plan.bytes > 0 ? `, ${spellBack(plan)} reclaimable` : '');

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

/** `CONT`, `TERM or KILL`. */
export const signalNames = (steps: readonly Step[]): string =>
  [...new Set(steps.map(step => shortSignal(step.signal)))].join(' or ');

const ends = ({ signal }: Step): boolean => signal === 'SIGTERM' || signal === 'SIGKILL';

/** `TERM, KILL after 5 s`: what would really be sent. */
export const signalsSent = ({ steps }: Pick<Plan, 'steps'>, graceSeconds: number): string => {
  const ending = steps.filter(ends);
  if (ending.length === 0) return signalNames(steps);
  const nudge = steps.some(isNudge) ? 'CHLD first; ' : '';
  const grace = ending.some(({ signal }) => signal === 'SIGTERM') ? `, KILL after ${graceSeconds} s` : '';
  return `${nudge}${signalNames(ending)}${grace}`;
};

/** The same, and in which order where that matters: `TERM, KILL after 5 s, children first`. */
export const endingSignals = (plan: Pick<Plan, 'steps'>, graceSeconds: number): string =>
  `${signalsSent(plan, graceSeconds)}${plan.steps.some(ends) ? ', children first' : ''}`;

/** What stands above a plan in text: whether it happens now. */
export const planHeading = (acts: boolean, dryRun: boolean): string =>
  acts ? 'Ending' : dryRun ? 'Dry run: would end' : 'Would end';

/** Above what a plan does not touch. */
export const LEFT_ALONE = 'Left alone:';
