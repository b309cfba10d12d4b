import type { ActRequest } from '../../live/live.ts';
import type { Outcome, OutcomeKind, Plan, SignalName, Step } from '../../model/plan.ts';
import { countSteps, reclaimable } from '../../model/plan-words.ts';
import type { Tone } from './theme.ts';

/** Signals of the chooser, with what they are for. */
export const SIGNALS: readonly { readonly name: SignalName; readonly means: string }[] = [
  { name: 'SIGTERM', means: 'end, please: it may clean up first' },
  { name: 'SIGINT', means: 'interrupt, as Ctrl-C does' },
  { name: 'SIGHUP', means: 'the terminal is gone; some reload instead' },
  { name: 'SIGQUIT', means: 'quit with a core dump or a stack trace' },
  { name: 'SIGSTOP', means: 'stop where it is; SIGCONT goes on' },
  { name: 'SIGCONT', means: 'go on after a stop' },
  { name: 'SIGCHLD', means: 'look after your dead children' },
  { name: 'SIGUSR1', means: 'whatever the program made of it' },
  { name: 'SIGUSR2', means: 'whatever the program made of it' },
  { name: 'SIGKILL', means: 'end at once: it cannot clean up' },
];

const SOUGHT = {
  end: 'End',
  clean: 'Clean what is proven leaked',
  zombies: 'Zombies',
  signal: 'Signal',
} satisfies Record<ActRequest['act'], string>;

/** `Clean what is proven leaked: 10 processes, 3.2 GiB reclaimable`. */
export const planTitle = (request: ActRequest, plan: Plan): string => {
  const verb = request.act === 'end' && request.force ? 'Kill at once' : SOUGHT[request.act];
  const what = request.act === 'signal' ? `${verb} ${request.signal}` : verb;
  return `${what}: ${countSteps(plan)}${reclaimable(plan)}`;
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

export const shortSignal = (signal: SignalName): string => signal.slice(3);

export const OUTCOME_TONES = {
  ended: 'good',
  killed: 'good',
  gone: 'faint',
  zombie: 'warn',
  respawned: 'warn',
  survived: 'bad',
  refused: 'warn',
  denied: 'bad',
} satisfies Record<OutcomeKind, Tone>;

export const outcomeOf = (step: Step, outcomes: readonly Outcome[]): Outcome | null =>
  outcomes.find(o => o.pid === step.pid && o.start === step.start) ?? null;
