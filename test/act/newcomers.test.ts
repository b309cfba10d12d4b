import { beforeEach, describe, expect, test } from 'vitest';
import { type TerminateOptions, terminate } from '../../src/act/terminate/terminate.ts';
import type { Identity } from '../../src/model/identity.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { ProcessFacts } from '../../src/model/process.ts';
import { SELF } from '../judge/plan/machine.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { kinds } from './stage.ts';

let machine: FakeSystem;
beforeEach(() => {
  machine = new FakeSystem();
});

const run = (plan: Plan, options: Partial<TerminateOptions> = {}) =>
  terminate({ system: machine, clock: machine.clock, plan, ...options });

const newborn = { born: 5000 };
const OWN = { pgid: 10, sid: 10 };

/** Runs as us for user 7. */
const SETUID = {
  cwd: null,
  swap: 0,
  realUid: 7,
  cgroup: null,
  stdin: 'unknown',
  lostTerminal: false,
  ignoresHangup: false,
  io: 0,
  listening: { ports: [], clients: 0 },
  uses: [],
} as const;

/** Takes no notice of TERM, and does this when it gets it. */
const deaf =
  (onTerm: () => void = () => {}) =>
  (signal: string, m: FakeSystem) => {
    if (signal === 'SIGTERM') onTerm();
    else for (const pid of [10, 11]) if (m.has(pid)) m.remove(pid);
  };

/** Ends with TERM, and does this as it goes. */
const ending = (pid: number, then: () => void) => (_: string, m: FakeSystem) => {
  m.remove(pid);
  then();
};

describe('a child of a member', () => {
  test('started since the plan is signalled with it, before its parent', async () => {
    const plan = planOf([machine.add(10, 1)]);
    machine.add(20, 10);
    machine.add(21, 20);
    expect(kinds((await run(plan)).outcomes)).toEqual({ ended: 3 });
    expect(machine.sent).toEqual(['21 SIGTERM', '20 SIGTERM', '10 SIGTERM']);
  });

  test('forked during the grace is killed with its parent, the parent first', async () => {
    const parent = machine.add(
      10,
      1,
      {},
      deaf(() => machine.add(20, 10, newborn)),
    );
    expect(kinds((await run(planOf([parent]))).outcomes)).toEqual({ killed: 2 });
    expect(machine.sent.filter(s => s.endsWith('KILL'))).toEqual(['10 SIGKILL', '20 SIGKILL']);
  });

  test('seen below it while it lived joins, though the parent is gone and it has a session of its own by then', async () => {
    const parent = machine.add(
      10,
      1,
      {},
      deaf(() => {
        machine.add(20, 10, newborn);
        machine.add(21, 20, newborn);
      }),
    );
    const { outcomes } = await run(planOf([parent]), {
      onProgress: p => {
        if (p.type !== 'wait' || p.elapsedMs < 5) return;
        if (machine.has(20)) machine.remove(20);
        if (machine.has(10)) machine.remove(10);
      },
    });
    expect(outcomes.map(o => o.pid).sort()).toEqual([10, 21]);
    expect(machine.has(21)).toBe(false);
  });

  test("in reaptop's own process group is refused", async () => {
    const parent = machine.add(
      10,
      1,
      {},
      deaf(() => machine.add(20, 10, { ...newborn, pgid: SELF })),
    );
    const { outcomes } = await run(planOf([parent]));
    expect(outcomes.find(o => o.pid === 20)).toMatchObject({
      outcome: 'refused',
      why: "it is in reaptop's own process group",
    });
    expect(machine.has(20)).toBe(true);
  });

  test('stays when its parent is another process with a reused pid', async () => {
    const parent = machine.add(
      10,
      1,
      {},
      ending(10, () => {
        machine.add(10, 1, { start: 'stranger', ...newborn });
        machine.add(20, 10, newborn);
        machine.add(21, 1, { ...newborn, ...OWN });
      }),
    );
    await run(planOf([parent]));
    expect(machine.sent).toEqual(['10 SIGTERM']);
    expect([10, 20, 21].every(pid => machine.has(pid))).toBe(true);
  });

  test.each(['before the first signal', 'during the grace'])(
    'that the table only shows below a member, read in slices as it is, stays: %s',
    async when => {
      const shown = { now: when.startsWith('before') };
      class Sliced extends FakeSystem {
        override async sample() {
          const look = await super.sample();
          const stale = (p: ProcessFacts): ProcessFacts => (p.pid === 20 ? { ...p, ppid: 10 } : p);
          return { ...look, processes: shown.now ? look.processes.map(stale) : look.processes };
        }
      }
      machine = new Sliced();
      const parent = machine.add(
        10,
        1,
        {},
        deaf(() => {
          shown.now = true;
        }),
      );
      machine.add(20, 1);
      await run(planOf([parent]));
      expect(machine.has(20)).toBe(true);
      expect(machine.sent).toEqual(['10 SIGTERM', '10 SIGKILL']);
    },
  );
});

