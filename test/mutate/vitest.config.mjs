import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { GROUPS } from './groups.mjs';
import { warmThreads } from './warm-threads.mjs';

const { tests, warm = false } = GROUPS[process.env.REAPTOP_MUTATE_GROUP];

const MOCKED = '**/*.mocked.test.ts';
const NOT_MOCKED = '**/!(*.mocked).test.ts';
const SLOW = '**/property.test.ts';

export default defineConfig({
  plugins: warm ? [warmThreads('parts')] : [],
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    setupFiles: ['./support/setup.ts'],
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        // The modules are loaded once for each mutant, not once for each file: 1 s instead of 7 for one that survives.
        test: { name: 'parts', include: tests, exclude: [MOCKED, SLOW], isolate: false },
      },
      {
        extends: true,
        // These put another module in the place of one of ours: nobody else may see it.
        test: { name: 'mocked', include: tests, exclude: [NOT_MOCKED] },
      },
    ],
  },
});
