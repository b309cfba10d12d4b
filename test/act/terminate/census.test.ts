import { expect, test } from 'vitest';
import { takeCensus } from '../../../src/act/terminate/census.ts';
import { invent, machine as judged, SELF } from '../../judge/plan/machine.ts';
import { FakeSystem } from '../fake-system.ts';

test.each([
  ['systemd', true],
  ['launchd', true],
  ['Relay(12)', true],
  ['tini', true],
  ['xsystemd', false],
  ['systemd-logind', false],
  ['Relay()', false],
  ['bash', false],
])('by facts alone, %s takes in orphans: %s', async (comm, adopts) => {
  const machine = new FakeSystem();
  machine.add(10, 1, { comm });
  machine.change(1, { comm: 'anything' });
  const { byPid, judged: verdicts } = await takeCensus(machine);
  expect(byPid.get(10)).toEqual({
    facts: expect.objectContaining({ pid: 10 }),
    name: comm,
    protection: null,
    protectedBecause: null,
    adopts,
  });
  expect([byPid.get(1)?.adopts, verdicts]).toEqual([true, null]);
});

test('by verdicts, those take in orphans that were recognised as such, tmux servers, and PID 1', async () => {
  const snapshot = judged(
    invent(10, 1, { seen: { adoptsOrphans: true } }),
    invent(11, 1, { seen: { role: 'tmux-server' } }),
    invent(12, 1, { protection: 'soft', protectedBecause: 'clients are connected' }),
  );
  const census = await takeCensus(new FakeSystem(), async () => snapshot);
  expect([1, 10, 11, 12, 800].map(pid => census.byPid.get(pid)?.adopts)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(census.byPid.get(12)).toMatchObject({
    protection: 'soft',
    protectedBecause: 'clients are connected',
  });
  expect(census.judged).toBe(snapshot);
});

test('reaptop and those above it are known, as far up as the table goes', async () => {
  const machine = new FakeSystem();
  expect((await takeCensus(machine)).selfLine).toEqual(new Set([SELF, 800, 1]));
  machine.change(SELF, { ppid: 77 });
  expect((await takeCensus(machine)).selfLine).toEqual(new Set([SELF, 77]));
  const look = await machine.sample();
  machine.sample = async () => ({ ...look, self: null as unknown as typeof look.self });
  expect((await takeCensus(machine)).selfLine).toEqual(new Set());
});
