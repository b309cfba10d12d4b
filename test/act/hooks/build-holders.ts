import type { BuildHolder } from '../../../src/act/hooks/build-lock.ts';

export const MINUTE = 60_000;
export const NOW = 1_000 * MINUTE;

/** A tool call of this process, which builds the one project. */
export const holder = (pid: number, part: Partial<BuildHolder> = {}): BuildHolder => ({
  pid,
  start: `s${pid}`,
  boot: 'boot',
  namespace: 'pid:[1]',
  nonce: `n${pid}`,
  by: 'hook',
  key: '/work/project',
  session: 'one',
  toolUseId: 'use',
  what: 'lean_build',
  since: NOW,
  ...part,
});
