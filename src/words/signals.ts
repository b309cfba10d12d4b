import type { SignalName } from '../model/plan.ts';

/** What each signal is for, in the order of the chooser. */
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

export const shortSignal = (signal: SignalName): string => signal.slice(3);
