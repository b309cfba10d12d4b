import type { Interpreter } from './families.ts';

/** Programs whose first file argument is the real program. Versions (`python3.12`) are taken off before the look-up. */
export const INTERPRETERS: readonly Interpreter[] = [
  {
    id: 'node',
    // `MainThread` is what newer node versions tell the kernel.
    programs: ['node', 'nodejs', 'node-MainThread'],
    valueFlags: [
      '-r',
      '--require',
      '--import',
      '--loader',
      '--experimental-loader',
      '--env-file',
      '-C',
      '--conditions',
      '--title',
      '--icu-data-dir',
      '--inspect-port',
      '--stack-trace-limit',
    ],
    evalFlags: ['-e', '--eval', '-p', '--print', '-pe'],
  },
  {
    id: 'bun',
    programs: ['bun'],
    valueFlags: ['-r', '--preload', '--env-file', '--cwd', '-c', '--config'],
    evalFlags: ['-e', '--eval'],
    commands: ['run'],
  },
  {
    id: 'deno',
    programs: ['deno'],
    valueFlags: ['-c', '--config', '--import-map', '--env-file', '--lock', '--cert'],
    evalFlags: ['eval'],
    commands: ['run'],
  },
  {
    id: 'python',
    programs: ['python', 'Python', 'pypy', 'pythonw'],
    valueFlags: ['-W', '-X', '--check-hash-based-pycs'],
    evalFlags: ['-c'],
    moduleFlags: ['-m'],
  },
  {
    id: 'ts-node',
    programs: ['ts-node', 'ts-node-esm'],
    valueFlags: ['-P', '--project', '-r', '--require'],
    evalFlags: ['-e', '--eval'],
  },
  { id: 'ruby', programs: ['ruby'], valueFlags: ['-r', '-I'], evalFlags: ['-e'] },
  { id: 'perl', programs: ['perl'], valueFlags: ['-I'], evalFlags: ['-e', '-E'] },
  { id: 'php', programs: ['php'], valueFlags: ['-d', '-c'], evalFlags: ['-r'], scriptFlags: ['-f'] },
  {
    id: 'java',
    programs: ['java'],
    valueFlags: [
      '-cp',
      '-classpath',
      '--class-path',
      '--module-path',
      '--add-opens',
      '--add-modules',
      '--add-exports',
    ],
    scriptFlags: ['-jar'],
  },
  { id: 'dotnet', programs: ['dotnet'], commands: ['exec'] },
];
