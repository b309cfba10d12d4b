import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { othersCanReplace } from '../../../src/act/held-directory.ts';
import { Sandbox } from '../../support/sandbox.ts';

const USERS = `root:x:0:0::/root:/bin/sh
me:x:${process.getuid!()}:700::/home/me:/bin/sh
ann:x:4001:701::/home/ann:/bin/sh
`;
const GROUPS = `mine:x:700:
hers:x:701:
both:x:702:me,ann
alone:x:703:me,root
short:x:704
hers-too:x:708:ann
`;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write('etc/passwd', USERS);
  sandbox.write('etc/group', GROUPS);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});
const asked = (mode: number, gid: number): boolean => othersCanReplace({ mode, gid }, sandbox.path('etc'));

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
  expect(asked(mode, gid)).toBe(can);
  // It is asked for every directory on the way: what is known is not read again.
  for (const name of ['passwd', 'group']) sandbox.write(`etc/${name}`, '');
  expect(asked(mode, gid)).toBe(can);
});

test.each(['passwd', 'group'])('where /etc/%s cannot be read, a group may be anybody', name => {
  rmSync(sandbox.path('etc', name));
  expect(asked(0o775, 700)).toBe(true);
});

test('where our own user is not listed, as on macOS, a group may be anybody', () => {
  sandbox.write('etc/passwd', 'root:*:0:0::/var/root:/bin/sh\n');
  sandbox.write('etc/group', 'staff:*:20:root\n');
  vi.spyOn(process, 'getuid').mockReturnValue(501);
  expect(asked(0o775, 20)).toBe(true);
});

test('our own group is ours, whoever we are', () => {
  vi.spyOn(process, 'getuid').mockReturnValue(4001);
  expect(asked(0o775, 708)).toBe(false);
});
