import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  makeStateDirectory,
  stateDirectory,
  statePlace,
} from '../../../src/observe/state/state-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

const isRoot = process.geteuid?.() === 0;
const SOMEBODY = 65534;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

test.each<[NodeJS.ProcessEnv, string | null]>([
  [{ XDG_STATE_HOME: '/s', HOME: '/h' }, '/s/reaptop'],
  [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/reaptop'],
  [{ HOME: '/h' }, '/h/.local/state/reaptop'],
  [{}, null],
])('%j is %s', (env, expected) => {
  expect(stateDirectory(env)).toBe(expected);
});

describe.skipIf(!isRoot)("under sudo with the user's HOME", () => {
  test.each<[string, (home: string) => NodeJS.ProcessEnv]>([
    ['HOME', home => ({ HOME: home })],
    ['XDG_STATE_HOME', home => ({ XDG_STATE_HOME: join(home, '.local/state'), HOME: home })],
  ])('%s of another user is left alone: our own home is used, and that is said', (_, env) => {
    const home = sandbox.path('theirs');
    mkdirSync(home);
    chownSync(home, SOMEBODY, SOMEBODY);
    expect(statePlace(env(home))).toEqual({
      directory: join(userInfo().homedir, '.local/state/reaptop'),
      warning: expect.stringContaining("is in another user's directory"),
    });
  });

  test('a state directory of theirs in a home of ours is not used either', () => {
    const theirs = sandbox.path('home', '.local', 'state', 'reaptop');
    mkdirSync(theirs, { recursive: true });
    chownSync(theirs, SOMEBODY, SOMEBODY);
    expect(statePlace({ HOME: sandbox.home }).directory).not.toBe(theirs);
    expect(() => makeStateDirectory(theirs)).toThrow('it belongs to another user');
    expect(statSync(theirs).mode & 0o777).not.toBe(0o700);
  });
});

test('is made with its parents, for this user alone, even if it was open before', () => {
  const directory = sandbox.path('a', 'b', 'reaptop');
  makeStateDirectory(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  chmodSync(directory, 0o755);
  makeStateDirectory(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('a symbolic link is refused, and what it leads to keeps its mode', () => {
  const target = sandbox.path('target');
  mkdirSync(target);
  chmodSync(target, 0o755);
  symlinkSync(target, sandbox.path('reaptop'));
  expect(() => makeStateDirectory(sandbox.path('reaptop'))).toThrow('it is a symbolic link');
  expect(statSync(target).mode & 0o777).toBe(0o755);
});

test('says so where no directory can be made', () => {
  expect(() => makeStateDirectory('/proc/nowhere/reaptop')).toThrow(/takes no directory/);
});

describe.skipIf(!isRoot)('for an ordinary user', () => {
  const ME = 1234;
  beforeEach(() => void vi.spyOn(process, 'geteuid').mockReturnValue(ME));
  afterEach(() => vi.restoreAllMocks());

  test.each<[string, Record<string, number>, 'that one' | 'our own']>([
    ['ours', { s: 0, 's/reaptop': ME }, 'that one'],
    ['to be made in a directory of ours', { s: ME }, 'that one'],
    ['to be made in a directory of root', { s: 0 }, 'that one'],
    ['root’s own: nothing in it is ours to write', { s: ME, 's/reaptop': 0 }, 'our own'],
    ['of another user', { s: 0, 's/reaptop': 77 }, 'our own'],
  ])('a state directory that is %s', (_, owners, expected) => {
    for (const [path, uid] of Object.entries(owners)) {
      mkdirSync(sandbox.path(path));
      chownSync(sandbox.path(path), uid, uid);
    }
    const { directory } = statePlace({ XDG_STATE_HOME: sandbox.path('s') });
    expect(directory === sandbox.path('s/reaptop') ? 'that one' : 'our own').toBe(expected);
  });
});
