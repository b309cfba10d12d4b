import files from './equivalent/files.mjs';
import hooks from './equivalent/hooks.mjs';
import judge from './equivalent/judge.mjs';
import rest from './equivalent/rest.mjs';
import terminate from './equivalent/terminate.mjs';

/**
 * Mutants that no test can notice, because they change nothing that can be seen; each with the reason. `from` is what
 * was changed, in a line that holds `code`. The report leaves them out of the score, and says so when one of them is
 * none any more.
 */
export const EQUIVALENT = [...files, ...hooks, ...judge, ...terminate, ...rest];
