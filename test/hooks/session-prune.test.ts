import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newSession, pruneSessions } from '../../src/hooks/session-state.ts';
import type { Identity } from '../../src/model/identity.ts';
import { identityAt } from '../../src/observe/procfs/one-process.ts';
import { Sandbox } from '../support/sandbox.ts';

const NOW = 1_800_000_000_000;
const DAY = 24 * 3600_000;
const US = identityAt(process.pid);
const GONE: Identity = { pid: process.pid, start: '1' };

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  mkdirSync(join(directory, 'sessions'), { recursive: true });
});
afterEach(() => sandbox.close());

const fileOf = (name: string): string => join(directory, 'sessions', `${name}.json`);
/** A session that was last heard of so many milliseconds ago. */
const put = (name: string, agent: Identity | null, silent: number): void =>
  writeFileSync(fileOf(name), JSON.stringify(newSession(name, '/work', agent, NOW - silent)));
const left = (): string[] => readdirSync(join(directory, 'sessions')).sort();

test.each<[string, Identity | null, number, boolean]>([
  ['its agent is gone, and it is silent for a day', GONE, DAY, true],
  ['its agent was never known, and it is silent for a day', null, DAY, true],
  ['it may be resumed the next morning', GONE, DAY - 1, false],
  ['its agent runs, however long it is silent', US, 30 * DAY, false],
  ['it was heard of in the future: the clock was set back', GONE, -DAY + 1, false],
  ['it was heard of in a future that no clock was in', GONE, -DAY, true],
])('a session: %s', (_, agent, silent, forgotten) => {
  put('one', agent, silent);
  pruneSessions(directory, NOW);
  expect(existsSync(fileOf('one'))).toBe(!forgotten);
});

test('nothing but sessions goes, and only what makes sense', () => {
  put('old', GONE, 2 * DAY);
  for (const name of ['torn.json', '.json', 'other.txt', 'one.json.lock'])
    writeFileSync(join(directory, 'sessions', name), '{"session":"x"');
  pruneSessions(directory, NOW);
  expect(left()).toEqual(['.json', 'one.json.lock', 'other.txt', 'torn.json']);
});

test('one that starts looks at two hundred, and the next one goes on', () => {
  for (let n = 0; n < 205; n += 1) {
    put(`s${n}`, null, 2 * DAY);
    writeFileSync(join(directory, 'sessions', `other${n}`), '');
  }
  pruneSessions(directory, NOW);
  expect(left()).toHaveLength(205 + 5);
  pruneSessions(directory, NOW);
  expect(left()).toHaveLength(205);
});

test('where no session ever had hooks there is nothing to do', () => {
  pruneSessions(sandbox.path('nowhere'), NOW);
  expect(existsSync(sandbox.path('nowhere'))).toBe(false);
});

test('what a kill left half made goes after a day, and nothing else does', () => {
  const old = new Date(NOW - DAY);
  const paths = ['sessions', 'locks'].flatMap(place =>
    ['a.json.lock.7-8-x.tmp', 'a.json.0f.turn', 'a.json', 'young.tmp'].map(name =>
      sandbox.write(`state/${place}/${name}`, 'x'),
    ),
  );
  for (const path of paths)
    if (path.endsWith('young.tmp')) utimesSync(path, new Date(NOW - DAY + 1), new Date(NOW - DAY + 1));
    else utimesSync(path, old, old);
  pruneSessions(sandbox.path('state'), NOW);
  expect(paths.filter(path => existsSync(path)).map(path => path.split('/').slice(-2).join('/'))).toEqual([
    'sessions/a.json',
    'sessions/young.tmp',
    'locks/a.json',
    'locks/young.tmp',
  ]);
});
