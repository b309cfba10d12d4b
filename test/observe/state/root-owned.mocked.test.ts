import { afterEach, expect, test, vi } from 'vitest';
import { statePlace } from '../../../src/observe/state/state-directory.ts';

/** The owner of each directory that there is; a machine for an ordinary user, whoever runs the test. */
const owners = vi.hoisted(() => new Map<string, number>());
vi.mock('node:fs', async original => ({
  ...(await original<typeof import('node:fs')>()),
  lstatSync: (path: string) => {
    const uid = owners.get(path);
    if (uid === undefined) throw Object.assign(new Error('none'), { code: 'ENOENT' });
    return { uid };
  },
}));

/** Whoever runs the test may have no entry in the list of users. */
vi.mock('node:os', async original => ({
  ...(await original<typeof import('node:os')>()),
  userInfo: () => ({ homedir: '/home/me', uid: 1234, gid: 1234, username: 'me', shell: '/bin/sh' }),
}));

const ME = 1234;
afterEach(() => {
  owners.clear();
  vi.restoreAllMocks();
});
const place = (there: Record<string, number>): string | null => {
  vi.spyOn(process, 'geteuid').mockReturnValue(ME);
  for (const [path, uid] of Object.entries({ '/': 0, ...there })) owners.set(path, uid);
  return statePlace({ XDG_STATE_HOME: '/s' }).directory;
};
const own = '/home/me/.local/state/reaptop';

test.each<[string, Record<string, number>, string]>([
  ['ours', { '/s/reaptop': ME }, '/s/reaptop'],
  ['to be made in a directory of ours', { '/s': ME }, '/s/reaptop'],
  ['to be made in a directory of root', { '/s': 0 }, '/s/reaptop'],
  ['root’s own: nothing in it is ours to write', { '/s': ME, '/s/reaptop': 0 }, own],
  ['of another user', { '/s/reaptop': 77 }, own],
])('for an ordinary user a state directory that is %s', (_, there, expected) => {
  expect(place(there)).toBe(expected);
});
