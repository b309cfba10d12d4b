import { describe, expect, it } from 'vitest';
import { ActivityWatch, RecognitionCache } from '../../src/engine/collector-caches.ts';
import type { Node } from '../../src/judge/rules/tree.ts';
import type { ConfiguredServer } from '../../src/model/observation.ts';
import type { Activity, ProcessFacts } from '../../src/model/process.ts';
import { factsOf } from '../support/world.ts';

/** A sample of a process: its CPU seconds and bytes until then. */
interface At {
  readonly clock: number;
  readonly cpu: number | null;
  readonly io: number | null;
  readonly start?: string;
  readonly activity?: Activity;
}

/** What is known of its work at each of the samples. */
const worked = (watch: ActivityWatch, ...samples: readonly At[]): readonly unknown[] =>
  samples.map(({ clock, cpu, io, start = 's', activity }: At) => {
    const facts: ProcessFacts = {
      ...factsOf([700, 1, 'server', { cpuSeconds: cpu, start, details: { io } }]),
      activity: activity ?? null,
    };
    const node = { facts } as unknown as Node;
    watch.attach([node], clock);
    return node.facts.activity;
  });

describe('what a process did', () => {
  it('is not known at first, and then is the share of a core and the bytes since the sample before', () => {
    const samples = [
      { clock: 100, cpu: 10, io: 1000 },
      { clock: 102, cpu: 10.5, io: 1700 },
      // Too soon after the second: it is still counted from the first.
      { clock: 102.5, cpu: 10.5, io: 1800 },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([
      null,
      { cpu: 25, bytes: 700 },
      { cpu: 20, bytes: 800 },
    ]);
  });

  it('is counted from the last sample that is at least a second old', () => {
    const samples = [
      { clock: 100, cpu: 10, io: 0 },
      { clock: 100.6, cpu: 10, io: 10 },
      { clock: 101, cpu: 11, io: 20 },
      { clock: 101.6, cpu: 11, io: 30 },
      { clock: 110, cpu: 11, io: 40 },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([
      null,
      null,
      { cpu: 100, bytes: 20 },
      // Since the second.
      { cpu: 100, bytes: 20 },
      // Since the fourth.
      { cpu: 0, bytes: 10 },
    ]);
  });

  it('is not known of two samples at the same time, nor where the clock went back', () => {
    const samples = [
      { clock: 100, cpu: 10, io: 0 },
      { clock: 100, cpu: 11, io: 5 },
      { clock: 90, cpu: 12, io: 9 },
      { clock: 91, cpu: 12, io: 9 },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([null, null, null, { cpu: 0, bytes: 0 }]);
  });

  it('is not asked of another process that has its number', () => {
    const samples = [
      { clock: 100, cpu: 10, io: 0 },
      { clock: 102, cpu: 1, io: 0, start: 'another' },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([null, null]);
  });

  it('is forgotten of what was not seen in between', () => {
    const watch = new ActivityWatch();
    worked(watch, { clock: 100, cpu: 10, io: 0 });
    watch.attach([], 102);
    expect(worked(watch, { clock: 104, cpu: 11, io: 0 })).toEqual([null]);
  });

  it.each([
    ['its CPU time', { cpu: null, io: 0 }],
    ['its bytes', { cpu: 10, io: null }],
  ])('is not said where %s cannot be read', (_, unread) => {
    const samples = [
      { clock: 100, ...unread },
      { clock: 102, ...unread },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([null, null]);
  });

  it('is not said of a process whose details were not read', () => {
    const node = {
      facts: { ...factsOf([700, 1, 'server', { details: null }]), activity: null },
    } as unknown as Node;
    new ActivityWatch().attach([node], 100);
    expect(node.facts.activity).toBeNull();
  });

  it('is what an invented machine says itself', () => {
    const told = { cpu: 7, bytes: 8 };
    const samples = [
      { clock: 100, cpu: 10, io: 0, activity: told },
      { clock: 102, cpu: 12, io: 9, activity: told },
    ];
    expect(worked(new ActivityWatch(), ...samples)).toEqual([told, told]);
  });
});

describe('what a process is', () => {
  const configured = (command: string): ConfiguredServer => ({
    name: command,
    command,
    args: [],
    source: '/home/me/.claude.json',
    rank: 'user',
  });
  const oddity = factsOf([700, 1, '/opt/oddity']);

  it('is asked once of the same words, and again after an exec', () => {
    const cache = new RecognitionCache([]);
    const seen = cache.recognise(oddity);
    expect(cache.recognise(oddity)).toBe(seen);
    expect(cache.recognise({ ...oddity, pid: 701 })).toBe(seen);
    expect(cache.recognise({ ...oddity, comm: 'claude' })).not.toBe(seen);
    expect(cache.recognise(oddity)).not.toBe(seen);
    const again = cache.recognise(oddity);
    expect(cache.recognise({ ...oddity, exe: '/opt/another' })).not.toBe(again);
  });

  it('is asked of one without words by its name', () => {
    const cache = new RecognitionCache([]);
    expect(cache.recognise({ ...oddity, argv: null, comm: 'claude' }).kind).toBe('agent');
  });

  it('is another where other servers are configured, and only then all is asked anew', () => {
    const cache = new RecognitionCache([]);
    const [one, two] = [configured('/opt/oddity'), configured('/opt/rarity')];
    expect(cache.recognise(oddity).kind).toBe('other');
    expect(cache.learn([])).toBe(false);
    expect(cache.servers).toEqual([]);
    expect(cache.learn([one])).toBe(true);
    expect(cache.recognise(oddity).kind).toBe('mcp');
    const seen = cache.recognise(oddity);
    expect(cache.learn([one])).toBe(false);
    expect(cache.recognise(oddity)).toBe(seen);
    expect(cache.learn([two])).toBe(true);
    expect(cache.recognise(oddity).kind).toBe('other');
    expect(cache.learn([two, one])).toBe(true);
    expect(cache.servers).toEqual([two, one]);
    expect(cache.learn([two])).toBe(true);
    expect(cache.recognise(oddity).kind).toBe('other');
  });
});
