import { resolve } from 'node:path';
import { LAKE_COMMS } from '../agents/lean.ts';
import { recognise } from '../judge/recognise/recognise.ts';
import type { Identity } from '../model/identity.ts';
import { type NamedProcess, processesNamed } from '../observe/command-lines.ts';
import { projectOfDirectory } from '../observe/files/project.ts';
import { ageSeconds } from '../observe/one-process.ts';

export interface RunningBuild extends Identity {
  readonly name: string;
  readonly ageSeconds: number | null;
}

/** The directory that a lake works in: its cwd, or the one of its flag. */
const directoryOf = ({ argv, cwd }: NamedProcess): string | null => {
  if (cwd === null) return null;
  const at = argv.findIndex(word => word === '-d' || word === '--dir');
  const told = at >= 0 ? argv[at + 1] : argv.find(word => word.startsWith('--dir='))?.slice('--dir='.length);
  return told === undefined ? cwd : resolve(cwd, told);
};

/** Builds of this project, `lake serve` and `setup-file` left out. A wrapper and the lake below it are one. */
export const buildsOf = (project: string): readonly RunningBuild[] => {
  const lakes = processesNamed(LAKE_COMMS).filter(lake => recognise(lake).role === 'lake-build');
  const inside = lakes.filter(lake => {
    const directory = directoryOf(lake);
    return directory !== null && projectOfDirectory(directory) === project;
  });
  const pids = new Set(inside.map(({ pid }) => pid));
  return inside
    .filter(({ ppid }) => !pids.has(ppid))
    .map(({ pid, start }) => ({ pid, start, name: 'lake build', ageSeconds: ageSeconds({ pid, start }) }));
};
