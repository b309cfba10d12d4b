import type { JudgedProcess } from '../model/snapshot.ts';

/** How every sentence names a process: `claude (260)`. */
export const nameAndPid = (name: string, pid: number): string => `${name} (${pid})`;

export const calls = ({ name, facts }: Pick<JudgedProcess, 'name' | 'facts'>): string =>
  nameAndPid(name, facts.pid);
