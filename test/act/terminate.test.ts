import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { terminate } from '../../src/act/terminate/terminate.ts';
import type { Progress } from '../../src/act/terminate/tracked.ts';
import type { System } from '../../src/observe/system.ts';
import { isRunning, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import {
  bystanders,
  descendantsOf,
  hurt,
  kinds,
  planFor,
  program,
  realSystem,
  startOrphan,
  startReady,
} from './stage.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const system = realSystem();

describe('real processes', () => {
  test('a chain ends with TERM, leaves first, and its bytes come back', async () => {
    const root = await startOrphan(sandbox, ['sh', '-c', 'sh -c "sleep 600; :" ; :']);
    await until('the chain', () => descendantsOf(root.pid).length === 2);
    const people = bystanders(sandbox, ['sleep', '600']);
    const plan = await planFor(system, [root]);
    expect(plan.steps).toHaveLength(3);
    expect(plan.steps.at(-1)?.pid).toBe(root.pid);
    const signals: string[] = [];
    const result = await terminate({
      system,
      plan,
      onProgress: (p: Progress) => p.type === 'signal' && signals.push(`${p.step.pid} ${p.signal}`),
    });
    expect(kinds(result.outcomes)).toEqual({ ended: 3 });
    expect(signals[0]).toBe(`${plan.steps[0]?.pid} SIGTERM`);
    expect(result.freed).toBe(plan.bytes);
    expect(result.freed).toBeGreaterThan(0);
    for (const step of plan.steps) expect(isRunning(step.pid, step.start)).toBe(false);
    expect(hurt(people)).toEqual([]);
  });

  test.each(['ignores-term.sh', 'ignores-term-and-hup.sh'])('%s is killed after the grace', async name => {
    const victim = await startReady(sandbox, name);
    const people = bystanders(sandbox, ['sleep', '600']);
    const result = await terminate({ system, plan: await planFor(system, [victim]), graceMs: 200 });
    expect(result.outcomes).toMatchObject([{ pid: victim.pid, outcome: 'killed' }]);
    expect(isRunning(victim.pid, victim.start)).toBe(false);
    expect(hurt(people)).toEqual([]);
  });

  test('a parent that forks a new child each time one dies leaves none behind', async () => {
    const parent = await startReady(sandbox, 'forks-again.sh');
    // Until its exec it takes no more notice of TERM than its parent.
    const first = await until('its child', () => descendantsOf(parent.pid).find(p => p.comm === 'sleep'));
    const people = bystanders(sandbox, ['sleep', '600']);
    const joined: number[] = [];
    const result = await terminate({
      system,
      plan: await planFor(system, [parent, first]),
      graceMs: 300,
      onProgress: p => p.type === 'join' && joined.push(p.step.pid),
    });
    expect(result.outcomes.slice(0, 2)).toMatchObject([
      { pid: first.pid, outcome: 'ended' },
      { pid: parent.pid, outcome: 'killed' },
    ]);
    expect(joined.length).toBeGreaterThan(0);
    const mine = sandbox.running().filter(p => p.sid === parent.pid);
    expect(mine).toEqual([]);
    expect(hurt(people)).toEqual([]);
  });

  test('a child that double-forks away during the grace is taken along while one of its session lives', async () => {
    const parent = await startReady(sandbox, 'flees-in-grace.sh');
    const deaf = await until('its child', () => descendantsOf(parent.pid).find(p => p.comm === 'sleep'));
    const people = bystanders(sandbox, ['sleep', '601']);
    const joined: string[] = [];
    const result = await terminate({
      system,
      plan: await planFor(system, [parent]),
      graceMs: 1000,
      onProgress: p => p.type === 'join' && joined.push(p.step.command),
    });
    // It may be caught between fork and exec, still under its parent's words: that it is gone is what counts.
    expect(joined.length).toBeGreaterThanOrEqual(1);
    expect(result.outcomes.find(o => o.pid === parent.pid)?.outcome).toBe('ended');
    expect(result.outcomes.find(o => o.pid === deaf.pid)?.outcome).toBe('killed');
    expect(sandbox.running().filter(p => p.sid === parent.pid)).toEqual([]);
    expect(hurt(people)).toEqual([]);
  });

  test('a stopped process is continued, so that TERM reaches it', async () => {
    const victim = sandbox.start(['sleep', '600'], { detached: true });
    process.kill(victim.pid, 'SIGSTOP');
    await until('the stop', () => rawProcess(victim.pid)?.state === 'T');
    const people = bystanders(sandbox, ['sleep', '600']);
    const plan = await planFor(system, [victim]);
    expect(plan.steps[0]?.stopped).toBe(true);
    const result = await terminate({ system, plan });
    expect(result.outcomes).toMatchObject([{ outcome: 'ended', why: 'ended by SIGTERM' }]);
    expect(hurt(people)).toEqual([]);
  });

  test('what a job-control shell ends because we stopped it, ended, and so did the shell', async () => {
    const root = await startOrphan(sandbox, ['bash', '-c', 'set -m; sleep 600; kill -KILL %1']);
    const job = await until('the job', () => descendantsOf(root.pid).find(p => p.comm === 'sleep'));
    const people = bystanders(sandbox, ['sleep', '600']);
    const plan = await planFor(system, [root]);
    // As on a machine that is drowning: the shell gets its turn before we see that the job has stopped.
    const late: System = {
      ...system,
      presence: async pid => {
        if (pid === job.pid && rawProcess(pid)?.state === 'T')
          await until(
            'the shell to end too',
            () => !isRunning(job.pid, job.start) && !isRunning(root.pid, root.start),
          );
        return system.presence(pid);
      },
    };
    const unattended = { ...plan, policy: { ...plan.policy!, allowSoft: false } };
    const result = await terminate({ system: late, plan: unattended });
    expect(result.outcomes).toMatchObject([
      { pid: job.pid, outcome: 'ended', why: 'ended when it was stopped for its signal' },
      { pid: root.pid, outcome: 'ended', why: 'ended with the rest of its tree, before its own turn' },
    ]);
    expect(result.freed).toBe(plan.bytes);
    expect(hurt(people)).toEqual([]);
  });

  test('X kills at once, without the grace', async () => {
    const victim = await startReady(sandbox, 'ignores-term.sh');
    const result = await terminate({
      system,
      plan: await planFor(system, [victim], 'SIGKILL'),
      graceMs: 60_000,
    });
    expect(result.outcomes).toMatchObject([{ outcome: 'killed' }]);
    // Far from its grace, also on a busy machine.
    expect(result.durationMs).toBeLessThan(10_000);
  });

  test('a server that a supervisor starts again is respawned, and left alone', async () => {
    const supervisor = sandbox.start([program('supervisor.sh'), 'sleep', '602'], { detached: true });
    const child = await until('the server', () =>
      descendantsOf(supervisor.pid).find(p => p.comm === 'sleep'),
    );
    const people = bystanders(sandbox, ['sleep', '602']);
    const result = await terminate({ system, plan: await planFor(system, [child]) });
    expect(result.outcomes).toMatchObject([{ pid: child.pid, outcome: 'respawned', freed: 0 }]);
    expect(result.outcomes[0]?.why).toContain(`${supervisor.pid} supervisor.sh started it again`);
    const again = descendantsOf(supervisor.pid).filter(p => p.state !== 'Z');
    expect(again).toHaveLength(1);
    expect(result.outcomes[0]?.why).toContain(String(again[0]?.pid));
    expect(hurt(people)).toEqual([]);
  });

  test('a child whose parent does not reap is a zombie, held by that parent', async () => {
    const parent = sandbox.start(['sh', '-c', 'sleep 603 & exec sleep 604'], { detached: true });
    const child = await until('the child', () => descendantsOf(parent.pid).find(p => p.comm === 'sleep'));
    await until('the exec', () => rawProcess(parent.pid)?.comm === 'sleep');
    const result = await terminate({ system, plan: await planFor(system, [child]) });
    expect(result.outcomes).toMatchObject([{ pid: child.pid, outcome: 'zombie' }]);
    expect(result.outcomes[0]?.why).toContain(`${parent.pid} sleep has not collected it`);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
  });

  test.each([
    ['that ends with TERM', 'calm', 'ended', 5000],
    ['that ignores TERM', 'stubborn', 'killed', 1000],
  ] as const)(
    'a tree of 200 %s is ended and verified within grace + 2 s',
    async (_, mood, outcome, graceMs) => {
      const root = await startOrphan(sandbox, [program('tree-of-200.sh'), mood]);
      await until('the whole tree', () => {
        const tree = descendantsOf(root.pid);
        return tree.length === 199 && tree.filter(p => p.comm === 'sleep').length === 188;
      });
      const people = bystanders(sandbox, ['sleep', '600']);
      const plan = await planFor(system, [root]);
      expect(plan.steps).toHaveLength(200);
      const result = await terminate({ system, plan, graceMs });
      expect(kinds(result.outcomes)).toEqual({ [outcome]: 200 });
      expect(result.durationMs).toBeLessThan(graceMs + 2000);
      expect(sandbox.running().filter(p => p.sid === root.pid)).toEqual([]);
      expect(hurt(people)).toEqual([]);
    },
  );

  test('what ended between plan and run is gone, and frees nothing', async () => {
    const victim = sandbox.start(['sleep', '600'], { detached: true });
    const plan = await planFor(system, [victim]);
    process.kill(victim.pid, 'SIGKILL');
    await until('its end', () => rawProcess(victim.pid) === null);
    const result = await terminate({ system, plan });
    expect(result.outcomes).toMatchObject([{ outcome: 'gone', freed: 0 }]);
  });

  // Only root can start one.
  test.skipIf(process.getuid?.() !== 0)(
    "another user's process is refused by the plan and by the run",
    async () => {
      const victim = sandbox.start(['setpriv', '--reuid=65534', '--clear-groups', 'sleep', '600'], {
        detached: true,
      });
      await until('the change of user', () => rawProcess(victim.pid)?.comm === 'sleep');
      const plan = await planFor(system, [victim]);
      expect(plan.steps).toEqual([]);
      expect(plan.refused[0]?.why).toContain('another user (uid 65534)');
      const own = sandbox.start(['sleep', '600'], { detached: true });
      const template = (await planFor(system, [own])).steps[0]!;
      const forced = { ...template, pid: victim.pid, start: victim.start, root: victim };
      const result = await terminate({ system, plan: { steps: [forced], refused: [], files: [], bytes: 0 } });
      expect(result.outcomes).toMatchObject([{ pid: victim.pid, outcome: 'refused' }]);
      expect(isRunning(victim.pid, victim.start)).toBe(true);
    },
  );

  test('cancelled while it waits: nothing more is sent, and what runs is said to run', async () => {
    const victim = await startReady(sandbox, 'ignores-term.sh');
    const cancel = new AbortController();
    const result = await terminate({
      system,
      plan: await planFor(system, [victim]),
      graceMs: 20_000,
      signal: cancel.signal,
      onProgress: p => p.type === 'wait' && cancel.abort(),
    });
    expect(result.outcomes).toMatchObject([{ outcome: 'survived' }]);
    expect(result.stopped).toBe('it was cancelled');
    expect(isRunning(victim.pid, victim.start)).toBe(true);
  });
});
