import { beforeEach, describe, expect, test } from 'vitest';
import { executeSignals } from '../../src/act/signal-plan.ts';
import { type TerminateOptions, terminate } from '../../src/act/terminate/terminate.ts';
import { leakPolicy } from '../../src/judge/plan/compose.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { Plan } from '../../src/model/plan.ts';
import { invent, machine as judged } from '../judge/plan/machine.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { kinds } from './stage.ts';

let machine: FakeSystem;
beforeEach(() => {
  machine = new FakeSystem();
});

const run = (plan: Plan, options: Partial<TerminateOptions> = {}) =>
  terminate({ system: machine, clock: machine.clock, plan, ...options });

describe('through the system contract', () => {
  test('an identity that changes between plan and signal gets nothing', async () => {
    const victim = machine.add(10, 1);
    const plan = planOf([victim]);
    machine.remove(10);
    machine.add(10, 1, { start: 'another' });
    const { outcomes } = await run(plan);
    expect(outcomes).toMatchObject([
      { outcome: 'gone', freed: 0, why: expect.stringContaining('names another process now') },
    ]);
    expect(machine.sent).toEqual([]);
  });

  test('an identity that changes between TERM and KILL does not get the KILL', async () => {
    const victim = machine.add(10, 1, {}, () => {});
    const { outcomes } = await run(planOf([victim]), {
      onProgress: p => {
        if (p.type === 'wait' && p.elapsedMs > 1000) machine.change(10, { start: 'another', argv: ['else'] });
      },
    });
    expect(machine.sent).toEqual(['10 SIGTERM']);
    expect(outcomes).toMatchObject([{ outcome: 'ended' }]);
  });

  test('a process in D survives KILL, and the reason says so', async () => {
    const stuck = machine.add(10, 1, { state: 'D' }, () => {});
    const { outcomes, freed } = await run(planOf([stuck]));
    expect(machine.sent).toEqual(['10 SIGTERM', '10 SIGKILL']);
    expect(outcomes).toMatchObject([{ outcome: 'survived', why: expect.stringContaining('state D') }]);
    expect(freed).toBe(0);
  });

  test('EPERM is denied, and the others go on', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    machine.denied.add(11);
    const { outcomes } = await run(plan);
    expect(outcomes.map(o => o.outcome)).toEqual(['denied', 'ended']);
  });

  test('what cannot be identified again is refused before TERM, and survived after it', async () => {
    const plan = planOf([machine.add(10, 1, {}, () => {})]);
    machine.unreadable.add(10);
    expect((await run(plan)).outcomes).toMatchObject([{ outcome: 'refused' }]);
    expect(machine.sent).toEqual([]);
    machine.unreadable.clear();
    const { outcomes } = await run(plan, {
      onProgress: p => p.type === 'wait' && machine.unreadable.add(10),
    });
    expect(outcomes).toMatchObject([{ outcome: 'survived' }]);
    expect(machine.sent).toEqual(['10 SIGTERM']);
  });

  test('the stopped are continued before TERM', async () => {
    await run(planOf([machine.add(10, 1, { state: 'T' })]));
    expect(machine.sent).toEqual(['10 SIGCONT', '10 SIGTERM']);
  });

  test('a wrapper that ends with its server has ended, though its turn never came', async () => {
    machine.add(10, 1);
    const server = machine.add(11, 10, {}, (_, m) => {
      m.remove(11);
      m.remove(10);
    });
    const { outcomes, freed } = await run(planOf([server, { pid: 10, start: 's10' }]));
    expect(outcomes.map(o => o.outcome)).toEqual(['ended', 'ended']);
    expect(freed).toBe(200);
    expect(machine.sent).toEqual(['11 SIGTERM']);
  });

  test('a zombie below PID 1 has ended: PID 1 reaps late', async () => {
    const victim = machine.add(10, 1, {}, (_, m) => m.change(10, { state: 'Z' }));
    expect((await run(planOf([victim]))).outcomes).toMatchObject([{ outcome: 'ended', freed: 100 }]);
  });

  test('a zombie that was handed to a subreaper when its parent ended has ended too', async () => {
    machine.add(5, 1, { comm: 'somebody', born: 3 });
    const parent = machine.add(10, 5);
    const child = machine.add(11, 10, {}, (_, m) => m.change(11, { state: 'Z', ppid: 5 }));
    expect(kinds((await run(planOf([child, parent]))).outcomes)).toEqual({ ended: 2 });
  });

  test('nothing is signalled on a read-only system or without a process table', async () => {
    const plan = planOf([machine.add(10, 1)]);
    machine.lookFails = '/proc is gone';
    expect((await run(plan)).outcomes).toMatchObject([
      { outcome: 'refused', why: expect.stringContaining('/proc is gone') },
    ]);
    machine.lookFails = null;
    machine.readOnly = 'a recorded table';
    expect((await run(plan)).outcomes).toMatchObject([{ outcome: 'refused', why: 'a recorded table' }]);
    expect(machine.sent).toEqual([]);
  });

  test('the deadline of the whole run holds: no KILL after it', async () => {
    const { outcomes, stopped } = await run(planOf([machine.add(10, 1, {}, () => {})]), {
      graceMs: 60_000,
      deadlineMs: 3000,
    });
    expect(machine.sent).toEqual(['10 SIGTERM']);
    expect(outcomes).toMatchObject([{ outcome: 'survived' }]);
    expect(stopped).toMatch(/timed out after 3 s/);
  });

  test('cancelled between steps: the rest is never signalled', async () => {
    const cancel = new AbortController();
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    const { outcomes } = await run(plan, {
      signal: cancel.signal,
      onProgress: p => p.type === 'signal' && cancel.abort(),
    });
    expect(machine.sent).toEqual(['11 SIGTERM']);
    expect(outcomes).toMatchObject([
      { outcome: 'ended' },
      { outcome: 'refused', why: expect.stringContaining('cancelled') },
    ]);
  });
});

