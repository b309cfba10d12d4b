import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { allow } from '../../src/guard/hold.ts';
import type { GuardPolicy } from '../../src/model/config.ts';
import { readLatest } from '../../src/remember/latest.ts';
import { claude, IDLE } from '../judge/plan/idle-session.ts';
import { invent } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { LEAK, Scene } from './scene.ts';

const DAY_MS = 86_400_000;

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

  test('with a look between them that failed begin again', async () => {
    await scene.pass(30);
    scene.fails = true;
    await scene.pass(10);
    scene.fails = false;
    await scene.pass(30);
    expect(scene.cleared).toBe(false);
    expect(scene.said).toContainEqual(expect.stringContaining('this sample failed; nothing was done'));
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
    scene = new Scene({ directory });
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
    const before = new Scene({ directory: sandbox.path('state') });
    await before.pass(40);
    expect(before.cleared).toBe(true);
    const spentAfter = (seconds: number): number => {
      const after = new Scene({ directory: sandbox.path('state'), wall: Date.now() / 1000 + seconds });
      return after.guard.endsLastHour();
    };
    expect([0, 600, 3500, 3700].map(spentAfter)).toEqual([1, 1, 1, 0]);
    // What a person cleaned is none of guard's budget.
    const log = sandbox.path('state', 'audit.jsonl');
    writeFileSync(log, readFileSync(log, 'utf8').replaceAll('"by":"guard"', '"by":"clean"'));
    expect(spentAfter(0)).toBe(0);
  } finally {
    await sandbox.close();
  }
});

test('a guard that holds ends nothing and says why, until a person allows it; then everything is seen again', async () => {
  const sandbox = new Sandbox();
  try {
    const directory = sandbox.path('state');
    scene = new Scene({ directory });
    scene.system.add(2000, 800);
    const owner = { pid: 2000, start: 's2000', sessionId: null, how: 'ancestor', alive: true } as const;
    scene.others = [invent(2001, 2000, { verdict: 'live', owner })];
    await scene.pass(30);
    scene.others = [invent(2001, 1, { verdict: 'leak', owner })];
    await scene.pass(60);
    const why = '1 process turned from live to leaked while its owner still runs';
    expect(scene.guard.whyPaused()).toContain(`held: ${why}`);
    expect(scene.said.filter(line => line.startsWith(`held: ${why}`))).toHaveLength(1);
    expect(scene.looks.at(-1)?.held?.why).toContain(why);
    expect(readLatest(directory)?.guard).toMatchObject({
      held: { why: expect.stringContaining(why) },
      paused: null,
    });
    expect([scene.cleared, scene.system.sent]).toEqual([false, []]);
    scene.others = [];
    expect(allow(directory)).toBe(true);
    await scene.pass(40);
    expect(scene.said).toContain('allowed: guard goes on');
    expect(scene.cleared).toBe(false);
    await scene.pass(10);
    expect(scene.cleared).toBe(true);
  } finally {
    await sandbox.close();
  }
});

test('until it is told to stop, guard looks at every interval and acts', async () => {
  const stop = new AbortController();
  scene = new Scene({ abort: stop.signal, onLook: looks => looks === 6 && stop.abort() });
  await scene.guard.run();
  expect(scene.looks).toHaveLength(6);
  expect(scene.cleared).toBe(true);
  expect(scene.monotonic).toBeCloseTo(60, 0);
});

test('one pass that is stopped in its wait does nothing more', async () => {
  const stop = new AbortController();
  scene = new Scene({ abort: stop.signal, onLook: () => stop.abort() });
  await scene.guard.once();
  expect([scene.looks.length, scene.cleared]).toEqual([1, false]);
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
    expect(scene.guard.endsLastHour()).toBe(1);
    for (const jump of [DAY_MS / 1000, -2 * (DAY_MS / 1000)]) {
      scene.wall += jump;
      await scene.pass(10);
      expect(scene.guard.endsLastHour()).toBe(1);
    }
  });
});

