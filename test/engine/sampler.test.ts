import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Sampler } from '../../src/engine/sampler.ts';

/** A sampler on an invented clock: each sample costs `cost` ms of CPU and lasts until it is let go. */
class Stage {
  began = 0;
  cost = 0;
  cpu = 0;
  /** Set: samples last until `finish`. */
  slow = false;
  readonly slowed: boolean[] = [];
  #finish: (() => void) | null = null;
  readonly sampler = new Sampler({
    intervalSeconds: 2,
    cpuMs: () => this.cpu,
    onBackOff: slowed => this.slowed.push(slowed),
    sample: async () => {
      this.began += 1;
      this.cpu += this.cost;
      if (this.slow) await new Promise<void>(resolve => (this.#finish = resolve));
    },
  });

  async finish(): Promise<void> {
    this.#finish?.();
    await vi.advanceTimersByTimeAsync(0);
  }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

let stage: Stage;
beforeEach(() => {
  vi.useFakeTimers();
  stage = new Stage();
});
afterEach(async () => {
  void stage.sampler.stop();
  await stage.finish();
  vi.useRealTimers();
});

it('samples once an interval, the first time sooner when asked', async () => {
  stage.sampler.start(300);
  await pass(299);
  expect(stage.began).toBe(0);
  await pass(1);
  expect(stage.began).toBe(1);
  await pass(1999);
  expect(stage.began).toBe(1);
  await pass(1);
  expect(stage.began).toBe(2);
});

it('never begins a sample while one is under way', async () => {
  stage.slow = true;
  stage.sampler.start();
  await pass(2000);
  await pass(20_000);
  expect(stage.began).toBe(1);
  await stage.finish();
  await pass(1999);
  expect(stage.began).toBe(1);
  await pass(1);
  expect(stage.began).toBe(2);
});

it('a sample asked for now begins after the one under way, once for all who ask', async () => {
  stage.slow = true;
  stage.sampler.start();
  await pass(2000);
  let told = 0;
  for (const _ of [1, 2, 3]) void stage.sampler.now().then(() => (told += 1));
  await pass(0);
  expect(stage.began).toBe(1);
  await stage.finish();
  expect([stage.began, told]).toEqual([2, 0]);
  await stage.finish();
  expect([stage.began, told]).toEqual([2, 3]);
});

it('backs off up to eightfold while samples are dear, and comes back when they are cheap again', async () => {
  stage.sampler.start();
  stage.cost = 600;
  await pass(2000);
  expect(stage.slowed).toEqual([true]);
  stage.cost = 1200;
  await pass(3999);
  expect(stage.began).toBe(1);
  await pass(1);
  expect(stage.began).toBe(2);
  stage.cost = 100_000;
  await pass(8000);
  await pass(16_000);
  await pass(15_999);
  expect(stage.began).toBe(4);
  stage.cost = 0;
  await pass(1);
  await pass(8000);
  await pass(4000);
  expect(stage.slowed.at(-1)).toBe(false);
  const before = stage.began;
  await pass(4000);
  expect(stage.began).toBe(before + 2);
});

it('does not swing to and fro when a sample costs about the limit', async () => {
  stage.sampler.start();
  stage.cost = 510;
  await pass(60_000);
  expect(stage.slowed).toEqual([true]);
});

it('pauses until everyone who paused has resumed, then does what was asked for meanwhile once', async () => {
  stage.sampler.start();
  await stage.sampler.pause();
  await stage.sampler.pause();
  await stage.sampler.now();
  await stage.sampler.now();
  await pass(60_000);
  stage.sampler.resume();
  await pass(60_000);
  expect(stage.began).toBe(0);
  stage.sampler.resume();
  await pass(0);
  expect(stage.began).toBe(1);
  await pass(2000);
  expect(stage.began).toBe(2);
});

it('what was asked for in one pause is not done again after the next', async () => {
  stage.sampler.start();
  await stage.sampler.pause();
  await stage.sampler.now();
  stage.sampler.resume();
  await pass(0);
  await stage.sampler.pause();
  stage.sampler.resume();
  await pass(1999);
  expect(stage.began).toBe(1);
});

it('another interval begins no sample in a pause, nor right after the one under way', async () => {
  stage.sampler.start();
  await stage.sampler.pause();
  stage.sampler.setInterval(1);
  await pass(10_000);
  stage.sampler.resume();
  await pass(999);
  expect(stage.began).toBe(0);
  stage.slow = true;
  await pass(1);
  stage.sampler.setInterval(0.5);
  await pass(10_000);
  await stage.finish();
  await pass(499);
  expect(stage.began).toBe(1);
  await pass(1);
  expect(stage.began).toBe(2);
});

it('a pause waits for the sample under way', async () => {
  stage.slow = true;
  stage.sampler.start();
  await pass(2000);
  let paused = false;
  void stage.sampler.pause().then(() => (paused = true));
  await pass(0);
  expect(paused).toBe(false);
  await stage.finish();
  expect(paused).toBe(true);
});

it('another interval counts from now and forgets the back-off', async () => {
  stage.sampler.start();
  stage.cost = 600;
  await pass(2000);
  stage.cost = 0;
  stage.sampler.setInterval(0.5);
  await pass(500);
  expect(stage.began).toBe(2);
  stage.sampler.setInterval(60);
  await pass(59_999);
  expect(stage.began).toBe(2);
});

it('without a start there is no interval: a recorded table is looked at when asked', async () => {
  await stage.sampler.now();
  stage.sampler.setInterval(1);
  await pass(60_000);
  expect(stage.began).toBe(1);
});

it('after the stop nothing begins', async () => {
  stage.slow = true;
  stage.sampler.start();
  await pass(2000);
  let stopped = false;
  void stage.sampler.now();
  void stage.sampler.stop().then(() => (stopped = true));
  await pass(0);
  expect(stopped).toBe(false);
  await stage.finish();
  expect(stopped).toBe(true);
  await stage.sampler.now();
  await pass(60_000);
  expect(stage.began).toBe(1);
});
