/** Live figures of one process. */
export interface Usage {
  readonly rss: number;
  readonly cpuSeconds: number;
  readonly elapsedSeconds: number;
}

/** pids go to ps as one argument: this many stay far below the shortest limit of an argument list. */
const BATCH = 400;

/**
 * RSS, CPU time and age by pidusage. Always through its `ps` reader: its /proc reader keeps descriptors by
 * bare pid and answers with a dead process's after a pid was reused; its CPU percentages do the same.
 */
export const readUsage = async (pids: readonly number[]): Promise<ReadonlyMap<number, Usage>> => {
  const found = new Map<number, Usage>();
  if (pids.length === 0) return found;
  const { default: pidusage } = await import('pidusage');
  for (let from = 0; from < pids.length; from += BATCH) {
    try {
      const stats = await pidusage(pids.slice(from, from + BATCH), { usePs: true });
      for (const [pid, stat] of Object.entries(stats)) {
        if (stat === undefined || stat === null) continue;
        const { memory, ctime, elapsed } = stat;
        found.set(Number(pid), { rss: memory, cpuSeconds: ctime / 1000, elapsedSeconds: elapsed / 1000 });
      }
    } catch {
      // All of the batch ended meanwhile, or ps failed just now: figures stay unknown until the next look.
    }
  }
  // Its history is keyed by bare pid and would mix up processes.
  pidusage.clear();
  return found;
};