describe('what guard tells of each look', () => {
  test('what it saw, how long it took, what waits, and that one failed', async () => {
    scene = new Scene({ policy: { endsPerHour: 0 } });
    await scene.pass(40);
    expect(scene.looks).toHaveLength(4);
    expect(scene.looks.at(-1)).toMatchObject({ durationMs: 0, held: null, waiting: 1, audited: [] });
    expect(scene.looks.at(-1)?.snapshot?.processes.some(p => p.facts.pid === LEAK)).toBe(true);
    expect(scene.said.filter(line => line.includes('policy.endsPerHour'))).toHaveLength(1);
    scene.fails = true;
    await scene.pass(10);
    expect(scene.looks.at(-1)).toMatchObject({ snapshot: null });
  });

  test('to whoever reads its last sample: since when, why it pauses, what it did and what is left of the hour', async () => {
    const sandbox = new Sandbox();
    try {
      const directory = sandbox.path('state');
      scene = new Scene({ directory });
      scene.uptime = 0;
      const since = scene.wall * 1000;
      await scene.pass(10);
      expect(readLatest(directory)?.guard).toMatchObject({
        writer: { pid: process.pid },
        since,
        intervalSeconds: 10,
        held: null,
        paused: 'the machine started 0 s ago',
        endsLastHour: 0,
        endsPerHour: 60,
        waiting: 0,
        ended: 0,
        acts: [],
      });
      await scene.pass(180);
      expect(scene.cleared).toBe(true);
      const { guard } = readLatest(directory)!;
      expect(guard).toMatchObject({ paused: null, endsLastHour: 1, ended: 1 });
      expect(guard.acts).toEqual([
        { at: expect.any(Number), text: expect.stringContaining('leaks: 1 ended') },
      ]);
      expect(guard.reclaimedBytes).toBeGreaterThan(0);
      expect(scene.looks.flatMap(({ audited }) => audited.map(({ event }) => event))).toEqual([
        'intent',
        'outcome',
      ]);
      scene.fails = true;
      const before = readLatest(directory)?.takenAt;
      await scene.pass(10);
      expect(readLatest(directory)?.takenAt).toBe(before);
    } finally {
      await sandbox.close();
    }
  });

  test('who is warned, once, and when that ends them', async () => {
    scene = new Scene({ policy: { overMemory: true, leaks: false } });
    scene.others = [invent(2000, 800, { kind: 'agent', isSession: true, verdict: 'live' })];
    scene.system.add(2000, 800);
    scene.findings = [{ id: 'over-memory', pid: 2000 }];
    await scene.pass(60);
    expect(scene.said).toEqual(['over-memory: 2000 is over-memory; it is ended in 60 s unless that changes']);
    expect(scene.system.has(2000)).toBe(true);
    await scene.pass(10);
    expect(scene.system.has(2000)).toBe(false);
  });
});

