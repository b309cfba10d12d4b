import childProcess, { type ChildProcess } from 'node:child_process';
import { PassThrough } from 'node:stream';
import type { SignalName } from '../../model/plan.ts';

type TreeKill = (pid: number, signal: string, done: (error?: Error) => void) => void;

const spawnForReal = childProcess.spawn;

/** A spawn whose failure (no `ps`, no more processes, no more descriptors) ends like a command that found nothing. */
const spawnWithoutCrash = (...args: Parameters<typeof spawnForReal>): ChildProcess => {
  const child: ChildProcess = spawnForReal(...args);
  child.on('error', () => {}); // its 'close' follows
  // Out of descriptors: node makes no pipes. It says 'close' itself; another would make tree-kill signal twice.
  child.stdout ??= new PassThrough();
  return child;
};

let loaded: Promise<TreeKill> | undefined;

/**
 * tree-kill lists children with a spawn it takes hold of when it is loaded, and nothing handles errors of that
 * spawn's errors: a missing `ps` would end the whole program. It gets one that cannot.
 */
const load = async (): Promise<TreeKill> => {
  childProcess.spawn = spawnWithoutCrash as typeof spawnForReal;
  try {
    return (await import('tree-kill')).default as TreeKill;
  } finally {
    childProcess.spawn = spawnForReal;
  }
};

/** Signals the process and what is below it now. The answer says what tree-kill says, which is little: verify afterwards. */
export const treeKill = async (pid: number, signal: SignalName): Promise<'done' | 'denied'> => {
  loaded ??= load();
  const run = await loaded;
  // Only EPERM gets here: it swallows ESRCH.
  return new Promise(resolve => run(pid, signal, error => resolve(error === undefined ? 'done' : 'denied')));
};
