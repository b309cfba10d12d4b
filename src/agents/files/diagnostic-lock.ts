import type { FileFormat } from './format.ts';
import { inTaskDirectories } from './places.ts';
import { type Reader, taskOfPath, understood } from './reader.ts';

/** `.diagnostic-lock`: an empty file that `touch` made. Only its age and place say anything. */
const readDiagnosticLock: Reader = ({ path }) => understood({ task: taskOfPath(path) });

export const diagnosticLock: FileFormat = {
  reader: { part: 'none', read: readDiagnosticLock },
  lies: inTaskDirectories('.diagnostic-lock'),
  joins: 'task-here',
  project: 'place',
  aged: 'sign',
  signOfLife: null,
  limits: 'lock-stale',
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: [],
  swept: 'remove',
  evidence: null,
};
