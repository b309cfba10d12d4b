import { readState } from '../../model/process.ts';
import { parseLsof } from './lsof.ts';
import { table } from './one-process.ts';
import { toolEnvironment } from './ps.ts';
import { wordsOf } from './table.ts';

const LSOF_MS = 1000;

/** Where these processes are, in one call. */
const directoriesOf = (pids: readonly number[]): ReadonlyMap<number, string> => {
  const { stdout } = process
    .getBuiltinModule('node:child_process')
    .spawnSync('lsof', ['-nPlw', '-F', 'pfn', '-a', '-p', pids.join(','), '-d', 'cwd'], {
      env: toolEnvironment(),
      timeout: LSOF_MS,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    });
  return new Map(parseLsof(stdout ?? '').map(({ pid, name }) => [pid, name]));
};

export const processesNamed = (names: ReadonlySet<string>) => {
  const rows = [...(table()?.values() ?? [])].filter(
    ({ name, stat }) => names.has(name) && readState(stat) !== 'Z',
  );
  const directories = rows.length === 0 ? null : directoriesOf(rows.map(({ pid }) => pid));
  return rows.map(({ pid, start, ppid, name, args }) => ({
    pid,
    start,
    ppid,
    comm: name,
    argv: wordsOf(name, args),
    exe: null,
    cwd: directories?.get(pid) ?? null,
  }));
};
