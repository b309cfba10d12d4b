export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_FAIL_ON = 3;
export const EXIT_SURVIVED = 4;
/** EX_TEMPFAIL: try again later. */
export const EXIT_LOCKED = 75;
export const EXIT_INTERRUPTED = 130;

/** What the program tells its caller; the manual and the README have the same table. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'fine'],
  [EXIT_FAILURE, 'failure (the process list could not be read, another clean-up is running)'],
  [EXIT_USAGE, 'usage: one sentence and the usage line; also an unreadable file or an invalid config'],
  [EXIT_FAIL_ON, '`--fail-on SEVERITY` was met'],
  [EXIT_SURVIVED, 'something in the plan survived, or the system forbade it'],
  [EXIT_LOCKED, '`exclusive`: the lock could not be taken; else it exits as its command does'],
  [EXIT_INTERRUPTED, 'Ctrl-C'],
];
