import { chownSync, mkdirSync, readdirSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Collector } from '../../src/collect/collector.ts';
import { Guard } from '../../src/guard/guard.ts';
import { Memory } from '../../src/guard/memory.ts';
import type { JudgedMoment } from '../../src/judge/judge.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { DEFAULT_CONFIG } from '../../src/model/config.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

const LEAK = 3000;
const DAY_MS = 86_400_000;

/** Guard on a machine in memory with one leak, and clocks that only the test moves. */
class Scene {
  readonly system = new FakeSystem();
  readonly said: string[] = [];
  readonly guard: Guard;
  /** Seconds: ours, the machine's since its boot, and the wall's. */
  monotonic = 0;
  uptime = 10_000;
  wall = Date.UTC(2026, 10, 16) / 1000;
  fails = false;

  constructor(directory: string | null = null, wall?: number) {
    if (wall !== undefined) this.wall = wall;
    this.system.add(LEAK, 1);
    const collect = async (): Promise<JudgedMoment> => {
      if (this.fails) throw new Error('/proc cannot be read');
      const leak = invent(LEAK, 1, { verdict: 'leak', ageSeconds: 600 });
      return snapshotOf([...HOUSE, ...(this.system.has(LEAK) ? [leak] : [])]) as JudgedMoment;
    };
    this.guard = new Guard({
      collector: { collect, lineage: new Lineage() } as unknown as Collector,
      system: this.system,
      config: { ...DEFAULT_CONFIG, policy: { ...DEFAULT_CONFIG.policy, sweep: false, staleFiles: false } },
      intervalSeconds: 10,
      graceMs: 1000,
      directory,
      memory: new Memory(this.system, directory),
      abort: new AbortController().signal,
      say: line => this.said.push(line),
      // A timer never fires early: a few milliseconds more have passed.
      clock: { now: () => this.monotonic * 1000, wait: async ms => this.#wait(ms / 1000 + 0.005) },
      wall: () => this.wall * 1000,
      uptime: () => this.uptime,
    });
  }

  /** Time passes evenly, with a look every ten seconds. */
  async pass(seconds: number): Promise<void> {
    for (let past = 0; past < seconds; past += 10) {
      await this.guard.look({ act: true });
      this.monotonic += 10;
      this.uptime += 10;
      this.wall += 10;
    }
  }

  #wait(seconds: number): void {
    this.monotonic += seconds;
    this.uptime += seconds;
    this.wall += seconds;
  }

  get cleared(): boolean {
    return !this.system.has(LEAK);
  }
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

describe('two sightings', () => {
  test('half a minute apart are enough, and less is not', async () => {
    await scene.pass(30);
    expect(scene.cleared).toBe(false);
    await scene.pass(10);
    expect(scene.cleared).toBe(true);
  });

  test('with a look between them that failed begin anew', async () => {
    await scene.pass(30);
    scene.fails = true;
    await scene.pass(10);
    scene.fails = false;
    await scene.pass(30);
    expect(scene.cleared).toBe(false);
    expect(scene.said).toContainEqual(expect.stringContaining('this look failed, and nothing was done'));
    await scene.pass(10);
    expect(scene.cleared).toBe(true);
  });
});

test('one pass of two looks clears what both saw: half a minute of waiting is no sleep', async () => {
  await scene.guard.once();
  expect([scene.guard.whyPaused(), scene.cleared]).toEqual([null, true]);
});

test('what came back is counted by what the leak held for itself, as clean counts it', async () => {
  scene.system.proportionalMemory = async () => 3 * 1024 ** 2;
  await scene.pass(40);
  expect(scene.said).toContainEqual(expect.stringMatching(/leaks: 1 ended, 3\.0 MiB freed/));
});

test('a machine that has just been started is left alone for two minutes', async () => {
  scene.uptime = 30;
  await scene.pass(90);
  expect([scene.cleared, scene.guard.whyPaused()]).toEqual([false, null]);
  await scene.pass(10);
  expect(scene.cleared).toBe(true);
});

test('a machine that slept is left alone for two minutes, and what was seen before does not count', async () => {
  await scene.pass(30);
  scene.uptime += 3600;
  await scene.pass(120);
  expect(scene.cleared).toBe(false);
  await scene.pass(10);
  expect(scene.cleared).toBe(true);
});

test('a state directory of somebody else stays untouched, and the leak is cleared with one warning each', async () => {
  const sandbox = new Sandbox();
  try {
    // Without privileges, one that belongs to root.
    const directory = process.geteuid?.() === 0 ? sandbox.path('theirs') : '/usr';
    if (process.geteuid?.() === 0) {
      mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, 65_534, 65_534);
    }
    const before = readdirSync(directory);
    scene = new Scene(directory);
    await scene.pass(100);
    expect(scene.cleared).toBe(true);
    expect(readdirSync(directory)).toEqual(before);
    const warnings = scene.said.filter(line => line.startsWith('warning: '));
    expect(new Set(warnings).size).toBe(warnings.length);
    expect(warnings.filter(line => line.includes('flight recorder'))).toEqual([
      expect.stringContaining('it belongs to another user'),
    ]);
  } finally {
    await sandbox.close();
  }
});

test('what a guard before it ended within the hour counts, however long ago that was', async () => {
  const sandbox = new Sandbox();
  try {
    const before = new Scene(sandbox.path('state'));
    await before.pass(40);
    expect(before.cleared).toBe(true);
    const spentAfter = (seconds: number): number => {
      const after = new Scene(sandbox.path('state'), Date.now() / 1000 + seconds);
      return after.guard.budget.spentAt(after.guard.at());
    };
    expect([0, 600, 3500, 3700].map(spentAfter)).toEqual([1, 1, 1, 0]);
  } finally {
    await sandbox.close();
  }
});

describe('a clock on the wall that jumps', () => {
  test.each([
    ['a day forth', DAY_MS / 1000],
    ['a day back', -DAY_MS / 1000],
    ['to 1970', -Date.UTC(2026, 10, 16) / 1000],
  ])('%s clears nothing earlier and nothing later', async (_, jump) => {
    await scene.pass(10);
    scene.wall += jump;
    await scene.pass(20);
    expect(scene.cleared).toBe(false);
    await scene.pass(10);
    expect([scene.cleared, scene.guard.whyPaused()]).toEqual([true, null]);
  });

  test('back and forth gives its budget of ends back to nobody', async () => {
    await scene.pass(40);
    expect(scene.guard.budget.spentAt(scene.guard.at())).toBe(1);
    for (const jump of [DAY_MS / 1000, -2 * (DAY_MS / 1000)]) {
      scene.wall += jump;
      await scene.pass(10);
      expect(scene.guard.budget.spentAt(scene.guard.at())).toBe(1);
    }
  });
});
