import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as os } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Identity } from '../../model/identity.ts';
import { identityAt } from '../../observe/procfs/kin.ts';

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onStart: (child: Identity | null) => void;
}

/** As shells do it. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

/** Where a program is found; null: nowhere in PATH. */
export const programAt = (name: string, env: NodeJS.ProcessEnv): string | null => {
  const places = name.includes('/')
    ? [name]
    : (env.PATH ?? '').split(delimiter).map(directory => join(directory, name));
  return places.find(isExecutable) ?? null;
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    // A directory may be entered, which the system calls by the same name: it is no program.
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The kernel then ends the child when we are killed: nothing goes on without the lock it ran under. */
const tied = (words: readonly string[], env: NodeJS.ProcessEnv): readonly string[] => {
  const setpriv = process.platform === 'linux' ? programAt('setpriv', env) : null;
  return setpriv === null ? words : [setpriv, '--pdeathsig', 'TERM', '--', ...words];
};

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends these to the child itself. */
const FROM_THE_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);

/** Every signal that reaches us goes on to the child, which decides what becomes of it. */
const passSignals = (child: ChildProcess): (() => void) => {
  const handlers = PASSED_ON.map(signal => {
    const pass = (): void => {
      if (!(FROM_THE_TERMINAL.has(signal) && process.stdin.isTTY === true)) child.kill(signal);
    };
    process.on(signal, pass);
    return () => process.off(signal, pass);
  });
  return () => {
    for (const off of handlers) off();
  };
};

/** Runs a command in our place: our terminal, our signals, and its exit code as ours. */
export const runChild = (
  words: readonly string[],
  { cwd, env, onStart }: ChildOptions,
): Promise<{ readonly code: number; readonly why: string | null }> =>
  new Promise(resolve => {
    const [name = ''] = words;
    if (programAt(name, env) === null)
      return resolve({
        code: NOT_FOUND,
        why: `there is no program ${name === '' ? 'without a name' : name}`,
      });
    const [program = '', ...args] = tied(words, env);
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
    const stopPassing = passSignals(child);
    child.on('spawn', () => onStart(child.pid === undefined ? null : identityAt(child.pid)));
    child.on('error', error => {
      stopPassing();
      resolve({ code: NOT_STARTED, why: error.message });
    });
    child.on('close', (code, signal) => {
      stopPassing();
      resolve({ code: code ?? 128 + (signal === null ? 0 : os.signals[signal]), why: null });
    });
  });
