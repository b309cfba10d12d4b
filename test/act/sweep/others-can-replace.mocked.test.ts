import { expect, test, vi } from 'vitest';
import { othersCanReplace } from '../../../src/act/sweep/others-can-replace.ts';

const ACCOUNTS: Record<string, string> = {
  '/etc/passwd': `root:x:0:0::/root:/bin/sh
me:x:${process.getuid!()}:700::/home/me:/bin/sh
ann:x:4001:701::/home/ann:/bin/sh
`,
  '/etc/group': `mine:x:700:
hers:x:701:
both:x:702:me,ann
alone:x:703:me,root
short:x:704
`,
};
const hidden = vi.hoisted(() => new Set<string>());
vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    readFileSync: (path: string, options: 'utf8') => {
      if (hidden.has(path)) throw new Error('EACCES');
      return ACCOUNTS[path] ?? fs.readFileSync(path, options);
    },
  };
});

test.each<[string, number, number, boolean]>([
  ['of its owner alone', 0o755, 701, false],
  ['of everybody', 0o757, 700, true],
  ['of everybody, but sticky', 0o1777, 701, false],
  ['of a group with nobody in it but us', 0o775, 700, false],
  ["of another user's own group", 0o775, 701, true],
  ['of a group that another user is in', 0o775, 702, true],
  ['of a group of ours and root', 0o775, 703, false],
  ['of a group whose line is cut short', 0o775, 704, false],
  ['of a group that is listed nowhere', 0o775, 705, true],
])('a directory %s', (_, mode, gid, can) => {
  expect(othersCanReplace({ mode, gid })).toBe(can);
  // It is asked for every directory on the way: what is known is not read again.
  const kept = { ...ACCOUNTS };
  for (const path of Object.keys(ACCOUNTS)) ACCOUNTS[path] = '';
  expect(othersCanReplace({ mode, gid })).toBe(can);
  Object.assign(ACCOUNTS, kept);
});

test.each([
  ['/etc/passwd', 706],
  ['/etc/group', 707],
])('where %s cannot be read, a group may be anybody', (path, gid) => {
  ACCOUNTS['/etc/group'] += `late:x:${gid}:\n`;
  hidden.add(path);
  expect(othersCanReplace({ mode: 0o775, gid })).toBe(true);
  hidden.clear();
});

test('our own group is ours, whoever we are', () => {
  vi.spyOn(process, 'getuid').mockReturnValue(4001);
  ACCOUNTS['/etc/group'] += 'hers-too:x:708:ann\n';
  expect(othersCanReplace({ mode: 0o775, gid: 708 })).toBe(false);
  vi.restoreAllMocks();
});
