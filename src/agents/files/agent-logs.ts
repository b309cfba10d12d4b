import { safeText } from '../../model/json-fields.ts';
import { lastPartOf } from '../../model/path.ts';

/** The agent that one of an orchestrator's files belongs to: the first group of its name's pattern. */
export const agentNamedBy = (name: RegExp, path: string): string | null => {
  const id = name.exec(lastPartOf(path))?.[1];
  return id === undefined ? null : safeText(id);
};

/** The task directory's name is the task's id. */
export const orchestratedTask = (path: string): string | null =>
  /\/(TASK-[\w-]{1,80})\//.exec(path)?.[1] ?? null;
