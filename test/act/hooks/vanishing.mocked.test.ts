import { readdirSync, realpathSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeHeld } from '../../../src/act/hooks/progress-file.ts';
import { inDirectory } from '../../../src/act/sweep/held-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** Somebody else removes it right before we do. */
const others = vi.hoisted(() => ({ faster: false }));
vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    rmSync: (path: string, options?: object) => {
      if (others.faster) fs.rmSync(path);
      fs.rmSync(path, options);
    },
  };
});

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  others.faster = false;
  await sandbox.close();
});

test('a file that somebody else removes in this moment is gone all the same', () => {
  const root = realpathSync(sandbox.path('work'));
  sandbox.write('work/file', 'x');
  others.faster = true;
  expect(inDirectory(root, root, held => removeHeld(held, 'file'))).toBe(true);
  expect(readdirSync(root)).toEqual([]);
});
