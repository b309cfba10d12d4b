import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endZombies } from '../../src/act/end-zombies.ts';
import { planZombies } from '../../src/judge/plan/zombies.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { System } from '../../src/observe/system.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { bystanders, everythingLeaked, hurt, kinds, program, realSystem, startOrphan } from './stage.ts';

const zombiesBelow = (pid: number): RawProcess[] => childrenOf(pid).filter(p => p.state === 'Z');

/** The plan that judging would lead to if the parent were a server. */
const planAsServer = async (system: System, parent: RawProcess): Promise<Plan> => {
  const snapshot = await everythingLeaked(system);
  const processes = snapshot.processes.map(p =>
    p.facts.pid === parent.pid ? { ...p, kind: 'lean-lsp' as const } : p,
  );
  return planZombies({
    snapshot: { ...snapshot, processes },
    by: 'clean',
    targets: [parent],
    minimumAgeSeconds: 0,
    quietSeconds: 0.2,
    lineageMembers: () => [],
  });
};

describe('real zombies', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const system = realSystem();

  test('a parent that reaps on SIGCHLD is nudged and lives', async () => {
    const [go, ready] = [sandbox.path('go'), sandbox.path('ready')];
    const parent = await startOrphan(sandbox, ['perl', program('reaps-on-chld.pl'), go, ready]);
    await until('three zombies', () => zombiesBelow(parent.pid).length === 3);
    sandbox.write('go', '');
    await until('the handler', () => existsSync(ready));
    const people = bystanders(sandbox);
    const plan = await planAsServer(system, parent);
    expect(plan.steps.map(s => s.signal)).toEqual(['SIGCHLD', 'SIGTERM']);
    const result = await endZombies({ system, plan, quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ ended: 3 });
    expect(result.outcomes[0]?.why).toBe('reaped by its parent after SIGCHLD');
    expect(zombiesBelow(parent.pid)).toEqual([]);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
    expect(hurt(people)).toEqual([]);
  });

  test('a server that never reaps is ended after the nudge, and its zombies go with it', async () => {
    const parent = await startOrphan(sandbox, [program('unreaping-parent.sh')]);
    await until(
      'three zombies',
      () => zombiesBelow(parent.pid).length === 3 && rawProcess(parent.pid)?.comm === 'sleep',
    );
    const people = bystanders(sandbox, ['sleep', '600']);
    const result = await endZombies({ system, plan: await planAsServer(system, parent), quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ ended: 4 });
    expect(result.durationMs).toBeGreaterThan(2000);
    expect(isRunning(parent.pid, parent.start)).toBe(false);
    expect(hurt(people)).toEqual([]);
  });

  test('anything else that never reaps is nudged and kept, its zombies reported as held', async () => {
    const parent = await startOrphan(sandbox, [program('unreaping-parent.sh')]);
    await until('three zombies', () => zombiesBelow(parent.pid).length === 3);
    const plan = planZombies({
      snapshot: await everythingLeaked(system),
      by: 'clean',
      targets: [parent],
      minimumAgeSeconds: 0,
      quietSeconds: 0.2,
      lineageMembers: () => [],
    });
    expect(plan.steps.map(s => s.signal)).toEqual(['SIGCHLD']);
    const result = await endZombies({ system, plan, quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ zombie: 3 });
    expect(result.outcomes[0]?.why).toContain(`sleep (${parent.pid}) has not collected it`);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
  });
});
