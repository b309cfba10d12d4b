import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const shuffled = { shuffle: { files: true, tests: false } };

/** The manual's pages are text, as the build has them. */
const pages = {
  name: 'manual-pages',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.endsWith('.md') ? { code: `export default ${JSON.stringify(code)};`, map: null } : null,
};

export default defineConfig({
  plugins: [pages],
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    reporters: ['default', './support/left-out.ts'],
    globalSetup: ['./support/global-setup.ts'],
    setupFiles: ['./support/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait for processes, not for the processor: one worker per core, and one more.
    maxWorkers: '150%',
    projects: [
      {
        extends: true,
        test: {
          // One process for many files: loading the modules anew for each would be a third of all the work.
          name: 'parts',
          include: ['**/*.test.ts', '**/*.test.tsx'],
          exclude: ['e2e/**', 'harness/**'],
          isolate: false,
          sequence: { ...shuffled, groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          // One file at a time, after the parts: these judge the whole machine, and another test's agent is on it.
          name: 'whole',
          include: ['e2e/**/*.test.ts'],
          fileParallelism: false,
          sequence: { ...shuffled, groupOrder: 1 },
        },
      },
      {
        extends: true,
        // Only when asked for (npm run faults): every command under every fault takes a minute.
        test: { name: 'faults', include: ['harness/faults/*.test.ts'], sequence: { groupOrder: 2 } },
      },
    ],
  },
});
