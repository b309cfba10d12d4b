import { readFileSync, realpathSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  DIAGNOSTIC_LOCK,
  makeDiagnosticLock,
  removeDiagnosticLock,
  touchDiagnosticLock,
} from '../../../src/act/hooks/diagnostic-lock.ts';
import { removeHeld, writeBeat } from '../../../src/act/hooks/progress-file.ts';
import { readSettings } from '../../../src/act/hooks/settings-file.ts';
import { inDirectory } from '../../../src/act/sweep/held-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** Files of another user: only root could make real ones. */
const strangers = vi.hoisted(() => new Set<number>());
vi.mock('../../../src/observe/files/read-bounded.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../src/observe/files/read-bounded.ts')>();
  return {
    ...real,
    isOurs: (stat: { readonly uid: number; readonly ino: number }) =>
      !strangers.has(stat.ino) && real.isOurs(stat),
  };
});
vi.mock('../../../src/observe/state/own-file.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../../src/observe/state/own-file.ts')>();
  return {
    ...real,
    belongsToUs: (stat: { readonly uid: number; readonly ino: number }) =>
      !strangers.has(stat.ino) && real.belongsToUs(stat),
  };
});

let sandbox: Sandbox;
let root: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = realpathSync(sandbox.path('work'));
});
afterEach(async () => {
  strangers.clear();
  await sandbox.close();
});

/** Theirs, old, and empty unless it says something. */
const theirs = (name: string, text = ''): string => {
  const path = join(root, name);
  writeFileSync(path, text);
  utimesSync(path, new Date(0), new Date(0));
  strangers.add(statSync(path).ino);
  return path;
};

test('a lock of another user is neither taken over, nor touched, nor removed', () => {
  const path = theirs(DIAGNOSTIC_LOCK);
  const { ino } = statSync(path);
  expect(makeDiagnosticLock(root, root, Date.now())).toBe(false);
  touchDiagnosticLock(path, new Date());
  removeDiagnosticLock(root, root);
  expect(statSync(path)).toMatchObject({ ino, mtimeMs: 0 });
});

test('a progress file of another user is neither written nor removed', () => {
  const path = theirs('.agent-progress.json', '{"theirs":1}');
  const limits = { state: null, waitMs: 0 };
  expect(() => writeBeat(root, root, { operation: 'x' }, new Date(), limits)).toThrow(
    'not a regular file of ours',
  );
  expect(inDirectory(root, root, held => removeHeld(held, '.agent-progress.json'))).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('{"theirs":1}');
});

test('settings of another user are not edited', () => {
  const path = theirs('settings.json', '{}');
  expect(() => readSettings(path)).toThrow('it belongs to another user');
});
