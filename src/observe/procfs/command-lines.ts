import type { Identity } from '../../model/identity.ts';
import { statAt } from './one-process.ts';
import { readArgv, readExeIfNeeded } from './process-facts.ts';
import { listDirectory, readLink } from './read.ts';

/** A process with a certain name, and what identifies its work. */
export interface NamedProcess extends Identity {
  readonly ppid: number;
  readonly comm: string;
  readonly argv: readonly string[];
  readonly exe: string | null;
  readonly cwd: string | null;
}

export const argvAt = (pid: number, root = '/proc'): readonly string[] | null => readArgv(root, pid);

/** Every running process with one of these names: one small read each for all the others. */
export const processesNamed = (names: ReadonlySet<string>, root = '/proc'): readonly NamedProcess[] => {
  const listed = listDirectory(root);
  if (!Array.isArray(listed)) return [];
  return listed.flatMap(name => {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? statAt(pid) : null;
    if (stat === null || !names.has(stat.comm) || stat.state === 'Z') return [];
    const argv = readArgv(root, pid);
    if (argv === null) return [];
    const { start, ppid, comm } = stat;
    const exe = readExeIfNeeded(root, pid, comm, argv);
    return [{ pid, start, ppid, comm, argv, exe, cwd: readLink(`${root}/${pid}/cwd`) }];
  });
};
