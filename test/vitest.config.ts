import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ownNamespace } from './support/own-namespace.ts';

/** A program that starts Node in a pid namespace of its own, where the machine allows one (`run.mjs`). */
const apart = process.env.REAPTOP_TEST_NODE;

const shuffled = { shuffle: { files: true, tests: false } };

/** The manual's pages are text, as the build has them. */
const pages = {
  name: 'manual-pages',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.endsWith('.md') ? { code: `export default ${JSON.stringify(code)};`, map: null } : null,
};

/** A module without types, because the build runs before there is anything that could check them. */
const { dropInOf } = (await import(new URL('../src/build/ink/patches.mjs', import.meta.url).href)) as {
  dropInOf: (name: string, importer: string) => string | undefined;
};

/** Ink with the own `Output`, as the program has it. It also saves a quarter of the screens' time. */
const inkAsShipped = {
  name: 'ink-as-shipped',
  enforce: 'pre' as const,
  resolveId: (name: string, importer = '') => dropInOf(name, importer),
};

export default defineConfig({
  plugins: [pages, inkAsShipped],
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    server: { deps: { inline: ['ink'] } },
    // What did not change since the last run is not transformed again.
    experimental: { fsModuleCache: true },
    reporters: ['default', './support/left-out.ts'],
    globalSetup: ['./support/global-setup.ts'],
    setupFiles: ['./support/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait for processes, not for the processor: one worker per core, and one more.
    maxWorkers: availableParallelism() + 1,
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
          // They judge the whole machine, and another test's agent is on it: beside each other only where they do not
          // see each other, the longest first. Most of their time is waiting: for a grace, a second look, a terminal.
          name: 'whole',
          include: ['e2e/**/*.test.ts'],
          setupFiles: [fileURLToPath(new URL('support/nothing-left.ts', import.meta.url))],
          ...(apart === undefined
            ? { fileParallelism: false }
            : { pool: ownNamespace(apart), maxWorkers: 5 }),
          sequence: { groupOrder: 1 },
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
