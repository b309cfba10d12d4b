import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Memory } from '../../src/guard/memory.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { readLatest } from '../../src/remember/latest.ts';
import { writeSessionLineage } from '../../src/remember/lineage-files.ts';
import { readMarks } from '../../src/remember/recorder/timeline-marks.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

const BOOT = 'b-o-o-t';
let sandbox: Sandbox;
let system: FakeSystem;
let directory: string;
let lineage: Lineage;
beforeEach(() => {
  sandbox = new Sandbox();
  system = new FakeSystem();
  directory = sandbox.path('state');
  lineage = new Lineage();
  lineage.adopt([['3000:300000', { owner: '2000:200000', sessionId: 'a-session', parent: '2000:200000' }]]);
});
afterEach(() => sandbox.close());

const look = (clock: number, boot: string | null = BOOT): Snapshot => {
  const { host, ...rest } = snapshotOf([
    ...HOUSE,
    invent(2000, 800, { kind: 'agent', agent: 'claude', facts: { start: '200000' } }),
    invent(3000, 2000, { facts: { start: '300000' } }),
  ]);
  return { ...rest, clock, takenAt: clock * 1000, host: { ...host, bootId: boot } };
};
const written = (): unknown[] =>
  readFileSync(join(directory, 'lineage.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);
const sessions = (): string[] => readdirSync(join(directory, 'lineage.d'));
const sessionEnds = (): void => {
  writeSessionLineage(directory, 'ended', [
    {
      pid: 4000,
      start: '400000',
      agent: { pid: 2000, start: '200000' },
      session: 'ended',
      family: null,
      parent: null,
      boot: BOOT,
      seen: 1,
      gone: null,
    },
  ]);
};

test('keeps who was seen below which agent, with its family, and the picture of the moment', async () => {
  expect(await new Memory(system, directory).keep(look(5000), lineage)).toEqual([]);
  expect(written()).toMatchObject([
    { pid: 3000, agent: { pid: 2000 }, session: 'a-session', family: 'claude', boot: BOOT, seen: 5000 },
  ]);
  expect(readdirSync(join(directory, 'recorder')).some(name => name.endsWith('.jsonl'))).toBe(true);
});

test('keeps no lineage where boots have no name, and nothing at all without a directory', async () => {
  expect(await new Memory(system, directory).keep(look(5000, null), lineage)).toEqual([]);
  expect(existsSync(join(directory, 'lineage.jsonl'))).toBe(false);
  const nowhere = new Memory(system, null);
  expect(await nowhere.keep(look(5000), lineage)).toEqual([]);
  expect(await nowhere.publish(look(5000), {} as never)).toBeNull();
});

test('folds in what an ended session left after a minute, and drops the old once an hour', async () => {
  system.add(3000, 1, { start: '300000' });
  system.add(4000, 1, { start: '400000' });
  const memory = new Memory(system, directory);
  await memory.keep(look(5000), lineage);
  sessionEnds();
  // For the collector at the next look: from then on guard knows that a session has ended.
  const { host, processes, ...rest } = await system.sample();
  memory.recall({ ...rest, host: { ...host, bootId: BOOT }, processes, clock: 5000 });
  await memory.keep(look(5059), lineage);
  expect(sessions()).toEqual(['ended.jsonl']);
  await memory.keep(look(5060), lineage);
  expect(sessions()).toEqual([]);
  expect(written()).toMatchObject([{ pid: 3000 }, { pid: 4000 }]);
  // It ends: said so at the compaction of the next hour, not before.
  system.remove(4000);
  await memory.keep(look(5060 + 3599), lineage);
  expect(written()[1]).not.toHaveProperty('gone');
  await memory.keep(look(5060 + 3600), lineage);
  expect(written()[1]).toMatchObject({ pid: 4000, gone: 5060 + 3600 });
  expect(written()[0]).not.toHaveProperty('gone');
});

test('says what could not be written: lineage, its compaction, the recorder', async () => {
  writeFileSync(directory, 'a file in its place');
  const warnings = await new Memory(system, directory).keep(look(5000), lineage);
  expect(warnings).toEqual([
    expect.stringContaining('lineage could not be'),
    expect.stringContaining('the flight recorder'),
  ]);
});

test('marks an OOM kill', async () => {
  let kills = 0;
  const memory = new Memory(system, directory, () => kills);
  await memory.keep(look(5000), lineage);
  kills = 1;
  await memory.keep(look(5010), lineage);
  expect(readMarks(join(directory, 'recorder')).marks.map(({ mark }) => mark)).toContain('oom');
});

test('publishes its last sample with who wrote it, and nothing when it cannot tell who that is', async () => {
  const memory = new Memory(system, directory);
  const report = {
    since: 1,
    intervalSeconds: 10,
    held: null,
    paused: null,
    endsLastHour: 0,
    endsPerHour: 60,
    waiting: 0,
    ended: 0,
    reclaimedBytes: 0,
    acts: [],
    warnings: [],
  };
  const presence = system.presence.bind(system);
  system.presence = pid => (pid === process.pid ? { status: 'gone' } : presence(pid));
  expect(await memory.publish(look(5000), report)).toBeNull();
  expect(readLatest(directory)).toBeNull();
  system.presence = pid => ({
    status: 'present',
    identity: { pid, start: 'own' },
    state: 'R',
    ppid: 1,
    pgid: 1,
    sid: 1,
    rss: 0,
  });
  expect(await memory.publish(look(5000), report)).toBeNull();
  expect(readLatest(directory)?.guard).toEqual({ writer: { pid: process.pid, start: 'own' }, ...report });
});
