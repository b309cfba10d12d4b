import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { terminate } from '../../src/act/terminate/terminate.ts';
import { withPss } from '../../src/engine/engine.ts';
import { type Plan, spellBack } from '../../src/model/plan.ts';
import { summarise } from '../../src/model/plan-text.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { FakeSystem, planOf } from '../act/fake-system.ts';
import { descendantsOf, planFor, startOrphan } from '../act/stage.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const MIB = 1024 ** 2;

describe('what a plan says that it gives back', () => {
  it('counts once what ten forks share, in the plan and in what came of it', async () => {
    const ready = sandbox.path('ready');
    // 64 MiB before the forks: every child has it in its RSS, and none has it for itself.
    const forks = `$x = "x" x (64 << 20); for (1..9) { last unless fork } open(F, ">>", $ARGV[0]); print F "."; close F; sleep 600`;
    const root = await startOrphan(sandbox, ['perl', '-e', forks, ready]);
    await until('the forks', () => descendantsOf(root.pid).length === 9);
    const system = procfsSystem();
    const planned = await planFor(system, [root]);
    expect(planned.bytes).toBeGreaterThan(10 * 60 * MIB);
    const plan = await withPss(planned, system);
    expect(plan.bytes).toBeLessThan(3 * 64 * MIB);
    expect(plan.bytes).toBeGreaterThan(64 * MIB);
    expect(spellBack(plan)).not.toContain('about');
    const { outcomes, freed } = await terminate({ system, plan });
    expect(freed).toBe(plan.bytes);
    expect(summarise(outcomes)).toMatch(/^10 ended, \d+ MiB freed$/);
  });

  it('is called "about" where the share cannot be read, of one member or of all', async () => {
    const system = new FakeSystem();
    const plan = planOf([system.add(11, 10), system.add(10, 1)]);
    const shares = vi.spyOn(system, 'proportionalMemory');
    const unweighed = await withPss(plan, system);
    expect([unweighed.bytes, spellBack(unweighed)]).toEqual([200, 'about 200 B']);
    shares.mockImplementation(async (...[pid]: unknown[]) => (pid === 11 ? 40 : null) as never);
    const half = await withPss(plan, system);
    expect([half.bytes, spellBack(half)]).toEqual([140, 'about 140 B']);
    expect(summarise((await terminate({ system, clock: system.clock, plan: half })).outcomes)).toBe(
      '2 ended, about 140 B freed',
    );
    shares.mockImplementation(async () => 40 as never);
    expect(spellBack(await withPss(plan, system))).toBe('80 B');
  });

  it('reads a thousand members at most: for more a reader would have to wait', async () => {
    const system = new FakeSystem();
    const many = Array.from({ length: 1001 }, (_, n) => ({ pid: 2000 + n, start: `s${2000 + n}` }));
    const asked = vi.spyOn(system, 'proportionalMemory').mockImplementation(async () => 40 as never);
    const weighed = await withPss(planOf(many), system);
    expect(asked).toHaveBeenCalledTimes(1000);
    expect([weighed.bytes, spellBack(weighed)]).toEqual([1000 * 40 + 100, 'about 39.2 KiB']);
  });

  it('asks nothing of those who give nothing back', async () => {
    const system = new FakeSystem();
    const asked = vi.spyOn(system, 'proportionalMemory');
    const nudge: Plan = planOf([{ ...system.add(10, 1), signal: 'SIGCHLD', rss: 0 }]);
    expect(spellBack(await withPss(nudge, system))).toBe('0 B');
    expect(asked).not.toHaveBeenCalled();
  });
});
