import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Unfit } from '../../src/hooks/settings-edit.ts';
import {
  addHooks,
  beforeInstall,
  Changed,
  readSettings,
  removeHooks,
} from '../../src/hooks/settings-file.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let home: string;
let path: string;
let state: string;
let record: string;
beforeEach(() => {
  sandbox = new Sandbox();
  home = sandbox.path('home/.claude');
  path = join(home, 'settings.json');
  state = sandbox.path('state');
  record = join(state, 'hook-settings.json');
});
afterEach(() => sandbox.close());

const put = (text: string | Buffer): void => {
  mkdirSync(home, { recursive: true });
  writeFileSync(path, text);
};
const read = (): string => readFileSync(path, 'utf8');
const backup = (): string => `${path}.reaptop-backup`;
const remembered = (): Record<string, unknown> => JSON.parse(readFileSync(record, 'utf8'));
const mode = (of: string): number => statSync(of).mode & 0o777;

describe('settings', () => {
  test('are read as they are, and may not be there', () => {
    expect(readSettings(path)).toBeNull();
    put('{"é": 1}');
    expect(readSettings(path)).toBe('{"é": 1}');
  });

  test.each<[string, () => void, string]>([
    ['longer than anybody’s', () => put(Buffer.alloc(1024 ** 2 + 1, ' ')), 'it is longer than 1 MiB'],
    ['no text', () => put(Buffer.from([0x22, 0xff])), 'it is not UTF-8'],
    ['a directory', () => mkdirSync(path, { recursive: true }), 'it is not a regular file'],
    [
      'a link that leads nowhere',
      () => {
        mkdirSync(home);
        symlinkSync('nowhere', path);
      },
      'it is a broken link',
    ],
    ['below a file', () => writeFileSync(home, ''), 'a part of the path is not a directory'],
  ])('%s: a sentence', (_, make, why) => {
    make();
    expect(() => readSettings(path)).toThrow(new Unfit(why));
    expect(() => readSettings(path)).toThrow(Unfit);
  });

  test('with a second name are left: a replaced file would have one of them only', () => {
    put('{}');
    linkSync(path, join(home, 'second.json'));
    expect(() => readSettings(path)).toThrow('it has a second name');
  });

  test.each<[string, () => void]>([
    ['the file is a link', () => symlinkSync(sandbox.write('dotfiles/settings.json', '{}'), path)],
    [
      'its directory is a link',
      () => {
        rmdirSync(home);
        mkdirSync(sandbox.path('dotfiles'));
        symlinkSync(sandbox.path('dotfiles'), home);
      },
    ],
  ])('of a project that lead out of it are left: %s', (_, make) => {
    mkdirSync(home);
    make();
    expect(() => readSettings(path, sandbox.path('home'))).toThrow('it leads out of the project');
    expect(() => readSettings(path)).not.toThrow();
  });

  test('may be a link inside the project', () => {
    mkdirSync(home);
    symlinkSync(sandbox.write('home/conf/settings.json', '{}'), path);
    expect(readSettings(path, sandbox.path('home'))).toBe('{}');
  });

  test.runIf(process.geteuid?.() === 0)('are not made in the home of another user', () => {
    chownSync(sandbox.path('home'), 65534, 65534);
    expect(() => readSettings(path)).toThrow('its directory belongs to another user');
  });

  test('are read up to one mebibyte', () => {
    put(Buffer.alloc(1024 ** 2, ' '));
    expect(readSettings(path)).toHaveLength(1024 ** 2);
  });
});

