import { parseTime } from '../times.ts';
import { notUnderstood, type Reader, understood } from '../understood.ts';

/** `.claude/tmp/workflow-active`: `<task number> <ISO time>` while a workflow runs. */
export const readWorkflow: Reader = ({ text }) => {
  const match = /^\s*(\d{1,9})(?:\s+(\S{1,40}))?\s*$/.exec(text);
  if (match === null) return notUnderstood(text.trim() === '' ? 'empty' : 'not `<task> <time>`');
  return understood({ task: String(Number(match[1])), createdAt: parseTime(match[2]) });
};
