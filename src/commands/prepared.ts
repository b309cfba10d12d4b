import { type Flags, prepare, rememberedLineage } from '../engine/prepare.ts';

/** Where we were started; `/`, in which nothing is looked for unasked, when that directory is gone by now. */
export const currentDirectory = (): string => {
  try {
    return process.cwd();
  } catch {
    return '/'; // removed under our feet, as the work tree of a finished agent is
  }
};

/** The same for what is written, run or meant there: in `/` that would be done to something else. */
export const workDirectory = (): string => {
  try {
    return process.cwd();
  } catch {
    throw new Error('the current directory no longer exists: change to another one.');
  }
};

/** What every face starts from: the config, a system and a collector, for this process and where it stands. */
export const prepared = (flags: Flags) =>
  prepare(flags, process.env, currentDirectory(), rememberedLineage(process.env));
