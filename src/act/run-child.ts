import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { constants as os } from 'node:os';
import { delimiter, join } from 'node:path';
import { isatty } from 'node:tty';
import { forestOf } from '../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import { LOCK_DESCRIPTOR } from '../observe/lock-carriers.ts';
import { allKin, identityAt, isRunning, presenceAt } from '../observe/one-process.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { type Signalled, signalIdentity } from './send-signal.ts';

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The file of the lock it runs under, which everything below it inherits; null: there is none. */
  readonly lock: number | null;
  /** SIGHUP ends neither us nor it. */
  readonly ignoresHangup: boolean;
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

/** The path of a program; else the exit code of shells: 127 when there is none, 126 when it may not be run. */
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

/**
 * Whether we were started to outlive our terminal, as with nohup: there is one, and neither stdin, stdout nor stderr is
 * it. nohup also turns SIGHUP off, but Node turns it on again before any of our code runs.
 */
export const outlivesTerminal = (): boolean => {
  if ([0, 1, 2].some(isatty)) return false;
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false; // no terminal: who sends SIGHUP means it
  }
};

/** The command as it is started when it must outlive the terminal: Node would give it a SIGHUP that ends it. */
export const withoutHangup = (words: readonly string[]): readonly string[] => [
  '/bin/sh',
  '-c',
  `trap '' HUP; exec "$@"`,
  'sh',
  ...words,
];

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;
/** The terminal sends these to the child itself. */
const FROM_THE_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);

/** Calls back for every such signal that reaches us. */
export const onSignals = <S extends NodeJS.Signals>(
  signals: readonly S[],
  call: (signal: S) => void,
): (() => void) => {
  const handlers = signals.map(signal => {
    const handler = (): void => call(signal);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
};

/** Every signal that reaches us goes on. One that ends a program goes to everything below the child as well. */
const passSignals = (ignoresHangup: boolean) => {
  let child: ChildProcess | null = null;
  let root: Identity | null = null;
  const told = new Map<string, Identity>();
  const stop = [
    onSignals(OTHERS, signal => child?.kill(signal)),
    onSignals(ENDING, signal => {
      if (signal === 'SIGHUP' && ignoresHangup) return;
      const below = root === null ? [] : treeBelow([root]).filter(({ pid }) => pid !== root?.pid);
      for (const member of below) told.set(keyOf(member), member);
      if (FROM_THE_TERMINAL.has(signal) && process.stdin.isTTY === true) return;
      child?.kill(signal);
      for (const member of below) void signalIdentity(THIS_MACHINE, member, signal);
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
  { cwd, env, lock, ignoresHangup }: ChildOptions,
): Promise<{ readonly code: number; readonly why: string | null }> =>
  new Promise(resolve => {
    const found = findProgram(words[0] ?? '', env);
    if (found.status === 'missing') return resolve({ code: found.code, why: found.why });
    const [program = '', ...args] = ignoresHangup ? withoutHangup(words) : words;
    const passing = passSignals(ignoresHangup);
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

const GRACE_MS = 2000;
const POLL_MS = 50;
/** A tree that outruns as many rounds of KILL is left to the lock, which stays held while it runs. */
const KILL_ROUNDS = 40;

/** What ending a tree needs of a machine. */
export interface TreeMachine extends Signalled {
  readonly kin: typeof allKin;
  readonly isRunning: typeof isRunning;
  readonly clock: Clock;
}

const THIS_MACHINE: TreeMachine = {
  readOnly: null,
  presence: presenceAt,
  kin: allKin,
  isRunning,
  clock: REAL_CLOCK,
};

/** Everything below these now, themselves included. */
const treeBelow = (roots: Iterable<Identity>, machine = THIS_MACHINE): readonly Identity[] => {
  const kin = machine.kin();
  const tops = [...roots].flatMap(({ pid, start }) => {
    const found = kin.get(pid);
    return found?.start === start ? [found] : [];
  });
  const forest = forestOf(kin.values(), place => place);
  return [...new Set(tops.flatMap(top => forest.subtreeOf(top)))].map(({ pid, start }) => ({ pid, start }));
};

/**
 * Ends trees that we started ourselves, whole: TERM, a little time, KILL, until nothing of them runs. What was once
 * seen in one stays in it, also after its parent ended; `others` finds what left it before. True: nothing is left.
 */
export const endTree = async (
  roots: readonly Identity[],
  others: () => readonly Identity[] = () => [],
  machine = THIS_MACHINE,
): Promise<boolean> => {
  const { clock } = machine;
  const known = new Map(roots.map(root => [keyOf(root), root]));
  const look = (): Identity[] => {
    for (const member of [...treeBelow(known.values(), machine), ...others()])
      known.set(keyOf(member), member);
    return [...known.values()].filter(member => machine.isRunning(member) === true);
  };
  const told = new Set<IdentityKey>();
  const until = clock.now() + GRACE_MS;
  for (let left = look(); left.length > 0 && clock.now() < until; left = look()) {
    for (const member of left) {
      if (told.has(keyOf(member))) continue;
      told.add(keyOf(member));
      await signalIdentity(machine, member, 'SIGTERM');
    }
    await clock.wait(POLL_MS);
  }
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const left = look();
    if (left.length === 0) return true;
    for (const member of left) await signalIdentity(machine, member, 'SIGKILL');
    await clock.wait(POLL_MS);
  }
  return look().length === 0;
};
