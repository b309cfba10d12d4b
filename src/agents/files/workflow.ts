import { parseTime } from '../../model/time.ts';
import type { FileFormat } from './format.ts';
import { notUnderstood, type Reader, understood } from './reader.ts';

/** `.claude/tmp/workflow-active`: `<task number> <ISO time>` while a workflow runs. */
const readWorkflow: Reader = ({ text }) => {
  const match = /^\s*(\d{1,9})(?:\s+(\S{1,40}))?\s*$/.exec(text);
  if (match === null) return notUnderstood(text.trim() === '' ? 'empty' : 'not `<task> <time>`');
  return understood({ task: String(Number(match[1])), createdAt: parseTime(match[2]) });
};

export const workflow: FileFormat = {
  reader: { part: 'head', read: readWorkflow },
  lies: [['claude-tmp', 'workflow-active']],
  joins: 'project',
  project: 'place',
  aged: 'creation',
  signOfLife: null,
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: ['abandoned'],
  swept: 'remove',
  evidence: null,
};
