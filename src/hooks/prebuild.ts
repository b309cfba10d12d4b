import { spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync } from 'node:fs';
import { constants as os } from 'node:os';
import { join } from 'node:path';
import { lockPath, ownerOf } from '../act/record/file-lock.ts';
import { endTree, findProgram, onSignals, withLock, withoutHangup } from '../act/run-child.ts';
import type { Identity } from '../model/identity.ts';
import { nameAndPid } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { leanProject } from '../observe/files/project.ts';
import { lockCarriers } from '../observe/lock-carriers.ts';
import { identityAt } from '../observe/one-process.ts';
import { errorSentence, openOwn, writeWhole } from '../observe/state/own-file.ts';
import { makeStateDirectory, stateDirectory } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE, EXIT_LOCKED } from '../output.ts';
import { type BuildHolder, takeBuildLock, underLock, whileHeld } from './exclusive-lock.ts';
import { buildsOf } from './running-builds.ts';

export interface PrebuildOptions {
  readonly timeoutMs: number;
  /** `lake clean` first. */
  readonly force: boolean;
  readonly verbose: boolean;
  /** Exit as the build does. */
  readonly strict: boolean;
}

export interface PrebuildGround {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly out: { write(text: string): void };
  readonly err: { write(text: string): void };
  readonly ignoresHangup: boolean;
}

const LOG = 'prebuild.log';
const MOST_LOG_BYTES = 4 * 1024 ** 2;
/** As timeout(1) and the shells have it. */
const TIMED_OUT = 124;
const NOT_STARTED = 126;

interface Log {
  readonly path: string | null;
  write(text: string): void;
  close(): void;
}

/** Where the output goes; a full disk costs the log, never the build. */
const openLog = (directory: string | null): Log => {
  const none: Log = { path: null, write: () => {}, close: () => {} };
  if (directory === null) return none;
  try {
    makeStateDirectory(directory);
    const path = join(directory, LOG);
    const fd = openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    fchmodSync(fd, 0o600);
    if (fstatSync(fd).size > MOST_LOG_BYTES) ftruncateSync(fd);
    const write = (text: string): void => {
      try {
        if (fstatSync(fd).size < MOST_LOG_BYTES) writeWhole(fd, text);
      } catch {
        // the disk is full
      }
    };
    return { path, write, close: () => closeSync(fd) };
  } catch {
    return none;
  }
};

interface Ran {
  readonly code: number;
  /** Why it was ended before its end; null: it came to it. */
  readonly cut: 'timeout' | 'signal' | null;
}

