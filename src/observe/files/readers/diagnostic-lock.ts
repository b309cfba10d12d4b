import { type Reader, taskOfPath, understood } from '../understood.ts';

/** `.diagnostic-lock`: an empty file that `touch` made. Only its age and place say anything. */
export const readDiagnosticLock: Reader = ({ path }) => understood({ task: taskOfPath(path) });