describe('when memory is short', () => {
  const GIB = 1024 ** 3;
  const SHORT = { memTotal: 16 * GIB, memAvailable: GIB, swapTotal: 0, swapUsed: 0, waited: 0, level: null };
  const asleepSoon = /^memory is short .*claude \(2000\).*: it is put to sleep in 60 s unless that changes$/;
  const pressed = (policy: Partial<GuardPolicy>, memAvailable = GIB): Scene => {
    const made = new Scene({ policy: { leaks: false, ...policy }, pressure: { ...SHORT, memAvailable } });
    made.others = [claude({ session: { ...IDLE, seconds: 7200 }, facts: { pid: 2000, start: 's2000' } })];
    return made;
  };

  test('says which session is put to sleep next, once, and only when the config asks for it', async () => {
    scene = pressed({ sleepUnderPressure: true });
    await scene.pass(50);
    expect(scene.said).toEqual([expect.stringMatching(asleepSoon)]);
    expect(scene.judgedAll).toBe(0);
    await scene.pass(20);
    expect(scene.judgedAll).toBeGreaterThan(0);
    for (const calm of [pressed({}), pressed({ sleepUnderPressure: true }, 8 * GIB)]) {
      await calm.pass(80);
      expect(calm.said).toEqual([]);
      expect(calm.judgedAll).toBe(0);
    }
  });

  test('an idle session is warned of sleep, or of its end, as the config says', async () => {
    for (const [policy, fate] of [
      [{ sleepIdle: true }, 'put to sleep'],
      [{ idleAgents: true }, 'ended'],
    ] as const) {
      const idle = pressed(policy);
      idle.findings = [{ id: 'idle-agent', pid: 2000 }];
      await idle.pass(10);
      expect(idle.said).toEqual([
        `idle-agent: 2000 is idle-agent; it is ${fate} in 60 s unless that changes`,
      ]);
    }
  });

  test('a session of a family that never sleeps is not warned of sleep', async () => {
    for (const [policy, warnings] of [
      [{ sleepIdle: true }, 0],
      [{ sleepIdle: true, idleAgents: true }, 1],
    ] as const) {
      const idle = pressed(policy);
      idle.others = idle.others.map(p => ({ ...p, agent: 'gemini' }));
      idle.findings = [{ id: 'idle-agent', pid: 2000 }];
      await idle.pass(10);
      expect(idle.said).toHaveLength(warnings);
    }
  });
});

describe('every process is judged for a plan only when one may come of it', () => {
  const zombie = { id: 'zombie', pid: 2000 } as const;
  const builds = { id: 'concurrent-builds', pid: 2000 } as const;
  const lock = { id: 'lock-stale', pid: 2000 } as const;
  const call = { id: 'call-hung', pid: 2000 } as const;
  test.each([
    // For the plan, right before the first signal, and after the last.
    ['leaks that were seen long enough', {}, [], 3],
    ['no leaks', { leaks: false }, [], 0],
    ['servers with zombies, at every look', { leaks: false, zombieServers: true }, [zombie], 4],
    ['servers, and there are no zombies', { leaks: false, zombieServers: true }, [lock], 0],
    ['no servers', { leaks: false }, [zombie], 0],
    ['builds, at every look', { leaks: false, builds: true }, [builds], 4],
    ['no builds', { leaks: false }, [builds], 0],
    ['hung calls, at every look', { leaks: false, hungCalls: true }, [call], 4],
    ['hung calls, and there are none', { leaks: false, hungCalls: true }, [lock], 0],
    ['no hung calls', { leaks: false }, [call], 0],
    ['archives that may be too old', { leaks: false, sweep: true }, [], 1],
    ['stale files that may be there', { leaks: false, staleFiles: true }, [], 1],
    ['what a sweep mends, every half minute', { leaks: false, sweep: true }, [lock], 2],
    ['what a sweep does not mend', { leaks: false, sweep: true }, [zombie], 1],
  ] as const)('%s', async (_, policy, findings, times) => {
    scene = new Scene({ policy });
    scene.system.denied.add(LEAK);
    scene.findings = findings;
    await scene.pass(40);
    expect(scene.judgedAll).toBe(times);
  });

  test('archives past their retention are looked for once an hour', async () => {
    scene = new Scene({ policy: { leaks: false, sweep: true } });
    await scene.pass(3600);
    expect(scene.judgedAll).toBe(1);
    await scene.pass(10);
    expect(scene.judgedAll).toBe(2);
  });
});

test('what an act left running rests for ten minutes', async () => {
  scene.system.denied.add(LEAK);
  await scene.pass(40);
  expect(scene.outcomes.map(({ outcome }) => outcome)).toEqual(['denied']);
  await scene.pass(590);
  expect(scene.outcomes).toHaveLength(1);
  await scene.pass(20);
  expect(scene.outcomes).toHaveLength(2);
  expect(scene.guard.endsLastHour()).toBe(2);
});
