import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as os } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Identity, keyOf } from '../../model/identity.ts';
import { identityAt } from '../../observe/procfs/kin.ts';
import { LOCK_DESCRIPTOR } from '../../observe/procfs/lock-carriers.ts';
import { signalIdentity } from '../signal/signal-identity.ts';
import { endTree, OWN_CHILDREN, treeBelow } from './end-tree.ts';

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The file of the lock it runs under, which everything below it inherits; null: there is none. */
  readonly lock: number | null;
}

export type FoundProgram =
  | { readonly status: 'found'; readonly path: string }
  /** `code`: what shells exit with. */
  | { readonly status: 'missing'; readonly code: 126 | 127; readonly why: string };

const NOT_STARTED = 126;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
};

const isThere = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // below a file, or in a directory that we may not enter
  }
};

/** Where a program is found; else why not, as shells tell it: 127 where there is none, 126 where it may not be run. */
export const findProgram = (name: string, env: NodeJS.ProcessEnv): FoundProgram => {
  if (name === '') return { status: 'missing', code: 127, why: 'the command has no name' };
  const hasPath = name.includes('/');
  const paths = hasPath ? [name] : (env.PATH ?? '').split(delimiter).map(directory => join(directory, name));
  const path = paths.find(isExecutable);
  if (path !== undefined) return { status: 'found', path };
  const barred = paths.find(one => (hasPath ? isThere(one) : isThere(one) && isFile(one)));
  return barred === undefined
    ? { status: 'missing', code: 127, why: `command not found: ${name}` }
    : { status: 'missing', code: 126, why: `not an executable file: ${barred}` };
};

/** Where what a child inherits stands, by number; what lies between stays closed. */
export const withLock = (
  stdio: readonly ('inherit' | 'ignore' | 'pipe')[],
  lock: number | null,
): StdioOptions => {
  if (lock === null) return [...stdio];
  const all: ('inherit' | 'ignore' | 'pipe' | number)[] = [...stdio];
  while (all.length < LOCK_DESCRIPTOR) all.push('ignore');
  return [...all, lock];
};

/** The signals that were turned off when we were started, as the kernel writes them: Node turns all of them on again. */
const IGNORED_VARIABLE = 'REAPTOP_SIGIGN';

const isIgnored = (signal: NodeJS.Signals, env: NodeJS.ProcessEnv): boolean => {
  const mask = /^[0-9a-f]{1,16}$/.exec(env[IGNORED_VARIABLE] ?? '')?.[0] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(os.signals[signal] - 1)) & 1n) === 1n;
};

/** Started with nohup: what we start must outlive the terminal, too. */
export const asDetached = (words: readonly string[], env: NodeJS.ProcessEnv): readonly string[] =>
  isIgnored('SIGHUP', env) ? ['/bin/sh', '-c', `trap '' HUP; exec "$@"`, 'sh', ...words] : words;

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends these to the child itself. */
const FROM_THE_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);

/** Calls back for every such signal that reaches us; those that our caller ignores do nothing. */
export const onSignals = <S extends NodeJS.Signals>(
  signals: readonly S[],
  env: NodeJS.ProcessEnv,
  call: (signal: S) => void,
): (() => void) => {
  const handlers = signals.map(signal => {
    const handler = (): void => {
      if (!isIgnored(signal, env)) call(signal);
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
};

/** Every signal that reaches us goes on. One that ends a program goes to everything below the child as well. */
const passSignals = (env: NodeJS.ProcessEnv) => {
  let child: ChildProcess | null = null;
  let root: Identity | null = null;
  const told = new Map<string, Identity>();
  const stop = [
    onSignals(OTHERS, env, signal => child?.kill(signal)),
    onSignals(ENDING, env, signal => {
      const below = root === null ? [] : treeBelow([root]).filter(({ pid }) => pid !== root?.pid);
      for (const member of below) told.set(keyOf(member), member);
      if (FROM_THE_TERMINAL.has(signal) && process.stdin.isTTY === true) return;
      child?.kill(signal);
      for (const member of below) void signalIdentity(OWN_CHILDREN, member, signal);
    }),
  ];
  return {
    to: (started: ChildProcess): void => {
      child = started;
      root = started.pid === undefined ? null : identityAt(started.pid);
    },
    /** What was there when a signal came and outlived the child, ended: nothing else waits for it. */
    finish: async (): Promise<void> => {
      for (const off of stop) off();
      if (told.size > 0) await endTree([...told.values()]);
    },
  };
};

/** Runs a command in our place: our terminal, our signals, and its exit code as ours. */
export const runChild = (
  words: readonly string[],
  { cwd, env, lock }: ChildOptions,
): Promise<{ readonly code: number; readonly why: string | null }> =>
  new Promise(resolve => {
    const found = findProgram(words[0] ?? '', env);
    if (found.status === 'missing') return resolve({ code: found.code, why: found.why });
    const [program = '', ...args] = asDetached(words, process.env);
    const passing = passSignals(process.env);
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: withLock(['inherit', 'inherit', 'inherit'], lock),
    });
    passing.to(child);
    child.on('error', error => {
      void passing.finish().then(() => resolve({ code: NOT_STARTED, why: error.message }));
    });
    child.on('close', (code, signal) => {
      const as = code ?? 128 + (signal === null ? 0 : os.signals[signal]);
      void passing.finish().then(() => resolve({ code: as, why: null }));
    });
  });