describe('soft protection at the moment of the act', () => {
  test('without the typed pid the whole subtree stays', async () => {
    const plan = planOf([{ ...machine.add(11, 10), confirm: true }, machine.add(10, 1)]);
    expect(kinds((await run(plan)).outcomes)).toEqual({ refused: 2 });
    expect(machine.sent).toEqual([]);
    expect(
      kinds((await run(plan, { confirmed: new Set([keyOf({ pid: 11, start: 's11' })]) })).outcomes),
    ).toEqual({ ended: 2 });
  });

  test('what became protected since the plan keeps its subtree', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    const resample = async () =>
      judged(
        invent(10, 1),
        invent(11, 10, { protection: 'soft', protectedBecause: 'clients are connected' }),
      );
    const { outcomes } = await run(plan, { resample });
    expect(outcomes).toMatchObject([
      { outcome: 'refused' },
      { outcome: 'refused', why: expect.stringContaining('clients are connected') },
    ]);
    expect(machine.sent).toEqual([]);
  });

  test('so does a protected newcomer below it', async () => {
    const plan = planOf([machine.add(10, 1)]);
    machine.add(12, 10);
    const resample = async () =>
      judged(invent(10, 1), invent(12, 10, { protection: 'hard', protectedBecause: 'a tmux server' }));
    expect((await run(plan, { resample })).outcomes).toMatchObject([
      { outcome: 'refused', why: expect.stringContaining('p12 (12)') },
    ]);
    expect(machine.sent).toEqual([]);
  });
});

describe('before KILL, in a plan made for leaks', () => {
  const deaf = () => machine.add(10, 1, {}, () => {});
  /** What is seen of it from the second look on, which is the one before KILL. */
  const killedWhen = async (later: Parameters<typeof invent>[2] | null) => {
    const plan: Plan = { ...planOf([deaf()]), policy: leakPolicy('clean') };
    let looks = 0;
    const resample = async () => {
      looks += 1;
      if (looks > 1 && later === null) throw new Error('no table');
      return judged(invent(10, 1, looks === 1 ? {} : (later ?? {})));
    };
    const { outcomes } = await run(plan, { resample });
    return { sent: machine.sent, outcomes };
  };

  test.each<[string, Parameters<typeof invent>[2] | null]>([
    ['somebody has connected', { verdict: 'suspect', doubt: { why: 'has a client at /x' } }],
    ['an owner has turned up', { verdict: 'live', why: ['its environment names a claude'] }],
    ['it is protected', { protection: 'soft', protectedBecause: 'a service' }],
    ['nobody can look', null],
  ])('what took no notice of TERM is left when %s', async (_, later) => {
    const { sent, outcomes } = await killedWhen(later);
    expect(sent).toEqual(['10 SIGTERM']);
    expect(outcomes).toMatchObject([{ outcome: 'survived', why: expect.stringContaining('was not killed') }]);
  });

  test.each<[string, Parameters<typeof invent>[2]]>([
    ['it works: it was told to end', { verdict: 'suspect', doubt: { why: 'is at work', atWork: true } }],
    ['its proof has gone with its parent', { verdict: 'unknown' }],
    ['nothing has changed', {}],
  ])('it is killed when %s', async (_, later) => {
    const { sent } = await killedWhen(later);
    expect(sent).toContain('10 SIGKILL');
  });
});

