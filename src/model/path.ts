/** The directory a path lies in; '' for one directly below the root. */
export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** The last part of a path. */
export const lastPartOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The directory of an orchestrator's task, `…/TASK-20251029-225000-abcdef12`, that a path lies in. */
export const orchestratedTaskDirectory = (path: string): string | null =>
  /^.*\/TASK-[^/]+(?=\/)/.exec(path)?.[0] ?? null;
