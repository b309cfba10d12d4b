import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { terminate } from '../../../src/act/terminate/terminate.ts';
import { portableSystem } from '../../../src/observe/portable/system.ts';
import { isRunning } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import {
  bystanders,
  descendantsOf,
  hurt,
  kinds,
  planFor,
  program,
  startOrphan,
  startReady,
} from '../stage.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

describe('on the portable backend', () => {
  const system = portableSystem();

  test('a chain ends leaves first, and every bystander lives', async () => {
    const root = await startOrphan(sandbox, ['sh', '-c', 'sh -c "sleep 600; :" ; :']);
    await until('the chain', () => descendantsOf(root.pid).length === 2);
    const people = bystanders(sandbox, ['sleep', '600']);
    const plan = await planFor(system, [await seenBy(root.pid)]);
    expect(plan.steps).toHaveLength(3);
    const result = await terminate({ system, plan });
    expect(kinds(result.outcomes)).toEqual({ ended: 3 });
    expect(sandbox.running().filter(p => p.sid === root.pid)).toEqual([]);
    expect(hurt(people)).toEqual([]);
  });

  test('what ignores TERM is killed, and what it forks meanwhile with it', async () => {
    const parent = await startReady(sandbox, 'forks-again.sh');
    const first = await until('its child', () => descendantsOf(parent.pid)[0]);
    const people = bystanders(sandbox, ['sleep', '600']);
    const result = await terminate({
      system,
      plan: await planFor(system, [await seenBy(parent.pid)]),
      graceMs: 500,
    });
    expect(result.outcomes.find(o => o.pid === parent.pid)?.outcome).toBe('killed');
    expect(isRunning(first.pid, first.start)).toBe(false);
    // What it forks in the very moment of its KILL nobody can prove to be its own: that is left alone, and told.
    for (const left of sandbox.running().filter(p => p.sid === parent.pid))
      expect(result.warnings.join()).toMatch(
        new RegExp(`${left.comm} \\(${left.pid}\\) may be a child of .*\\(${parent.pid}\\)`),
      );
    expect(hurt(people)).toEqual([]);
  });

  test('each of the stubborn is told of with one TERM and one KILL', async () => {
    const stubborn = [
      await startReady(sandbox, 'ignores-term.sh'),
      await startReady(sandbox, 'ignores-term.sh'),
    ];
    const plan = await planFor(system, await Promise.all(stubborn.map(({ pid }) => seenBy(pid))));
    const signals: string[] = [];
    const result = await terminate({
      system,
      plan,
      graceMs: 300,
      onProgress: event => event.type === 'signal' && signals.push(`${event.step.pid} ${event.signal}`),
    });
    const roots = result.outcomes.filter(({ pid }) => stubborn.some(one => one.pid === pid));
    expect(kinds(roots)).toEqual({ killed: 2 });
    for (const { pid } of stubborn)
      expect(signals.filter(told => told.startsWith(`${pid} `))).toEqual([
        `${pid} SIGTERM`,
        `${pid} SIGKILL`,
      ]);
  });

  test('a broad tree is ended and verified', async () => {
    const root = await startOrphan(sandbox, [program('tree-of-200.sh'), 'calm']);
    await until('the whole tree', () => descendantsOf(root.pid).length === 199);
    const people = bystanders(sandbox, ['sleep', '600']);
    const result = await terminate({
      system,
      plan: await planFor(system, [await seenBy(root.pid)]),
      deadlineMs: 60_000,
    });
    expect(kinds(result.outcomes)).toEqual({ ended: 200 });
    expect(sandbox.running().filter(p => p.sid === root.pid)).toEqual([]);
    expect(hurt(people)).toEqual([]);
  });

  /** Its start times are epoch seconds: the identity is the backend's own. */
  const seenBy = async (pid: number) => {
    const facts = (await system.sample()).processes.find(p => p.pid === pid);
    if (facts === undefined) throw new Error(`ps does not list ${pid}`);
    return { pid, start: facts.start };
  };
});
