import { defineConfig } from 'vitest/config';

/** The tests that run the mutated code in their own process, and quickly: what waits for real processes waits too long. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: [
      'judge/plan/**/*.test.ts',
      'judge/rules/**/*.test.ts',
      'act/{contract,newcomers,outside,perform,summary,zombies}.test.ts',
      'act/record/*.test.ts',
      'act/sweep/*.test.ts',
      'act/portable/tree-sweep.test.ts',
      'observe/contract.test.ts',
    ],
    exclude: ['**/property.test.ts'],
    testTimeout: 20_000,
  },
});
