import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockHolder, takeRunLock } from '../../../src/act/record/run-lock.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { FakeSystem } from '../fake-system.ts';

let sandbox: Sandbox;
let directory: string;
let machine: FakeSystem;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state', 'reaptop');
  mkdirSync(directory, { recursive: true });
  machine = new FakeSystem();
  machine.add(process.pid, 1);
});
afterEach(() => sandbox.close());

const leave = (content: unknown): void =>
  writeFileSync(join(directory, 'clean.lock'), JSON.stringify(content));
const SOUND = {
  pid: 700,
  start: 's700',
  boot: null,
  namespace: null,
  nonce: 'n',
  by: 'clean',
  since: 1000,
};
const REAPTOP = ['node', '/x/dist/cli.js', 'clean'];
/** Who holds the lock when 700 is such a process. */
const holder = (facts: Partial<ProcessFacts>) => {
  machine.add(700, 1, { argv: REAPTOP, ...facts });
  return lockHolder(machine, 'cleanUp', directory);
};

describe('who holds a lock', () => {
  test.each<[string, Partial<ProcessFacts>, boolean]>([
    ['a reaptop of ours', {}, true],
    ['one that was started by its name', { argv: ['reaptop'] }, true],
    ['one that was started as we were', { argv: ['node', process.argv[1]!] }, true],
    ['one whose words cannot be read', { argv: null }, true],
    ['one of which nobody says whose it is', { uid: null }, true],
    ['one of another user', { uid: 33 }, false],
    ['one with another start', { start: 'new' }, false],
    ['one that waits to be reaped', { state: 'Z' }, false],
    ['an editor in which its name is a late word', { argv: ['vim', 'a', 'b', 'c', '/x/reaptop'] }, false],
    ['a program of a longer name', { argv: ['/x/reaptop-old'] }, false],
  ])('%s: %s', async (_, facts, holds) => {
    leave(SOUND);
    expect(await holder(facts)).toEqual(holds ? SOUND : null);
  });

  test.each([1, 2])('never pid %d', async pid => {
    machine.add(pid, 0, { argv: REAPTOP });
    leave({ ...SOUND, pid, start: `s${pid}` });
    expect(await lockHolder(machine, 'cleanUp', directory)).toBeNull();
  });

  test('is not a process that the table does not show', async () => {
    leave(SOUND);
    machine.add(700, 1, { argv: REAPTOP });
    const torn = { presence: machine.presence.bind(machine), sample: () => new FakeSystem().sample() };
    expect(await lockHolder(torn, 'cleanUp', directory)).toBeNull();
    expect(await takeRunLock(torn, 'clean', { directory })).toMatchObject({ status: 'taken', warning: null });
  });

  test('also one of a table that does not say who we are', async () => {
    leave(SOUND);
    machine.add(700, 1, { argv: REAPTOP });
    const look = async () => ({ ...(await FakeSystem.prototype.sample.call(machine)), self: null });
    const blind = { presence: machine.presence.bind(machine), sample: look };
    expect(await lockHolder(blind, 'cleanUp', directory)).toEqual(SOUND);
  });

  test.each([{ pid: 7.5, start: 's7.5' }, { start: 7 }, { by: null }, { since: '1' }])(
    'nobody by a lock with %j',
    async part => {
      leave({ ...SOUND, ...part });
      machine.add(7.5, 1, { argv: REAPTOP });
      expect(await holder({})).toBeNull();
    },
  );

  test('nobody without a directory or a file, or where it is no file', async () => {
    expect(await lockHolder(machine, 'cleanUp', null)).toBeNull();
    expect(await lockHolder(machine, 'cleanUp', directory)).toBeNull();
    mkdirSync(join(directory, 'clean.lock'));
    expect(await lockHolder(machine, 'cleanUp', directory)).toBeNull();
  });
});

describe('a lock that is held', () => {
  test('says for how long, by a clock that may have gone back, and cuts what its file says', async () => {
    leave({ ...SOUND, by: 'x'.repeat(99) });
    machine.add(700, 1, { argv: REAPTOP });
    const why = async (now: number) =>
      (await takeRunLock(machine, 'guard', { directory, now: () => now })) as { why: string };
    expect((await why(8500)).why).toBe(`another clean-up is running: pid 700 (${'x'.repeat(40)}), for 8 s`);
    expect((await why(0)).why).toContain('for 0 s');
  });

  test('by one that is gone, and is there again each time it is looked at, is left to whoever puts it there', async () => {
    leave(SOUND);
    let asked = 0;
    const again = {
      sample: machine.sample.bind(machine),
      presence: (pid: number) => {
        if (pid === SOUND.pid) {
          asked += 1;
          leave({ ...SOUND, since: asked });
        }
        return machine.presence(pid);
      },
    };
    expect(await takeRunLock(again, 'clean', { directory })).toMatchObject({
      status: 'held',
      holder: null,
      why: 'another clean-up has just begun',
    });
    expect(asked).toBe(2);
  });

  test('by one that is gone is taken over, also when another run was quicker to remove it', async () => {
    leave(SOUND);
    const quicker = {
      sample: machine.sample.bind(machine),
      presence: (pid: number) => {
        if (pid === SOUND.pid) rmSync(join(directory, 'clean.lock'));
        return machine.presence(pid);
      },
    };
    const taken = await takeRunLock(quicker, 'clean', { directory });
    expect(taken).toMatchObject({ status: 'taken', warning: null });
  });

  test('leaves no file open', async () => {
    const open = readdirSync('/proc/self/fd').length;
    await takeRunLock(machine, 'clean', { directory });
    expect(readdirSync('/proc/self/fd')).toHaveLength(open);
  });

  test('is done without, with a warning, where we cannot identify ourselves', async () => {
    expect(await takeRunLock(machine, 'clean', { directory: null })).toMatchObject({
      holder: { pid: process.pid, start: `s${process.pid}` },
      warning: expect.stringContaining('no directory'),
    });
    machine.unreadable.add(process.pid);
    expect(await takeRunLock(machine, 'clean', { directory })).toMatchObject({
      status: 'taken',
      holder: null,
      warning: expect.stringContaining('cannot identify itself'),
    });
  });
});
