import type { ProcessFacts } from '../../model/process.ts';

/** Everybody above (PID 1 aside: it adopts, and starts little) and below a process, itself included. */
export const familiesAmong = (
  processes: Iterable<Pick<ProcessFacts, 'pid' | 'ppid'>>,
): ((pid: number) => ReadonlySet<number>) => {
  const parents = new Map<number, number>();
  const children = new Map<number, number[]>();
  for (const { pid, ppid } of processes) {
    parents.set(pid, ppid ?? 0);
    const siblings = children.get(ppid ?? 0);
    if (siblings === undefined) children.set(ppid ?? 0, [pid]);
    else siblings.push(pid);
  }
  return pid => {
    const kin = new Set([pid]);
    for (const member of kin) for (const child of children.get(member) ?? []) kin.add(child);
    for (let up = parents.get(pid) ?? 0; up > 1 && !kin.has(up); up = parents.get(up) ?? 0) kin.add(up);
    return kin;
  };
};
