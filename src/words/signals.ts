import type { SignalName } from '../model/plan.ts';

/** What each signal is for, in the order of the chooser. */
export const SIGNALS: readonly { readonly name: SignalName; readonly means: string }[] = [
  { name: 'SIGTERM', means: 'ask it to end; it may clean up first' },
  { name: 'SIGINT', means: 'interrupt, as Ctrl-C does' },
  { name: 'SIGHUP', means: 'the terminal is gone; some reload instead' },
  { name: 'SIGQUIT', means: 'quit with a core dump or a stack trace' },
  { name: 'SIGSTOP', means: 'pause it; SIGCONT resumes it' },
  { name: 'SIGCONT', means: 'resume after a pause' },
  { name: 'SIGCHLD', means: 'tell it that a child has ended' },
  { name: 'SIGUSR1', means: 'whatever the program uses it for' },
  { name: 'SIGUSR2', means: 'whatever the program uses it for' },
  { name: 'SIGKILL', means: 'end at once: it cannot clean up' },
];

export const shortSignal = (signal: SignalName): string => signal.slice(3);
