import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { GROUPS } from './groups.mjs';
import { warmThreads } from './warm-threads.mjs';

const { tests, warm = false } = GROUPS[process.env.REAPTOP_MUTATE_GROUP];

const SLOW = '**/property.test.ts';

export default defineConfig({
  plugins: warm ? [warmThreads('parts')] : [],
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    setupFiles: ['./support/setup.ts'],
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        // The modules are loaded once for each mutant, not once for each file: 1 s instead of 7 for one that survives.
        test: { name: 'parts', include: tests, exclude: [SLOW], isolate: false },
      },
    ],
  },
});
