import { rmSync } from 'node:fs';

/** Polls until the condition gives a truthy value, and returns it. Fails with `what` after a generous time: two cores may be shared with much else. */
export const until = async <T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 40_000 }: { timeoutMs?: number } = {},
): Promise<NonNullable<T>> => {
  const deadline = Date.now() + timeoutMs;
  let delay = 2;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as NonNullable<T>;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`, { cause: lastError });
    }
    await new Promise(done => setTimeout(done, delay));
    delay = Math.min(delay * 2, 50);
  }
};

/** `rmSync` lists a directory once: what a process on its way out creates meanwhile makes it fail, however often it tries. */
export const removed = (directory: string): Promise<boolean> =>
  until(`${directory} to be removed`, () => {
    rmSync(directory, { recursive: true, force: true });
    return true;
  });

/** A promise that the test itself fulfils. */
export const awaited = <T = void>() => {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
