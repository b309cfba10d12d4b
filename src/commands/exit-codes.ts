/** What the program tells its caller; the README has the same table. */
export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_FAIL_ON = 3;
export const EXIT_SURVIVED = 4;
export const EXIT_INTERRUPTED = 130;
