import { spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync } from 'node:fs';
import { join } from 'node:path';
import { endTree } from '../act/children/end-tree.ts';
import { programAt } from '../act/children/run-child.ts';
import {
  type BuildHolder,
  describeBuildLock,
  releaseBuildLock,
  takeBuildLock,
} from '../act/hooks/build-lock.ts';
import { buildsOf } from '../collect/builds.ts';
import { visible } from '../model/text.ts';
import { leanProject } from '../observe/files/project.ts';
import { identityAt } from '../observe/procfs/kin.ts';
import { errorSentence, openOwn, writeWhole } from '../observe/state/own-file.ts';
import { makeStateDirectory, stateDirectory } from '../observe/state/state-directory.ts';
import { nameAndPid } from '../words/process.ts';
import { EXIT_FAILURE, EXIT_LOCKED } from './exit-codes.ts';

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
}

const LOG = 'prebuild.log';
const MOST_LOG_BYTES = 4 * 1024 ** 2;
/** As timeout(1) and the shells have it. */
const TIMED_OUT = 124;
const NOT_FOUND = 127;

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
  readonly timedOut: boolean;
}

/** Runs lake in a session of its own; when the time is over its whole tree is ended. */
const runLake = (
  words: readonly string[],
  timeoutMs: number,
  project: string,
  env: NodeJS.ProcessEnv,
  on: { readonly start: (pid: number) => void; readonly output: (text: string) => void },
): Promise<Ran> =>
  new Promise(resolve => {
    const child = spawn('lake', [...words], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const root = child.pid === undefined ? null : identityAt(child.pid);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (root !== null)
        void endTree(root).then(() => {
          // What left the tree may still hold our pipes open.
          child.stdout.destroy();
          child.stderr.destroy();
        });
    }, timeoutMs);
    if (child.pid !== undefined) on.start(child.pid);
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', on.output);
    child.on('error', error => {
      clearTimeout(timer);
      on.output(`${error.message}\n`);
      resolve({ code: NOT_FOUND, timedOut });
    });
    child.on('close', code => {
      clearTimeout(timer);
      resolve({ code: timedOut ? TIMED_OUT : (code ?? 1), timedOut });
    });
  });

const build = async (
  options: PrebuildOptions,
  { env, out }: PrebuildGround,
  project: string,
  log: Log,
  onStart: (pid: number) => void,
): Promise<Ran> => {
  const startedAt = performance.now();
  const on = {
    start: onStart,
    output: (text: string): void => {
      log.write(text);
      if (options.verbose) out.write(text.split('\n').map(visible).join('\n'));
    },
  };
  const left = (): number => Math.max(1, options.timeoutMs - (performance.now() - startedAt));
  if (options.force) {
    const cleaned = await runLake(['clean'], left(), project, env, on);
    if (cleaned.timedOut) return cleaned;
  }
  return runLake(['build'], left(), project, env, on);
};

/** `reaptop prebuild`: a warm cache before the first call of a language server. Failing is no reason to stop anybody. */
export const prebuild = async (options: PrebuildOptions, ground: PrebuildGround): Promise<number> => {
  const { env, cwd, out } = ground;
  const directory = stateDirectory(env);
  const project = leanProject(cwd);
  const end = (code: number, sentence: string): number => {
    out.write(`${sentence}\n`);
    return options.strict ? code : 0;
  };
  if (project === null)
    return end(EXIT_FAILURE, 'No pre-build: this is not a Lean project (no lean-toolchain, no lakefile).');
  if (programAt('lake', env) === null) return end(NOT_FOUND, 'No pre-build: there is no lake in PATH.');
  const mine: BuildHolder = {
    ...(identityAt(process.pid) ?? { pid: process.pid, start: '' }),
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
  const startedAt = performance.now();
  log.write(`[${new Date().toISOString()}] lake build in ${visible(project)}\n`);
  try {
    const ran = await build(options, ground, project, log, pid => {
      const child = identityAt(pid);
      if (directory !== null && child !== null) describeBuildLock(directory, { ...mine, child });
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const where = log.path === null ? '' : `; its output is in ${visible(log.path)}`;
    const sentence = ran.timedOut
      ? `WARNING: Pre-build timed out after ${seconds}s (non-fatal)${where}`
      : ran.code === 0
        ? `Pre-build completed in ${seconds}s`
        : `WARNING: Pre-build failed with exit code ${ran.code} after ${seconds}s (non-fatal)${where}`;
    log.write(`${sentence}\n`);
    return end(ran.code, sentence);
  } catch (error) {
    return end(EXIT_FAILURE, `WARNING: Pre-build could not run: ${errorSentence(error)}`);
  } finally {
    log.close();
    if (directory !== null) releaseBuildLock(directory, mine);
  }
};
