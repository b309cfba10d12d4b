import { beforeEach, describe, expect, test } from 'vitest';
import { endZombies, type ZombieOptions } from '../../src/act/end-zombies.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { clockWith } from './terminate/a-run.ts';

let machine: FakeSystem;
beforeEach(async () => {
  machine = new FakeSystem();
  await machine.clock.wait(3000);
});

/** A server with a zombie; `reaction`: what it does with a signal. */
const server = (pid: number, reaction?: (signal: string, m: FakeSystem) => void) => {
  const parent = machine.add(pid, 1, {}, reaction);
  machine.add(pid + 1, pid, { state: 'Z' });
  const step = { ...parent, root: parent };
  return [{ ...step, signal: 'SIGCHLD' as const, rss: 0 }, step];
};
const go = async (steps: ReturnType<typeof server>, options: Partial<ZombieOptions> = {}) => {
  const from = machine.clock.now();
  const result = await endZombies({
    system: machine,
    clock: machine.clock,
    plan: planOf(steps),
    quietSeconds: 10,
    ...options,
  });
  const said = result.outcomes.map(o => `${o.pid} ${o.outcome}: ${o.why}`);
  return { ...result, said, ms: machine.clock.now() - from };
};

describe('after SIGCHLD', () => {
  test('a parent that reaps is done, at once, and nothing of it is ended', async () => {
    const events: unknown[] = [];
    const steps = server(10, (_, m) => m.remove(11));
    const result = await go(steps, { onProgress: event => events.push(event) });
    expect(result.said).toEqual(['11 ended: reaped by its parent after SIGCHLD']);
    expect([result.ms, result.durationMs]).toEqual([0, 0]);
    expect(events).toEqual([
      { type: 'signal', step: expect.objectContaining({ pid: 10 }), signal: 'SIGCHLD' },
    ]);
    expect(machine.sent).toEqual(['10 SIGCHLD']);
  });

  test.each<[string, () => void]>([
    ['reaped', () => machine.remove(11)],
    ['handed to another parent', () => machine.change(11, { ppid: 1 })],
    ['of which another process has the number', () => machine.change(11, { start: 'new' })],
  ])('a zombie that is %s within two seconds is waited for', async (_, change) => {
    const steps = server(10, () => {});
    const { ms, said } = await go(steps, { clock: clockWith(machine, 400, change) });
    expect(said).toEqual(['11 ended: reaped by its parent after SIGCHLD']);
    expect(ms).toBeGreaterThanOrEqual(400);
    expect(ms).toBeLessThan(2000);
  });

  test('a parent that does not reap within two seconds, and is quiet for ten, is ended', async () => {
    const { said, ms, durationMs } = await go(server(10));
    expect(said).toEqual(['11 ended: reaped when its parent ended', '10 ended: ended by SIGTERM']);
    expect([ms, durationMs]).toEqual([12_000, 12_000]);
  });

  test('only those parents are ended that have not reaped', async () => {
    const steps = [...server(10, (_, m) => m.has(11) && m.remove(11)), ...server(20)];
    const { said } = await go(steps);
    expect(machine.sent).toEqual(['10 SIGCHLD', '20 SIGCHLD', '20 SIGTERM']);
    expect(said).toEqual([
      '11 ended: reaped by its parent after SIGCHLD',
      '21 ended: reaped when its parent ended',
      '20 ended: ended by SIGTERM',
    ]);
  });

  test('one that is killed has let go of its zombie, too; one that would not end has it still', async () => {
    const deaf = (signal: string, m: FakeSystem): void => {
      if (signal === 'SIGKILL') m.remove(10);
    };
    expect((await go(server(10, deaf))).said).toEqual([
      '11 ended: reaped when its parent ended',
      '10 killed: ended by SIGKILL',
    ]);
    expect((await go(server(20, () => {}))).said).toEqual([
      '21 zombie: p20 (20) has not collected it',
      '20 survived: it still runs after SIGKILL (state S)',
    ]);
  });
});

test('a parent that would not end, but reaped meanwhile, has done so itself', async () => {
  const reaping = (signal: string, m: FakeSystem): void => {
    if (signal === 'SIGTERM') m.remove(11);
  };
  expect((await go(server(10, reaping))).said).toEqual([
    '11 ended: reaped by its parent after SIGCHLD',
    '10 survived: it still runs after SIGKILL (state S)',
  ]);
});

describe('nothing is ended', () => {
  test('reports that a parent may not be nudged, without a signal', async () => {
    const events: string[] = [];
    machine.denied.add(10);
    const { said } = await go(server(10), { onProgress: event => events.push(event.type) });
    expect(said).toContain('10 denied: the system does not permit SIGCHLD to it (EPERM)');
    expect(events).not.toContain('signal');
  });

  test('once it was cancelled: no parent is nudged either, and nobody waits', async () => {
    const { ms } = await go(server(10), { signal: AbortSignal.abort(), quietSeconds: 0 });
    expect(machine.sent).toEqual([]);
    expect(ms).toBe(0);
    const cancel = new AbortController();
    const clock = clockWith(machine, 10, () => cancel.abort());
    machine.add(10, 1, {}, () => {});
    machine.add(11, 10, { state: 'Z' });
    await go(
      server(10, () => {}),
      { clock, signal: cancel.signal, quietSeconds: 0 },
    );
    expect(machine.sent).toEqual(['10 SIGCHLD']);
  });

  test('where there is nothing but a record, or no table: with no warning besides', async () => {
    const steps = server(10);
    machine.lookFails = 'no /proc';
    expect(await go(steps)).toMatchObject({
      durationMs: 0,
      freed: 0,
      stopped: null,
      warnings: [],
      worse: [],
    });
    machine.lookFails = null;
    machine.readOnly = 'a recorded table';
    expect(await go(steps)).toMatchObject({
      said: Array(2).fill('10 refused: a recorded table'),
      durationMs: 0,
      warnings: [],
      worse: [],
    });
  });
});
