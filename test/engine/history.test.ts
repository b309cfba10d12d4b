import { expect, it } from 'vitest';
import { History } from '../../src/engine/history.ts';
import { type IdentityKey, keyOf } from '../../src/model/identity.ts';
import { type Extra, world } from '../support/world.ts';

const AGENT = 500;
const BYSTANDER = 600;
const key = (pid: number): IdentityKey => keyOf({ pid, start: `${pid}00` });

/** The machine at a moment: an agent and a process that is none of our business. */
const at = (seconds: number, extra: Extra = {}) =>
  world(
    [
      [AGENT, 80_001, 'claude', extra],
      [BYSTANDER, 80_001, 'vim notes.txt'],
    ],
    { takenAt: seconds * 1000 },
  ).snapshot;

const MIB = 1024 ** 2;

it('keeps one point in five seconds, of related processes only', () => {
  const history = new History();
  for (let second = 0; second <= 20; second += 1) history.record(at(second, { rss: second * MIB }));
  expect(history.memory(key(AGENT)).map(({ at, bytes }) => [at / 1000, bytes / MIB])).toEqual([
    [0, 0],
    [5, 5],
    [10, 10],
    [15, 15],
    [20, 20],
  ]);
  expect(history.memory(key(BYSTANDER))).toEqual([]);
});

it('keeps ten minutes', () => {
  const history = new History();
  for (let second = 0; second <= 3600; second += 5) history.record(at(second));
  const points = history.memory(key(AGENT));
  expect(points).toHaveLength(121);
  expect(points[0]!.at).toBe(3000 * 1000);
});

it('swap counts as memory', () => {
  const history = new History();
  history.record(at(0, { rss: MIB, details: { swap: 2 * MIB } }));
  expect(history.memory(key(AGENT))[0]!.bytes).toBe(3 * MIB);
});

it('knows how long a process has been in its state', () => {
  const history = new History();
  history.record(at(0, { state: 'S' }));
  history.record(at(30, { state: 'D' }));
  expect(history.stateSeconds(key(AGENT))).toBe(0);
  history.record(at(95, { state: 'D' }));
  expect(history.stateSeconds(key(AGENT))).toBe(65);
  history.record(at(96, { state: 'S' }));
  expect(history.stateSeconds(key(AGENT))).toBe(0);
  expect(history.stateSeconds(key(BYSTANDER))).toBeNull();
});

it('knows how long a process has used no CPU; unreadable CPU is no quiet', () => {
  const history = new History();
  history.record(at(0, { cpuSeconds: 3 }));
  history.record(at(40, { cpuSeconds: 3 }));
  expect(history.quietSeconds(key(AGENT))).toBe(40);
  history.record(at(50, { cpuSeconds: 3.01 }));
  expect(history.quietSeconds(key(AGENT))).toBe(0);
  history.record(at(60, { cpuSeconds: null }));
  history.record(at(90, { cpuSeconds: null }));
  expect(history.quietSeconds(key(AGENT))).toBeNull();
});

it('forgets whoever ended: the next process with that pid has a past of its own', () => {
  const history = new History();
  history.record(at(0, { rss: 900 * MIB, state: 'D' }));
  history.record(at(10, { start: 'other', rss: MIB, state: 'D' }));
  expect(history.memory(key(AGENT))).toEqual([]);
  expect(history.stateSeconds(keyOf({ pid: AGENT, start: 'other' }))).toBe(0);
});

it('begins again when the clock is set back', () => {
  const history = new History();
  history.record(at(7200, { state: 'D' }));
  history.record(at(3600, { state: 'D' }));
  history.record(at(3605, { state: 'D' }));
  expect(history.memory(key(AGENT)).map(point => point.at / 1000)).toEqual([3600, 3605]);
  expect(history.stateSeconds(key(AGENT))).toBe(5);
});

it('counts the samples in which a process did nothing, the present one included', () => {
  const history = new History();
  const now = (seconds: number, cpuSeconds: number | null) =>
    history.idleSamples({ key: key(AGENT), cpuSeconds, at: seconds * 1000 });
  expect(now(0, 5)).toBe(null);
  history.record(at(0, { cpuSeconds: 5 }));
  expect(now(2, 5)).toBe(2);
  history.record(at(2, { cpuSeconds: 5.01 })); // a step of the kernel's clock is no work
  expect(now(4, 5.02)).toBe(3);
  // The sample that was recorded is not counted twice.
  expect(now(2, 5.01)).toBe(2);
  expect(now(4, 5.2)).toBe(0);
  history.record(at(4, { cpuSeconds: 5.2 }));
  expect(now(6, 5.2)).toBe(1);
  expect(now(6, null)).toBe(null);
  expect(history.idleSamples({ key: key(BYSTANDER), cpuSeconds: 1, at: 6000 })).toBe(0);
});
