import { statSync } from 'node:fs';
import type { TestContext } from 'vitest';

let current: TestContext | null = null;

/** Every test says that it is under way. The storm and the soak, which are no tests, have none. */
export const underWay = (test: TestContext): void => {
  current = test;
};

/** Leaves the test under way out because the machine or the user lacks something; `left-out.ts` says so at the end. */
export const lacking = (sentence: string): never => {
  if (current === null) throw new Error(sentence);
  return current.skip(sentence);
};

/** In CI a program that is missing is a failure: `.ci/run` sets REAPTOP_CI, and installs them. */
export const notInstalled = (program: string, debian: string): never => {
  const sentence = `${program} is not installed (Debian package "${debian}").`;
  if (process.env.REAPTOP_CI !== undefined) throw new Error(sentence);
  return lacking(sentence);
};

/** In the user namespace of an ordinary user root's directories are a stranger's, and nothing below them is trusted. */
export const needsRootsDirectories = (): void => {
  if (statSync('/').uid !== 0) lacking('The directories of root are a stranger’s here (a user namespace).');
};
