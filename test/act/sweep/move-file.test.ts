import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HeldDirectory, identityOfInode, Unsafe } from '../../../src/act/held-directory.ts';
import { makeDirectory, moveExactly, removeExactly } from '../../../src/act/sweep/file-acts.ts';
import { Sandbox } from '../../support/sandbox.ts';

type Call = 'linkSync' | 'renameSync';

/** What happens right before such a call of ours: somebody else is quicker, or the file system says no. */
let before: Partial<Record<Call, (() => void)[]>>;
const first =
  (call: Call, real: typeof renameSync): typeof renameSync =>
  (from, to) => {
    before[call]?.shift()?.();
    real(from, to);
  };
const calls = { linkSync: first('linkSync', linkSync), renameSync: first('renameSync', renameSync) };

let sandbox: Sandbox;
let from: HeldDirectory;
let to: HeldDirectory;
let identity: string;
beforeEach(() => {
  sandbox = new Sandbox();
  mkdirSync(sandbox.path('work/archive'), { recursive: true });
  sandbox.write('work/from/log', 'ours');
  from = HeldDirectory.open(sandbox.path('work'), sandbox.path('work/from'));
  to = HeldDirectory.open(sandbox.path('work'), sandbox.path('work/archive'));
  identity = identityOfInode(statSync(sandbox.path('work/from/log')));
  before = {};
});
afterEach(async () => {
  from.close();
  to.close();
  await sandbox.close();
});

const when = (call: Call, ...events: (() => void)[]): void => {
  before[call] = events;
};
const fails = (code: string) => () => {
  throw Object.assign(new Error(`${code}: no`), { code });
};
/** Another file takes the name; ours lives on elsewhere. */
const swap = (): void => {
  renameSync(sandbox.path('work/from/log'), sandbox.path('work/ours'));
  writeFileSync(sandbox.path('work/from/log'), 'a stranger');
};
const files = (directory: 'from' | 'archive'): Record<string, string> =>
  Object.fromEntries(
    readdirSync(sandbox.path('work', directory)).map(name => [
      name,
      readFileSync(sandbox.path('work', directory, name), 'utf8'),
    ]),
  );
const remove = (): void => removeExactly(from, 'log', identity, calls);
const move = (): string => moveExactly(from, 'log', identity, to, 'log.archived', calls);

describe('one particular file is removed', () => {
  test('and nothing else', () => {
    sandbox.write('work/from/other', 'stays');
    remove();
    expect(files('from')).toEqual({ other: 'stays' });
  });

  test('but not another that took its name at the last moment', () => {
    when('renameSync', swap);
    expect(remove).toThrow(Unsafe);
    expect(files('from')).toEqual({ log: 'a stranger' });
  });

  test.each(['EPERM', 'ENOTSUP'])('and that one is put back also where there are no links (%s)', code => {
    when('renameSync', swap);
    when('linkSync', fails(code));
    expect(remove).toThrow('another file took its name at the last moment');
    expect(files('from')).toEqual({ log: 'a stranger' });
  });

  test('and when its name is taken again, it is said what it is called now', () => {
    when('renameSync', swap);
    when('linkSync', () => writeFileSync(sandbox.path('work/from/log'), 'a third'));
    expect(remove).toThrow(/that one is called \.log\.reaptop-[0-9a-f]{12} now$/);
    const [aside] = Object.keys(files('from')).filter(name => name !== 'log');
    expect(files('from')).toEqual({ log: 'a third', [aside!]: 'a stranger' });
  });

  test.each(['ENOSPC', 'EDQUOT'])('where a full disk has no room for another name, too (%s)', code => {
    when('renameSync', fails(code));
    remove();
    expect(files('from')).toEqual({});
  });

  test('but not another one on a full disk, and for no other failure', () => {
    when('renameSync', () => {
      swap();
      fails('ENOSPC')();
    });
    expect(remove).toThrow('ENOSPC');
    expect(files('from')).toEqual({ log: 'a stranger' });
    when('renameSync', () => {
      rmSync(sandbox.path('work/from/log'));
      fails('ENOSPC')();
    });
    expect(remove).toThrow('ENOSPC');
    renameSync(sandbox.path('work/ours'), sandbox.path('work/from/log'));
    when('renameSync', fails('EIO'));
    expect(remove).toThrow('EIO');
    expect(files('from')).toEqual({ log: 'ours' });
  });

  test('also one whose name is as long as names may be', () => {
    const long = 'x'.repeat(255);
    sandbox.write(`work/from/${long}`, '');
    removeExactly(from, long, identityOfInode(statSync(sandbox.path('work/from', long))));
    expect(files('from')).toEqual({ log: 'ours' });
  });
});

describe('one particular file is moved', () => {
  test('under the name that is wanted', () => {
    expect(move()).toBe('log.archived');
    expect([files('from'), files('archive')]).toEqual([{}, { 'log.archived': 'ours' }]);
  });

  test.each(['with', 'without'])('%s links, it replaces nothing', links => {
    if (links === 'without') when('linkSync', ...[1, 2, 3].map(() => fails('EPERM')));
    sandbox.write('work/archive/log.archived', 'first');
    sandbox.write('work/archive/log.archived.1', 'second');
    expect(move()).toBe('log.archived.2');
    expect(files('from')).toEqual({});
    expect(files('archive')).toEqual({
      'log.archived': 'first',
      'log.archived.1': 'second',
      'log.archived.2': 'ours',
    });
  });

  test('not where a thousand have its name', () => {
    for (let n = 0; n < 1000; n++) sandbox.write(`work/archive/log.archived${n === 0 ? '' : `.${n}`}`, 'old');
    expect(move).toThrow('there are 1000 files of its name in the archive');
    expect(existsSync(sandbox.path('work/archive/log.archived.1000'))).toBe(false);
    expect(files('from')).toEqual({ log: 'ours' });
  });

  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])('where there are no links (%s)', code => {
    when('linkSync', fails(code));
    expect(move()).toBe('log.archived');
    expect([files('from'), files('archive')]).toEqual([{}, { 'log.archived': 'ours' }]);
  });

  test('not for any other failure', () => {
    when('linkSync', fails('EXDEV'));
    expect(move).toThrow('EXDEV');
    expect([files('from'), files('archive')]).toEqual([{ log: 'ours' }, {}]);
  });

  test.each(['with', 'without'])('%s links, not another that took its name at the last moment', links => {
    when('linkSync', () => {
      swap();
      if (links === 'without') fails('EPERM')();
    });
    expect(move).toThrow(new Unsafe('another file took its name at the last moment'));
    expect([files('from'), files('archive')]).toEqual([{ log: 'a stranger' }, {}]);
  });
});

describe('a directory for archives', () => {
  test.skipIf(!isMainThread)('is made, for its owner alone to write to, and may be there', () => {
    const mask = process.umask(0);
    try {
      makeDirectory(from, 'new');
    } finally {
      process.umask(mask);
    }
    makeDirectory(from, 'new');
    expect(statSync(sandbox.path('work/from/new')).mode & 0o777).toBe(0o755);
  });

  test('fails when it cannot be created', () => {
    expect(() => makeDirectory(from, 'x'.repeat(300))).toThrow('ENAMETOOLONG');
  });
});
