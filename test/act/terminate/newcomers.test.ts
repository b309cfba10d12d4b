import { describe, expect, test } from 'vitest';
import { joinNewcomers, mustStay, stepOfNewcomer } from '../../../src/act/terminate/begin.ts';
import { type Sighting, takeCensus } from '../../../src/act/terminate/census.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { invent, machine as judged, SELF } from '../../judge/plan/machine.ts';
import { FakeSystem } from '../fake-system.ts';
import { follow, runOn } from './a-run.ts';

const sighting = (facts: Partial<ProcessFacts> = {}, part: Partial<Sighting> = {}): Sighting => ({
  facts: invent(facts.pid ?? 20, 10, { facts }).facts,
  name: 'p20',
  protection: null,
  protectedBecause: null,
  adopts: false,
  ...part,
});

describe('who is never signalled', () => {
  test.each<[string, Sighting, string | null]>([
    ['one of ours', sighting(), null],
    ['the protected', sighting({}, { protection: 'soft', protectedBecause: 'clients' }), 'clients'],
    ['the protected for no reason', sighting({}, { protection: 'hard' }), 'it is protected'],
    ['PID 1', sighting({ pid: 1 }), 'it is protected'],
    ['PID 2', sighting({ pid: 2 }), 'it is protected'],
    ['PID 3 may be', sighting({ pid: 3 }), null],
    ['the kernel’s', sighting({ kernelThread: true }), 'it is protected'],
    ['reaptop', sighting({ pid: SELF }), 'it is protected'],
    ['what reaptop runs in', sighting({ pid: 800 }), 'it is protected'],
    ['the unreadable', sighting({ unreadable: true }), 'it belongs to another user'],
    ["another user's", sighting({ uid: 7 }), 'it belongs to another user'],
    ['whose user is not known', sighting({ uid: null }), 'it belongs to another user'],
    ["reaptop's group", sighting({ pgid: SELF }), "it is in reaptop's own process group"],
    ['one without a group', sighting({ pgid: null }), null],
  ])('%s', async (_, one, why) => {
    expect(mustStay(one, await takeCensus(new FakeSystem()))).toBe(why);
  });

  test('anybody, while nobody knows who we are; a group that none is in is nobody’s', async () => {
    const census = await takeCensus(new FakeSystem());
    expect(mustStay(sighting(), { ...census, self: null })).toBe('it belongs to another user');
    const groupless = { ...census, self: { ...census.self!, pgid: null } };
    expect(mustStay(sighting({ pgid: null }), groupless)).toBeNull();
  });
});

describe('a newcomer', () => {
  const parts = { root: { pid: 10, start: 's10' }, signal: 'SIGTERM', why: 'because' } as const;

  test('is a step of its own, which nobody has to confirm', () => {
    const facts = { argv: ['node', 'x.js'], rss: 4096 };
    expect(stepOfNewcomer(sighting(facts), parts)).toEqual({
      pid: 20,
      start: 's20',
      name: 'p20',
      command: 'node x.js',
      rss: 4096,
      ageSeconds: null,
      stopped: false,
      confirm: false,
      ...parts,
    });
    expect(stepOfNewcomer(sighting({ argv: null, state: 'T' }), parts)).toMatchObject({
      command: 'p20',
      stopped: true,
    });
  });

  test('joins with the root of whoever started it; a protected one is refused and joins nobody', async () => {
    const machine = new FakeSystem();
    machine.add(10, 1);
    const run = await runOn(machine);
    follow(run, 10, { sent: 'SIGTERM' });
    machine.add(20, 10, { born: 5000 });
    machine.add(21, 10, { born: 5000 });
    machine.add(22, 10, { born: 5000, state: 'Z' });
    const now = await takeCensus(machine, async () =>
      judged(invent(10, 1), invent(20, 10), invent(21, 10, { protection: 'hard', protectedBecause: 'no' })),
    );
    const joined = await joinNewcomers(run, now, 'SIGKILL');
    expect(joined.map(t => t.step)).toEqual([
      expect.objectContaining({
        pid: 20,
        root: { pid: 10, start: 's10' },
        signal: 'SIGKILL',
        why: 'started by p10 (10) while that was being ended',
      }),
    ]);
    expect(run.progress).toEqual([
      { type: 'join', step: joined[0]!.step },
      { type: 'outcome', outcome: expect.objectContaining({ pid: 21, outcome: 'refused', why: 'no' }) },
    ]);
  });
});
