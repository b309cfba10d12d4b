import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HeldDirectory, identityOfInode, inDirectory, Unsafe } from '../../../src/act/held-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** What a name below an open directory is, as on Linux; where it leads nowhere, the path is compared again. */
type Below = (fd: number, name: string) => string;
const LINUX: Below = (fd, name) => `/proc/self/fd/${fd}/${name}`;
const NOWHERE: Below = () => '/proc/none';
const ELSEWHERE: Below = () => '/';
const STRANGER = 4242;

let sandbox: Sandbox;
let root: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = sandbox.path('work');
  mkdirSync(sandbox.path('work/a/b'), { recursive: true });
  sandbox.write('work/a/b/file', 'x');
});
afterEach(() => sandbox.close());

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const refusal = (directory: string, below?: Below): string => {
  try {
    inDirectory(root, directory, () => {}, below);
  } catch (error) {
    expect(error).toBeInstanceOf(Unsafe);
    return (error as Error).message;
  }
  return '';
};

describe.each([
  ['by its descriptor', LINUX],
  ['by its path alone', NOWHERE],
])('a held directory (%s)', (_, below) => {
  const refused = (path: string): string => refusal(sandbox.path(path), below);

  test('is known by device and inode, and tells of the files in it', () => {
    const held = HeldDirectory.open(root, sandbox.path('work/a/b'), below);
    expect(held.identity).toBe(identityOfInode(statSync(sandbox.path('work/a/b'))));
    expect(held.stat('file')?.ino).toBe(lstatSync(sandbox.path('work/a/b/file')).ino);
    expect(held.stat('none')).toBeNull();
    held.close();
  });

  test('is the root itself, too, also one that is a link', () => {
    symlinkSync(root, sandbox.path('link'));
    const identity = identityOfInode(statSync(root));
    expect(inDirectory(root, root, held => held.identity, below)).toBe(identity);
    expect(inDirectory(sandbox.path('link'), sandbox.path('link'), held => held.identity, below)).toBe(
      identity,
    );
  });

  test('leaves nothing open, whatever becomes of it', () => {
    const before = openFiles();
    inDirectory(root, sandbox.path('work/a/b'), () => {}, below);
    expect(openFiles()).toBe(before);
    refused('work/a/none');
    chmodSync(sandbox.path('work/a/b'), 0o777);
    refused('work/a/b');
    expect(() =>
      inDirectory(
        root,
        sandbox.path('work/a'),
        () => {
          throw new Error('in use');
        },
        below,
      ),
    ).toThrow('in use');
    expect(openFiles()).toBe(before);
  });

  test('is not reached through a link, a file, what is gone or what others can write', () => {
    symlinkSync(sandbox.path('work/a'), sandbox.path('work/link'));
    expect(refused('work/link')).toContain('is a symbolic link or not a directory');
    expect(refused('work/link/b')).toContain('work/link is a symbolic link');
    expect(refused('work/a/b/file')).toContain('is a symbolic link or not a directory');
    expect(refused('work/none')).toBe(`${realpathSync(root)}/none is gone`);
    expect(() => inDirectory(root, sandbox.path('work', 'x'.repeat(300)), () => {}, below)).toThrow(
      'ENAMETOOLONG',
    );
    for (const path of ['work/a/b', 'work/a', 'work', '']) {
      chmodSync(sandbox.path(path), 0o757);
      expect(refused('work/a/b')).toContain('can be written by other users');
      chmodSync(sandbox.path(path), 0o755);
    }
    expect(refused('work/a/b')).toBe('');
  });

  // Only root can give a directory away.
  test.skipIf(process.getuid?.() !== 0)('is not reached through what belongs to another user', () => {
    for (const path of ['work/a/b', 'work/a', 'work', '']) {
      chownSync(sandbox.path(path), STRANGER, STRANGER);
      expect(refused('work/a/b')).toContain('belongs to another user');
      chownSync(sandbox.path(path), 0, 0);
    }
    expect(refused('work/a/b')).toBe('');
  });
});

test('where its path is all there is of it, it is not used once another has its name', () => {
  inDirectory(
    root,
    sandbox.path('work/a'),
    held => {
      expect(held.at('b')).toBe(`${realpathSync(root)}/a/b`);
      renameSync(sandbox.path('work/a'), sandbox.path('work/aside'));
      expect(() => held.at('b')).toThrow('work/a was replaced');
      mkdirSync(sandbox.path('work/a'));
      expect(() => held.at('b')).toThrow('work/a was replaced');
    },
    NOWHERE,
  );
});

test('where a name below its descriptor leads elsewhere, its path is all there is of it', () => {
  inDirectory(
    root,
    sandbox.path('work/a'),
    held => expect(held.at('b')).toBe(`${realpathSync(root)}/a/b`),
    ELSEWHERE,
  );
});

test('nobody else may write to what is far above the root', () => {
  root = sandbox.path('work/a');
  expect(refusal(sandbox.path('work/a/b'))).toBe('');
  chmodSync(sandbox.path(''), 0o757);
  expect(refusal(sandbox.path('work/a/b'))).toContain('can be written by other users');
});

test('by its descriptor it is the same whoever has its name', () => {
  inDirectory(root, sandbox.path('work/a/b'), held => {
    renameSync(sandbox.path('work/a/b'), sandbox.path('work/aside'));
    mkdirSync(sandbox.path('work/a/b'));
    expect(held.stat('file')).not.toBeNull();
  });
});
