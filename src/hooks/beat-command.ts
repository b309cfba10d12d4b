import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../engine/load-config.ts';
import { visible } from '../model/text.ts';
import { specsRoot } from '../observe/files/project.ts';
import { errorSentence } from '../observe/state/own-file.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { EXIT_FAILURE } from '../output.ts';
import { writeBeat } from './progress-file.ts';

export interface BeatOptions {
  readonly task?: string | undefined;
  readonly phase?: number | undefined;
  readonly operation?: string | undefined;
  readonly proof?: string | undefined;
  readonly session?: string | undefined;
  readonly status?: string | undefined;
}

/** The most it waits for another beat that is being written. */
const WAIT_MS = 1000;

/** `688` is specs/688_… as well as specs/0688_…; anything else names the directory itself. */
const taskDirectory = (task: string, cwd: string): { root: string; directory: string } => {
  const root = specsRoot(cwd);
  if (root === null) throw new UsageError('--task needs a directory called specs, here or above.');
  const specs = join(root, 'specs');
  const isMeant = (name: string): boolean => {
    const number = /^0*(\d+)_/.exec(name)?.[1];
    return name === task || (number !== undefined && number === task.replace(/^0+(?=\d)/, ''));
  };
  const [found, another] = readdirSync(specs).filter(isMeant);
  if (found === undefined)
    throw new UsageError(`--task ${visible(task)}: no such task in ${visible(specs)}.`);
  if (another !== undefined)
    throw new UsageError(
      `--task ${visible(task)}: both ${visible(found)} and ${visible(another)} are meant.`,
    );
  return { root, directory: join(specs, found) };
};

/** `reaptop beat`: for scripts and for agents without hooks. */
export const beatCommand = (
  options: BeatOptions,
  ground: {
    env: NodeJS.ProcessEnv;
    cwd: string;
    now: Date;
    out: { write(text: string): void };
    err: { write(text: string): void };
  },
): number => {
  const { env, cwd, now, err } = ground;
  const { task, ...said } = options;
  const place = task === undefined ? { root: cwd, directory: cwd } : taskDirectory(task, cwd);
  const number = task === undefined ? undefined : /^\d{1,9}$/.test(task) ? Number(task) : task;
  try {
    const limits = { state: stateDirectory(env), waitMs: WAIT_MS };
    writeBeat(place.root, place.directory, { ...said, task: number }, now, limits);
    return 0;
  } catch (error) {
    err.write(`reaptop: no heartbeat was written in ${visible(place.directory)}: ${errorSentence(error)}\n`);
    return EXIT_FAILURE;
  }
};
