import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  HeldDirectory,
  identityOfInode,
  inDirectory,
  Unsafe,
} from '../../../src/act/sweep/held-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** Whether names below an open directory can be had, as on Linux; else the path is compared again, as elsewhere. */
const linux = vi.hoisted(() => ({
  descriptorPaths: true,
  /** Where a name below an open directory leads that is not that directory's. */
  elsewhere: '/proc/none',
  strangers: new Set<number>(),
}));
vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const lstatSync = (path: string, options?: object) =>
    !linux.descriptorPaths && path.startsWith('/proc/self/fd/')
      ? fs.lstatSync(linux.elsewhere, options)
      : fs.lstatSync(path, options);
  const fstatSync = (fd: number) => {
    const stat = fs.fstatSync(fd);
    if (linux.strangers.has(stat.ino)) stat.uid = 4242;
    return stat;
  };
  return { ...fs, lstatSync, fstatSync };
});

let sandbox: Sandbox;
let root: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = sandbox.path('work');
  mkdirSync(sandbox.path('work/a/b'), { recursive: true });
  sandbox.write('work/a/b/file', 'x');
  linux.descriptorPaths = true;
  linux.elsewhere = '/proc/none';
  linux.strangers.clear();
});
afterEach(() => sandbox.close());

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const refusal = (directory: string): string => {
  try {
    inDirectory(root, directory, () => {});
  } catch (error) {
    expect(error).toBeInstanceOf(Unsafe);
    return (error as Error).message;
  }
  return '';
};

describe.each([true, false])('a held directory (descriptor paths: %s)', descriptorPaths => {
  beforeEach(() => {
    linux.descriptorPaths = descriptorPaths;
  });

  test('is known by device and inode, and tells of the files in it', () => {
    const held = HeldDirectory.open(root, sandbox.path('work/a/b'));
    expect(held.identity).toBe(identityOfInode(statSync(sandbox.path('work/a/b'))));
    expect(held.stat('file')?.ino).toBe(lstatSync(sandbox.path('work/a/b/file')).ino);
    expect(held.stat('none')).toBeNull();
    held.close();
  });

  test('is the root itself, too, also one that is a link', () => {
    symlinkSync(root, sandbox.path('link'));
    const identity = identityOfInode(statSync(root));
    expect(inDirectory(root, root, held => held.identity)).toBe(identity);
    expect(inDirectory(sandbox.path('link'), sandbox.path('link'), held => held.identity)).toBe(identity);
  });

  test('leaves nothing open, whatever becomes of it', () => {
    const before = openFiles();
    inDirectory(root, sandbox.path('work/a/b'), () => {});
    expect(openFiles()).toBe(before);
    refusal(sandbox.path('work/a/none'));
    chmodSync(sandbox.path('work/a/b'), 0o777);
    refusal(sandbox.path('work/a/b'));
    expect(() =>
      inDirectory(root, sandbox.path('work/a'), () => {
        throw new Error('in use');
      }),
    ).toThrow('in use');
    expect(openFiles()).toBe(before);
  });

  test('is not reached through a link, a file, what is gone or what others can write', () => {
    symlinkSync(sandbox.path('work/a'), sandbox.path('work/link'));
    expect(refusal(sandbox.path('work/link'))).toContain('is a symbolic link or not a directory');
    expect(refusal(sandbox.path('work/link/b'))).toContain('work/link is a symbolic link');
    expect(refusal(sandbox.path('work/a/b/file'))).toContain('is a symbolic link or not a directory');
    expect(refusal(sandbox.path('work/none'))).toBe(`${realpathSync(root)}/none is gone`);
    expect(() => inDirectory(root, sandbox.path('work', 'x'.repeat(300)), () => {})).toThrow('ENAMETOOLONG');
    for (const path of ['work/a/b', 'work/a', 'work', '']) {
      chmodSync(sandbox.path(path), 0o757);
      expect(refusal(sandbox.path('work/a/b'))).toContain('can be written by other users');
      chmodSync(sandbox.path(path), 0o755);
    }
    for (const path of ['work/a/b', 'work/a', 'work']) {
      linux.strangers.add(statSync(sandbox.path(path)).ino);
      expect(refusal(sandbox.path('work/a/b'))).toContain('belongs to another user');
      linux.strangers.clear();
    }
    expect(refusal(sandbox.path('work/a/b'))).toBe('');
  });
});

test('where its path is all there is of it, it is not used once another has its name', () => {
  linux.descriptorPaths = false;
  inDirectory(root, sandbox.path('work/a'), held => {
    expect(held.at('b')).toBe(`${realpathSync(root)}/a/b`);
    renameSync(sandbox.path('work/a'), sandbox.path('work/aside'));
    expect(() => held.at('b')).toThrow('work/a was replaced');
    mkdirSync(sandbox.path('work/a'));
    expect(() => held.at('b')).toThrow('work/a was replaced');
  });
});

test('where a name below its descriptor leads elsewhere, its path is all there is of it', () => {
  linux.descriptorPaths = false;
  linux.elsewhere = '/';
  inDirectory(root, sandbox.path('work/a'), held => expect(held.at('b')).toBe(`${realpathSync(root)}/a/b`));
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
