import { defineConfig } from 'vitest/config';
import { GROUPS } from './groups.mjs';

const group = process.env.REAPTOP_MUTATE_GROUP;

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: GROUPS[group].tests,
    exclude: ['**/property.test.ts'],
    testTimeout: 20_000,
  },
});
