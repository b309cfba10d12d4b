import { type Interpreter, list } from './families.ts';

/** Programs whose first file argument is the real program. Versions (`python3.12`) are taken off before the look-up. */
export const INTERPRETERS: readonly Interpreter[] = [
  {
    id: 'node',
    programs: ['node', 'nodejs'],
    valueFlags: list(`
      -r --require --import --loader --experimental-loader --env-file -C --conditions --title --icu-data-dir
      --inspect-port`),
    evalFlags: list('-e --eval -p --print -pe'),
  },
  {
    id: 'bun',
    programs: ['bun'],
    valueFlags: list('-r --preload --env-file --cwd -c --config'),
    evalFlags: ['-e', '--eval'],
    commands: ['run'],
  },
  {
    id: 'deno',
    programs: ['deno'],
    valueFlags: list('-c --config --import-map --env-file --lock --cert'),
    evalFlags: ['eval'],
    commands: ['run'],
  },
  {
    id: 'python',
    // macOS frameworks start `Python.app/Contents/MacOS/Python`, which is no desktop app.
    programs: ['python', 'Python', 'pypy', 'pythonw'],
    valueFlags: ['-W', '-X', '--check-hash-based-pycs'],
    evalFlags: ['-c'],
    moduleFlags: ['-m'],
  },
  {
    id: 'ts-node',
    programs: ['ts-node', 'ts-node-esm'],
    valueFlags: list('-P --project -r --require'),
    evalFlags: ['-e', '--eval'],
  },
  { id: 'ruby', programs: ['ruby'], valueFlags: ['-r', '-I'], evalFlags: ['-e'] },
  { id: 'perl', programs: ['perl'], valueFlags: ['-I'], evalFlags: ['-e', '-E'] },
  { id: 'php', programs: ['php'], valueFlags: ['-d', '-c'], evalFlags: ['-r'], scriptFlags: ['-f'] },
  {
    id: 'java',
    programs: ['java'],
    valueFlags: list(`
      -cp -classpath --class-path --module-path --add-opens --add-modules --add-exports`),
    scriptFlags: ['-jar'],
  },
  { id: 'dotnet', programs: ['dotnet'], commands: ['exec'] },
];
