import { defineConfig } from 'vitest/config';

/** The tests that run the mutated code in their own process, and quickly: what starts real processes waits too long. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: [
      'judge/plan/**/*.test.ts',
      'judge/rules/**/*.test.ts',
      'act/contract.test.ts',
      'act/record/*.test.ts',
    ],
    exclude: ['**/property.test.ts'],
    testTimeout: 20_000,
  },
});
