import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeStateDirectory } from '../../../src/observe/state/state-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

const { rival } = vi.hoisted(() => ({
  rival: { before: null as (() => void) | null, after: null as (() => void) | null },
}));

/** Somebody else who makes directories right before and right after each of our own tries. */
vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const taking = (which: 'before' | 'after'): void => {
    const act = rival[which];
    rival[which] = null;
    act?.();
  };
  return {
    ...fs,
    mkdirSync: (path: string, options: object) => {
      taking('before');
      try {
        return fs.mkdirSync(path, options);
      } finally {
        taking('after');
      }
    },
  };
});

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const target = (): string => sandbox.path('home/a/b/reaptop');
const theyMake = (path: string): void => void mkdirSync(path, { recursive: true });

it.each([
  ['its parents after we missed them', () => (rival.after = () => theyMake(dirname(target())))],
  ['all of it after we missed it', () => (rival.after = () => theyMake(target()))],
  ['all of it before we tried', () => (rival.before = () => theyMake(target()))],
])('is there when somebody else makes %s', (_, prepare) => {
  prepare();
  makeStateDirectory(target());
  expect(statSync(target()).mode & 0o777).toBe(0o700);
});

it('says so where no directory can be made', () => {
  expect(() => makeStateDirectory('/proc/nowhere/reaptop')).toThrow(/takes no directory/);
});
