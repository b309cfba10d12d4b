/** Time as an argument, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves early when the signal aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise(resolve => {
      if (signal?.aborted === true) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    }),
};
