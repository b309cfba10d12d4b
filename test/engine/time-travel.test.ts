import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Live, LiveState } from '../../src/engine/live-state.ts';
import { TimeTravel } from '../../src/engine/time-travel.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
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

const listeners = new Set<() => void>();
const note =
  (word: string) =>
  async (...args: readonly unknown[]): Promise<number> =>
    asked.push([word, ...args].join(' '));
/** An engine that only notes what it is asked. */
const engine = (): Live =>
  ({
    getState: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    history: () => [{ at: 1, bytes: 1, cpu: null }],
    treeHistory: () => [{ at: 2, bytes: 2, cpu: null }],
    plan: async () => asked.push('plan'),
    run: async () => asked.push('run'),
    jump: async () => asked.push('jump'),
    proportionalMemory: async () => 7,
    exportScreen: note('export'),
    copyToTmux: note('copy'),
    saveSettings: note('save'),
    cancel: note('cancel'),
    setInterval: note('interval'),
    setAll: note('all'),
    refresh: note('refresh'),
    stop: note('stop'),
  }) as unknown as Live;

const second = (): number => (travel.getState().snapshot.takenAt - NOON) / 1000;

beforeEach(async () => {
  sandbox = new Sandbox();
  asked = [];
  listeners.clear();
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
    expect(await travel.travel('mark-back')).toBe('No event in that direction.');
    await travel.travel('mark-forward');
    expect(travel.getState()).toBe(state);
  });

  test('stops at the beginning with a sentence', async () => {
    for (let n = 0; n < 5; n += 1) await travel.travel('back');
    expect(second()).toBe(0);
    expect(await travel.travel('back')).toBe('The recording starts here.');
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
    await travel.run({} as never, { act: 'clean' });
    await travel.jump({ pid: 300, start: '30000' });
    expect(asked).toEqual(['plan', 'run', 'jump']);
  });

  test('what belongs to the screen and not to a moment goes to the engine, in the past too', async () => {
    await travel.travel('back');
    await travel.exportScreen('svg', 'text');
    await travel.copyToTmux('text');
    await travel.saveSettings('settings' as never);
    travel.cancel();
    travel.setInterval(5);
    travel.setAll(true);
    travel.refresh();
    await travel.stop();
    expect(asked).toEqual([
      'export svg text',
      'copy text',
      'save settings',
      'cancel',
      'interval 5',
      'all true',
      'refresh',
      'stop',
    ]);
  });

  test('measures, histories and courses of now come from the engine; of then there is what was recorded', async () => {
    const key = '300:30000';
    expect(travel.history(key)).toEqual([{ at: 1, bytes: 1, cpu: null }]);
    expect(travel.treeHistory(key)).toEqual([{ at: 2, bytes: 2, cpu: null }]);
    expect(await travel.proportionalMemory(300)).toBe(7);
    await travel.travel('back');
    expect(travel.treeHistory(key)).toHaveLength(travel.history(key).length);
    expect(travel.treeHistory(key).at(-1)!.bytes).toBeGreaterThan(travel.history(key).at(-1)!.bytes);
    expect(await travel.proportionalMemory(300)).toBeNull();
    expect(travel.history('300:another')).toEqual([]);
  });

  test('notifies subscribers of every step and sample until they unsubscribe', async () => {
    let told = 0;
    const leave = travel.subscribe(() => (told += 1));
    await travel.travel('back');
    await travel.travel('forward');
    expect(told).toBe(2);
    for (const listener of listeners) listener();
    expect(told).toBe(3);
    leave();
    await travel.travel('back');
    expect([told, listeners.size]).toEqual([3, 0]);
  });

  test('a state is made once for each moment, and again for the next', async () => {
    await travel.travel('back');
    const before = travel.getState();
    expect(travel.getState()).toBe(before);
    await travel.travel('back');
    expect(travel.getState()).not.toBe(before);
    expect(travel.getState().moment?.marks).toMatchObject([{ mark: 'leak', at: NOON + 10_000 }]);
  });

  test('does one step at a time while a key is held down', async () => {
    await Promise.all([travel.travel('back'), travel.travel('back'), travel.travel('back')]);
    expect(second()).toBe(310);
    await travel.travel('back');
    expect(second()).toBe(300);
  });

  test('what was ended is a mark too, within the recording only', async () => {
    const line = (seconds: number, id: string) => {
      const outcomes = [{ pid: 7, start: '1', name: 'x', outcome: 'ended', why: '', freed: 0 }];
      return `${JSON.stringify({ time: new Date(NOON + seconds * 1000).toISOString(), event: 'outcome', id, by: 'guard', outcomes })}\n`;
    };
    sandbox.write(
      'nowhere/reaptop/audit.jsonl',
      line(-50, 'before') + line(300, 'within') + line(5, 'early'),
      0o600,
    );
    await travel.travel('mark-back');
    expect(second()).toBe(300);
    expect(travel.getState().moment?.marks.map(({ mark, at }) => [mark, (at - NOON) / 1000])).toEqual([
      ['ended', 5],
      ['leak', 10],
      ['ended', 300],
    ]);
    await travel.travel('mark-back');
    expect(second()).toBe(10);
    await travel.travel('mark-forward');
    expect(second()).toBe(300);
  });

  test('has the plots of then', async () => {
    await travel.travel('back');
    expect(travel.history('300:30000').map(({ at }) => (at - NOON) / 1000)).toEqual([0, 10, 20, 300, 310]);
  });

  test('opens at a moment that was asked for, or says why not', async () => {
    expect(await travel.open({ at: NOON + 12_000 }, 0)).toBeNull();
    expect(second()).toBe(10);
    expect(await travel.open({ mark: 'oom' }, 0)).toBe('No OOM kill was recorded.');
    const none = new TimeTravel({ live: engine(), env: sandbox.env, directory: sandbox.path('empty') });
    expect(await none.travel('back')).toContain('Nothing was recorded yet');
    expect(await none.open({ at: NOON }, 0)).toContain('Nothing was recorded yet');
    const homeless = new TimeTravel({ live: engine(), env: sandbox.env, directory: null });
    expect(await homeless.travel('back')).toContain('Nothing was recorded yet');
  });
});