describe('respawned', () => {
  const marked = { argv: ['srv'], comm: 'srv', env: { CLAUDE_CODE_SESSION_ID: 'a' } };

  test('by a supervisor outside the plan, within two seconds: named, and not touched', async () => {
    machine.add(5, 800, { comm: 'supervisord', born: 3 });
    const server = machine.add(10, 5, { argv: ['srv'] }, (_, m) => {
      m.remove(10);
      m.add(30, 5, { argv: ['srv'], born: 5000 });
    });
    const { outcomes, freed } = await run(planOf([server]));
    expect(outcomes).toMatchObject([
      {
        outcome: 'respawned',
        freed: 0,
        why: expect.stringContaining('5 supervisord started it again as 30'),
      },
    ]);
    expect(freed).toBe(0);
    expect(machine.sent).toEqual(['10 SIGTERM']);
  });

  test('one new process accounts for one of two equal servers', async () => {
    machine.add(5, 800, { comm: 'sup', born: 3 });
    const first = machine.add(10, 5, { argv: ['srv'] });
    const second = machine.add(11, 5, { argv: ['srv'] }, (_, m) => {
      m.remove(11);
      m.add(30, 5, { argv: ['srv'], born: 5000 });
    });
    expect(kinds((await run(planOf([first, second]))).outcomes)).toEqual({ respawned: 1, ended: 1 });
  });

  test.each([
    ['without a mark', null, []],
    ['with the marks of another session', { CLAUDE_CODE_SESSION_ID: 'b' }, []],
    [
      'with the same marks',
      { CLAUDE_CODE_SESSION_ID: 'a' },
      [expect.stringContaining('srv (30) may be a child of p10 (10), which ended before')],
    ],
  ] as const)('no adopter is said to have started what may have fled to it: %s', async (_, env, warnings) => {
    const server = machine.add(10, 1, marked, (_signal, m) => {
      m.remove(10);
      m.add(30, 1, { argv: ['srv'], comm: 'srv', born: 5000, env });
    });
    const result = await run(planOf([server]));
    expect(result.outcomes).toMatchObject([{ outcome: 'ended' }]);
    expect(result.warnings).toEqual(warnings);
    expect(machine.sent).toEqual(['10 SIGTERM']);
  });

  test.each([
    [{ CLAUDE_CODE_SESSION_ID: 'a' }, 'respawned'],
    [{ CLAUDE_CODE_SESSION_ID: 'b' }, 'ended'],
  ] as const)('an adopter that starts one with %j after all have ended: %s', async (env, outcome) => {
    machine.add(5, 800, { comm: 'sup', born: 3 });
    const server = machine.add(10, 1, marked);
    const other = machine.add(11, 5, { argv: ['other'] });
    let looks = 0;
    const look = machine.sample.bind(machine);
    machine.sample = async () => {
      // The plan's own look, the one for newcomers, the first for respawns.
      looks += 1;
      if (looks === 4) machine.add(30, 1, { argv: ['srv'], comm: 'srv', born: 5000, env });
      return look();
    };
    const { outcomes } = await run(planOf([server, other]));
    expect(outcomes).toMatchObject([{ outcome }, { outcome: 'ended' }]);
  });

  test('an equal process that was there before is no respawn', async () => {
    machine.add(5, 800, { born: 3 });
    machine.add(12, 5, { argv: ['srv'] });
    const { outcomes } = await run(planOf([machine.add(10, 5, { argv: ['srv'] })]));
    expect(outcomes).toMatchObject([{ outcome: 'ended' }]);
  });
});

describe('a signal of choice', () => {
  test('is sent once and never escalates', async () => {
    const plan = planOf([{ ...machine.add(10, 1, {}, () => {}), signal: 'SIGTERM' }]);
    const result = await executeSignals({ system: machine, clock: machine.clock, plan });
    expect(result.outcomes).toMatchObject([{ outcome: 'survived', why: 'it got SIGTERM and runs on' }]);
    expect(result.summary).toBe('SIGTERM sent to 1');
    expect(machine.sent).toEqual(['10 SIGTERM']);
  });

  test('says what it could not reach', async () => {
    machine.add(10, 1);
    machine.denied.add(11);
    const steps = [
      { pid: 10, start: 'old' },
      machine.add(11, 1),
      { ...machine.add(12, 1), confirm: true },
      machine.add(13, 1),
    ];
    const result = await executeSignals({
      system: machine,
      clock: machine.clock,
      plan: planOf(steps.map(s => ({ ...s, signal: 'SIGCONT' as const }))),
    });
    expect(result.outcomes.map(o => o.outcome)).toEqual(['gone', 'denied', 'refused', 'survived']);
    expect(result.summary).toBe('SIGCONT sent to 1, not to 3');
  });
});
