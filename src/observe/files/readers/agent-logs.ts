import { basename } from 'node:path';
import { safeText } from '../json-fields.ts';

const NAMES = [
  /^(.+)_(?:stream|progress|findings)\.jsonl$/,
  /^agent_prompt_(.+)\.txt$/,
  /^deploy_(.+)\.json$/,
] as const;

/** The agent that one of an orchestrator's files belongs to, by the file's name. */
export const agentOfFile = (path: string): string | null => {
  const name = basename(path);
  for (const pattern of NAMES) {
    const id = pattern.exec(name)?.[1];
    if (id !== undefined) return safeText(id);
  }
  return null;
};

/** The task directory's name is the task's id. */
export const orchestratedTask = (path: string): string | null =>
  /\/(TASK-[\w-]{1,80})\//.exec(path)?.[1] ?? null;
