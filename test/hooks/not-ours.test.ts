import { chownSync, readFileSync, realpathSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inDirectory } from '../../src/act/held-directory.ts';
import {
  DIAGNOSTIC_LOCK,
  makeDiagnosticLock,
  removeDiagnosticLock,
  touchDiagnosticLock,
} from '../../src/hooks/diagnostic-lock.ts';
import { removeHeld, writeBeat } from '../../src/hooks/progress-file.ts';
import { readSettings } from '../../src/hooks/settings-file.ts';
import { Sandbox } from '../support/sandbox.ts';

const OTHER_USER = 65534;
/** Only root can make files of another user. */
const isRoot = process.getuid?.() === 0;

let sandbox: Sandbox;
let root: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = realpathSync(sandbox.path('work'));
});
afterEach(() => sandbox.close());

/** Theirs, old, and empty unless it says something. */
const theirs = (name: string, text = ''): string => {
  const path = join(root, name);
  writeFileSync(path, text);
  utimesSync(path, new Date(0), new Date(0));
  chownSync(path, OTHER_USER, OTHER_USER);
  return path;
};

test.skipIf(!isRoot)('a lock of another user is neither taken over, nor touched, nor removed', () => {
  const path = theirs(DIAGNOSTIC_LOCK);
  const { ino } = statSync(path);
  expect(makeDiagnosticLock(root, root, Date.now())).toBe(false);
  touchDiagnosticLock(path, new Date());
  removeDiagnosticLock(root, root);
  expect(statSync(path)).toMatchObject({ ino, mtimeMs: 0 });
});

test.skipIf(!isRoot)('a progress file of another user is neither written nor removed', () => {
  const path = theirs('.agent-progress.json', '{"theirs":1}');
  const limits = { state: null, waitMs: 0 };
  expect(() => writeBeat(root, root, { operation: 'x' }, new Date(), limits)).toThrow(
    'not a regular file of ours',
  );
  expect(inDirectory(root, root, held => removeHeld(held, '.agent-progress.json'))).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('{"theirs":1}');
});

test.skipIf(!isRoot)('settings of another user are not edited', () => {
  const path = theirs('settings.json', '{}');
  expect(() => readSettings(path)).toThrow('it belongs to another user');
});