describe('installing', () => {
  test('keeps what was there beside it and in mind, for us alone', () => {
    put('before');
    expect(addHooks(path, 'before', 'after', state)).toBeNull();
    expect([read(), readFileSync(backup(), 'utf8'), mode(backup())]).toEqual(['after', 'before', 0o600]);
    expect(remembered()).toEqual({ [path]: { before: 'before', after: 'after' } });
    expect(readdirSync(home).sort()).toEqual(['settings.json', 'settings.json.reaptop-backup']);
  });

  test('makes the file and its directory, and keeps nothing where nothing was', () => {
    expect(addHooks(path, null, 'after', state)).toBeNull();
    expect([read(), mode(path)]).toEqual(['after', 0o644]);
    expect(readdirSync(home)).toEqual(['settings.json']);
    expect(remembered()).toEqual({ [path]: { before: null, after: 'after' } });
  });

  test('a second time leaves the first backup, and remembers what was before the first', () => {
    put('before');
    addHooks(path, 'before', 'one', state);
    addHooks(path, 'one', 'two', state);
    expect(readFileSync(backup(), 'utf8')).toBe('before');
    expect(beforeInstall(path, 'two', state)).toBe('before');
    put('changed since');
    addHooks(path, 'changed since', 'three', state);
    expect(beforeInstall(path, 'three', state)).toBe('changed since');
    expect(readFileSync(backup(), 'utf8')).toBe('changed since');
  });

  test('remembers other files, too, and forgets what makes no sense', () => {
    mkdirSync(state);
    const strange = { a: { after: 7 }, b: null, c: { after: 'x', before: 7 }, d: { before: null } };
    const other = { before: null, after: 'x' };
    writeFileSync(record, JSON.stringify({ ...strange, '/other': other }));
    addHooks(path, null, 'after', state);
    expect(remembered()).toEqual({ '/other': other, [path]: { before: null, after: 'after' } });
  });

  test.each(['', '{"torn', 'null'])('begins the record again where it is nothing: %j', text => {
    mkdirSync(state);
    writeFileSync(record, text);
    addHooks(path, null, 'after', state);
    expect(Object.keys(remembered())).toEqual([path]);
  });

  test('does without a record where there is no place for one, or none that may be written', () => {
    expect(addHooks(path, null, 'one', null)).toBeNull();
    writeFileSync(state, 'a file');
    expect(addHooks(path, 'one', 'two', state)).toBeNull();
    expect([read(), readFileSync(state, 'utf8')]).toEqual(['two', 'a file']);
    expect(beforeInstall(path, 'two', null)).toBeUndefined();
  });

  test('says why it could not, leaves no draft, and remembers nothing', () => {
    writeFileSync(home, 'a file');
    expect(addHooks(path, null, 'after', state)).toEqual(expect.any(String));
    expect(existsSync(record)).toBe(false);
  });

  test.each<[string, string | null, () => void]>([
    ['was changed', 'before', () => put('theirs')],
    ['was made', null, () => put('theirs')],
    ['was removed', 'before', () => rmSync(path)],
  ])('leaves a file that %s after we had read it', (_, before, meanwhile) => {
    put('before');
    if (before === null) rmSync(path);
    meanwhile();
    const there = existsSync(path) ? read() : null;
    expect(() => addHooks(path, before, 'after', state)).toThrow(Changed);
    expect(() => removeHooks(path, before ?? '', 'after', state)).toThrow(Changed);
    expect(existsSync(path) ? read() : null).toBe(there);
    expect(readdirSync(home).filter(name => name.endsWith('.tmp'))).toEqual([]);
  });

  test('is not kept from it by a draft of one who was killed', () => {
    put('before');
    writeFileSync(`${path}.${process.pid}.tmp`, 'torn');
    expect(addHooks(path, 'before', 'after', state)).toBeNull();
    expect(read()).toBe('after');
  });

  test.runIf(process.geteuid?.() === 0)('keeps the group and every bit of the mode', () => {
    put('before');
    chownSync(path, 0, 65534);
    chmodSync(path, 0o2660);
    addHooks(path, 'before', 'after', state);
    const { gid, mode: bits } = statSync(path);
    expect([read(), gid, bits & 0o7777]).toEqual(['after', 65534, 0o2660]);
  });

  test('through a link writes what it leads to, with its mode', () => {
    const real = sandbox.write('dotfiles/settings.json', 'before', 0o666);
    mkdirSync(home);
    symlinkSync(real, path);
    addHooks(path, 'before', 'after', state);
    expect([readFileSync(real, 'utf8'), mode(real)]).toEqual(['after', 0o666]);
  });
});

describe('what was before', () => {
  test('is known only while the file is as we left it', () => {
    put('before');
    addHooks(path, 'before', 'after', state);
    expect(beforeInstall(path, 'after', state)).toBe('before');
    expect(beforeInstall(path, 'changed', state)).toBeUndefined();
    expect(beforeInstall(join(home, 'other.json'), 'after', state)).toBeUndefined();
  });
});

describe('taking them out', () => {
  test('writes what is left, and removes the backup that says the same', () => {
    put('before');
    addHooks(path, 'before', 'after', state);
    expect(removeHooks(path, 'after', 'before', state)).toBeNull();
    expect(read()).toBe('before');
    expect(readdirSync(home)).toEqual(['settings.json']);
    expect(remembered()).toEqual({});
  });

  test('leaves a backup that says something else', () => {
    put('before');
    addHooks(path, 'before', 'after', state);
    removeHooks(path, 'after', 'other', state);
    expect([read(), readFileSync(backup(), 'utf8')]).toEqual(['other', 'before']);
  });

  test('needs no backup', () => {
    addHooks(path, null, 'after', state);
    expect(removeHooks(path, 'after', 'left', state)).toBeNull();
    expect(read()).toBe('left');
  });

  test('removes a file that was not there before, and its directory when it is empty', () => {
    addHooks(path, null, 'after', state);
    expect(removeHooks(path, 'after', null, state)).toBeNull();
    expect(existsSync(home)).toBe(false);
    addHooks(path, null, 'after', state);
    writeFileSync(join(home, 'theirs'), 'x');
    writeFileSync(backup(), 'theirs');
    expect(removeHooks(path, 'after', null, state)).toBeNull();
    expect(readdirSync(home).sort()).toEqual(['settings.json.reaptop-backup', 'theirs']);
  });

  test('forgets that file alone', () => {
    addHooks(path, null, 'after', state);
    addHooks(join(home, 'other.json'), null, 'after', state);
    removeHooks(path, 'after', null, state);
    expect(Object.keys(remembered())).toEqual([join(home, 'other.json')]);
  });

  test('says why it could not, and remembers what was', () => {
    addHooks(path, null, 'after', state);
    expect(removeHooks(join(home, 'gone.json'), 'x', null, state)).toEqual(expect.any(String));
    expect(beforeInstall(path, 'after', state)).toBeNull();
  });
});

test('no descriptor stays open', () => {
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let n = 0; n < 30; n += 1) {
    put('before');
    addHooks(path, 'before', 'after', state);
    removeHooks(path, 'after', 'before', state);
  }
  expect(open()).toBeLessThan(before + 15);
});
