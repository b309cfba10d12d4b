import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Live, LiveState } from '../../src/live/live.ts';
import { TimeTravel } from '../../src/live/time-travel.ts';
import { DEFAULT_CONFIG } from '../../src/model/config.ts';
import { Recorder } from '../../src/remember/recorder/recorder.ts';
import { momentAt, NOON } from '../remember/recorder/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let travel: TimeTravel;
let asked: string[];

const now = momentAt(5000);
const state = {
  snapshot: now,
  config: DEFAULT_CONFIG,
  memory: [],
  readOnly: null,
  running: null,
  log: [],
  error: null,
} as unknown as LiveState;

/** An engine that only notes what it is asked. */
const engine = (): Live =>
  ({
    getState: () => state,
    subscribe: () => () => {},
    history: () => [],
    plan: async () => asked.push('plan'),
    run: async () => asked.push('run'),
    jump: async () => asked.push('jump'),
    proportionalMemory: async () => 7,
  }) as unknown as Live;

const second = (): number => (travel.getState().snapshot.takenAt - NOON) / 1000;

beforeEach(async () => {
  sandbox = new Sandbox();
  asked = [];
  const directory = sandbox.path('state');
  const recorder = new Recorder({ directory });
  const leak = { at: NOON + 10_000, mark: 'leak', text: '1 leaked: x' } as const;
  for (const at of [0, 10, 20, 300, 310]) await recorder.record(momentAt(at), at === 10 ? [leak] : []);
  const env = { ...sandbox.env, XDG_STATE_HOME: sandbox.path('nowhere') };
  travel = new TimeTravel({ live: engine(), env, directory });
});
afterEach(() => sandbox.close());

describe('the time line', () => {
  test('steps back through what was recorded and forth to now', async () => {
    await travel.travel('back');
    expect([second(), travel.getState().moment?.at]).toEqual([310, NOON + 310_000]);
    await travel.travel('back');
    await travel.travel('back');
    expect(second()).toBe(20);
    await travel.travel('forward');
    await travel.travel('forward');
    expect(second()).toBe(310);
    await travel.travel('forward');
    expect(travel.getState()).toBe(state);
  });

  test('jumps to marks, once to each, and says when there is none', async () => {
    await travel.travel('mark-back');
    expect(second()).toBe(10);
    expect(await travel.travel('mark-back')).toBe('There is no mark in that direction.');
    await travel.travel('mark-forward');
    expect(travel.getState()).toBe(state);
  });

  test('stops at the beginning with a sentence', async () => {
    for (let n = 0; n < 5; n += 1) await travel.travel('back');
    expect(second()).toBe(0);
    expect(await travel.travel('back')).toBe('The recording begins here.');
  });

  test('lets nothing be planned, run or jumped to in the past, and says which moment it is', async () => {
    await travel.travel('back');
    expect(travel.getState().readOnly).toContain('nothing can be signalled in the past');
    await expect(travel.plan({ act: 'clean' })).rejects.toThrow('nothing can be signalled');
    await expect(travel.run({} as never, { act: 'clean' })).rejects.toThrow('nothing can be signalled');
    expect(await travel.jump({ pid: 300, start: '30000' })).toContain('nothing can be signalled');
    expect(asked).toEqual([]);
    await travel.travel('forward');
    await travel.plan({ act: 'clean' });
    expect(asked).toEqual(['plan']);
  });

  test('has the plots of then', async () => {
    await travel.travel('back');
    expect(travel.history('300:30000').map(({ at }) => (at - NOON) / 1000)).toEqual([0, 10, 20, 300, 310]);
    expect(travel.getState().memory).toHaveLength(5);
  });

  test('opens at a moment that was asked for, or says why not', async () => {
    expect(await travel.open({ at: NOON + 12_000 }, 0)).toBeNull();
    expect(second()).toBe(10);
    expect(await travel.open({ mark: 'oom' }, 0)).toBe('No OOM kill was recorded.');
    const none = new TimeTravel({ live: engine(), env: sandbox.env, directory: sandbox.path('empty') });
    expect(await none.travel('back')).toContain('Nothing was recorded yet');
  });
});