interface LakeRun {
  readonly program: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lock: number | null;
  /** What was started under the lock and left lake's tree. */
  readonly others: () => readonly Identity[];
  readonly output: (text: string) => void;
  readonly ignoresHangup: boolean;
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Runs lake in a session of its own; when the time is over, or a signal ends us, its whole tree is ended. */
const runLake = (
  words: readonly string[],
  timeoutMs: number,
  { program, project, env, lock, others, output, ignoresHangup }: LakeRun,
): Promise<Ran> =>
  new Promise(resolve => {
    const lake = [program, ...words];
    const [command = '', ...args] = ignoresHangup ? withoutHangup(lake) : lake;
    const child = spawn(command, args, {
      cwd: project,
      env,
      stdio: withLock(['ignore', 'pipe', 'pipe'], lock),
      detached: true,
    });
    const streams = [child.stdout, child.stderr].filter(stream => stream !== null);
    const root = child.pid === undefined ? null : identityAt(child.pid);
    let ending: Promise<Ran> | null = null;
    const end = (as: Ran): void => {
      ending ??= endTree(root === null ? [] : [root], others).then(() => {
        // What outlived it may still hold our pipes open.
        for (const stream of streams) stream.destroy();
        return as;
      });
    };
    const timer = setTimeout(() => end({ code: TIMED_OUT, cut: 'timeout' }), timeoutMs);
    const stopListening = onSignals(ENDING, signal => {
      if (signal === 'SIGHUP' && ignoresHangup) return;
      end({ code: 128 + os.signals[signal], cut: 'signal' });
    });
    const finish = (ran: Ran): void => {
      clearTimeout(timer);
      stopListening();
      resolve(ending ?? ran);
    };
    for (const stream of streams) stream.setEncoding('utf8').on('data', output);
    child.on('error', error => {
      output(`${error.message}\n`);
      finish({ code: NOT_STARTED, cut: null });
    });
    child.on('close', (code, signal) =>
      finish({ code: code ?? 128 + (signal === null ? 0 : os.signals[signal]), cut: null }),
    );
  });

const build = async ({ force, timeoutMs }: PrebuildOptions, run: LakeRun): Promise<Ran> => {
  const startedAt = performance.now();
  const left = (): number => Math.max(1, timeoutMs - (performance.now() - startedAt));
  if (force) {
    const cleaned = await runLake(['clean'], left(), run);
    if (cleaned.cut !== null) return cleaned;
  }
  return runLake(['build'], left(), run);
};

/** Builds, and says how that went. */
const run = async (
  options: PrebuildOptions,
  log: Log,
  end: (code: number, sentence: string) => number,
  lake: LakeRun,
): Promise<number> => {
  const startedAt = performance.now();
  log.write(`[${new Date().toISOString()}] lake build in ${visible(lake.project)}\n`);
  let ran: Ran;
  try {
    ran = await build(options, lake);
  } catch (error) {
    return end(EXIT_FAILURE, `WARNING: Pre-build could not run: ${errorSentence(error)}`);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const where = log.path === null ? '' : `; its output is in ${visible(log.path)}`;
  if (ran.cut === 'signal') {
    log.write(`Pre-build ended by a signal after ${seconds}s\n`);
    return ran.code;
  }
  const sentence =
    ran.cut === 'timeout'
      ? `WARNING: Pre-build timed out after ${seconds}s (non-fatal)${where}`
      : ran.code === 0
        ? `Pre-build completed in ${seconds}s`
        : `WARNING: Pre-build failed with exit code ${ran.code} after ${seconds}s (non-fatal)${where}`;
  log.write(`${sentence}\n`);
  return end(ran.code, sentence);
};

/** `reaptop prebuild`: a warm cache before the first call of a language server. Failing is no reason to stop anybody. */
export const prebuild = async (options: PrebuildOptions, ground: PrebuildGround): Promise<number> => {
  const { env, cwd, out, ignoresHangup } = ground;
  const directory = stateDirectory(env);
  const project = leanProject(cwd);
  const end = (code: number, sentence: string): number => {
    out.write(`${sentence}\n`);
    return options.strict ? code : 0;
  };
  if (project === null)
    return end(EXIT_FAILURE, 'No pre-build: this is not a Lean project (no lean-toolchain, no lakefile).');
  const lake = findProgram('lake', env);
  if (lake.status === 'missing')
    return end(
      lake.code,
      `No pre-build: ${lake.code === 127 ? 'there is no lake in PATH' : visible(lake.why)}.`,
    );
  const mine: BuildHolder = {
    ...ownerOf(),
    by: 'exclusive',
    key: project,
    session: null,
    toolUseId: null,
    what: 'reaptop prebuild',
    since: Date.now(),
  };
  const [other] = buildsOf(project);
  if (other !== undefined)
    return end(EXIT_LOCKED, `No pre-build: ${nameAndPid('lake build', other.pid)} runs here already.`);
  const lock = directory === null ? null : takeBuildLock(directory, mine, Date.now());
  if (lock?.status === 'held')
    return end(
      EXIT_LOCKED,
      `No pre-build: ${nameAndPid(visible(lock.holder.what), lock.holder.pid)} holds the project's lock.`,
    );
  const log = openLog(directory);
  const work = (held: number | null): Promise<number> =>
    run(options, log, end, {
      program: lake.path,
      project,
      env: underLock(env, mine),
      lock: held,
      ignoresHangup,
      others: () => (directory === null ? [] : lockCarriers(mine.nonce, lockPath(directory, mine.key))),
      output: text => {
        log.write(text);
        if (options.verbose) out.write(text.split('\n').map(visible).join('\n'));
      },
    });
  try {
    return await (directory === null || lock?.status !== 'taken'
      ? work(null)
      : whileHeld(directory, mine, work));
  } finally {
    log.close();
  }
};