describe('an orphan, by its group or session', () => {
  /** A founder that ends at once, leaving this orphan, and another member in its group that does not. */
  const leaveOrphan = (facts: Partial<ProcessFacts>, other: Partial<ProcessFacts> | null = OWN): Plan => {
    const founder = machine.add(
      10,
      1,
      OWN,
      ending(10, () => machine.add(20, 1, { ...newborn, ...facts })),
    );
    if (other === null) return planOf([founder]);
    return planOf([machine.add(11, 10, other, deaf()), founder]);
  };

  test.each<[string, Partial<ProcessFacts>, boolean]>([
    ['in a group that a member founded', { pgid: 10, sid: 3 }, true],
    ['in a session that a member founded', { pgid: 20, sid: 10 }, true],
    ["in another's group", { pgid: 4, sid: 3 }, false],
    ['in no known group', { pgid: null, sid: null }, false],
    ['in that group, but born before the run', { pgid: 10, sid: 3, born: 500 }, false],
    ['in that group, but of unknown age', { pgid: 10, sid: 3, born: null }, false],
    ["in that group, but another user's", { pgid: 10, sid: 3, uid: 7 }, false],
    ['in that group, but started by another user', { pgid: 10, sid: 3, details: SETUID }, false],
    ['in that group, but below a parent of its own', { pgid: 10, sid: 10, ppid: 800 }, false],
  ])('%s in which a member lives on: joins = %j', async (_, facts, joins) => {
    await run(leaveOrphan(facts));
    expect(machine.has(20)).toBe(!joins);
  });

  test('is never included when it existed before the run', async () => {
    const plan = leaveOrphan({});
    machine.add(21, 1, { ...OWN, born: 5000 });
    await run(plan);
    expect(machine.has(21)).toBe(true);
  });

  test.each<[string, Partial<ProcessFacts> | null]>([
    ['nobody else was in it', null],
    ['the other member is in another one', { pgid: 11, sid: 11 }],
    ['the other member is in a group of its own', { pgid: 11, sid: 3 }],
  ])('stays once the member that founded it is gone and %s: the number was free', async (_, other) => {
    const { warnings } = await run(leaveOrphan({ pgid: 10, sid: 10 }, other));
    expect(machine.has(20)).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(/^p20 \(20\) may be a child of p10 \(10\), which ended before/),
    ]);
  });

  test.each<[string, () => void]>([
    ['has ended, and a stranger of the same pid is in the group', () => machine.change(11, { start: 'new' })],
    ['has left the group and the session', () => machine.change(11, { pgid: 11, sid: 11 })],
    ['cannot be read', () => machine.unreadable.add(11)],
  ])('stays when the other member %s', async (_, change) => {
    const founder = machine.add(
      10,
      1,
      OWN,
      ending(10, () => {
        change();
        machine.add(20, 1, { ...newborn, ...OWN });
      }),
    );
    const other = machine.add(11, 10, OWN, deaf());
    await run(planOf([other, founder]));
    expect(machine.has(20)).toBe(true);
  });

  test('joins while the founder has ended but was not reaped: nobody gets its number', async () => {
    const founder = machine.add(10, 1, OWN, (_, m) => {
      m.change(10, { state: 'Z' });
      m.add(20, 1, { ...newborn, ...OWN });
    });
    await run(planOf([founder]));
    expect(machine.has(20)).toBe(false);
  });

  test('with the same words as a member that was ended stays: words and numbers are no proof', async () => {
    const words = { argv: ['node', 'server.js'], pgid: 3, sid: 3 };
    const child = machine.add(
      11,
      10,
      words,
      ending(11, () => machine.add(20, 1, { ...words, ...newborn })),
    );
    await run(planOf([child, machine.add(10, 1, { pgid: 3, sid: 3 })]));
    expect(machine.has(20)).toBe(true);
  });

  test('in the group of one that joined itself joins too', async () => {
    const founder = machine.add(
      10,
      1,
      {},
      deaf(() => {
        if (machine.has(20)) return;
        const own = { pgid: 20, sid: 20 };
        machine.add(20, 10, { ...newborn, ...own }, (_, m) => {
          m.change(20, { state: 'Z' });
          m.add(21, 1, { ...newborn, ...own });
        });
      }),
    );
    const { outcomes } = await run(planOf([founder]));
    expect(outcomes.map((o: Identity) => o.pid)).toEqual([10, 20, 21]);
  });
});
