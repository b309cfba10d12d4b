import type { TestContext } from 'vitest';

let current: TestContext | null = null;

/** Every test says that it is under way. The storm and the soak, which are no tests, have none. */
export const underWay = (test: TestContext): void => {
  current = test;
};

/**
 * Leaves the test under way out because the machine lacks something, and says so. In CI (`.ci/run` sets REAPTOP_CI, and
 * installs what is lacking) that is a failure.
 */
export const lacking = (sentence: string): never => {
  if (current === null || process.env.REAPTOP_CI !== undefined) throw new Error(sentence);
  process.stderr.write(`Left out: ${current.task.name}: ${sentence}\n`);
  return current.skip(sentence);
};
