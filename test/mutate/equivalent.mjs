/**
 * Mutants that no test can notice, because they change nothing that can be seen; each with the reason. The report
 * leaves them out of the score, and says so when one of them is none any more.
 */
export const EQUIVALENT = [];
