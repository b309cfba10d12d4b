import { describe, expect, test } from 'vitest';
import { handPolicy, leakPolicy, sweepPolicy } from '../../../src/judge/plan/compose.ts';
import { planEnd, planSignal } from '../../../src/judge/plan/end.ts';
import { HOUSE, id, invent, machine, noLineage, pids, SELF, snapshotOf } from './machine.ts';

const plan = (
  snapshot: ReturnType<typeof machine>,
  targets: readonly number[],
  policy = handPolicy(),
  lineageMembers: (key: string) => readonly string[] = noLineage,
) => planEnd({ snapshot, targets: targets.map(id), policy, lineageMembers });

/** Costlier facts of a setuid program. */
const startedBy = (realUid: number | null) =>
  ({
    cwd: null,
    swap: 0,
    realUid,
    cgroup: null,
    stdin: 'unknown',
    lostTerminal: false,
    ignoresHangup: false,
    io: 0,
    listening: { ports: [], clients: 0 },
    uses: [],
  }) as const;

describe('what a plan takes', () => {
  test('the whole subtree, leaves first, with the bytes of RSS and swap', () => {
    const details = {
      cwd: null,
      swap: 50,
      cgroup: null,

      stdin: 'unknown',
      lostTerminal: false,
      ignoresHangup: false,
      io: 0,
      listening: { ports: [], clients: 0 },
      uses: [],
    } as const;
    const result = plan(
      machine(invent(10, 1), invent(11, 10), invent(12, 11, { facts: { details } }), invent(13, 10)),
      [10],
    );
    expect(pids(result.steps)).toEqual([12, 13, 11, 10]);
    expect(result.bytes).toBe(1010 + 1011 + 1012 + 50 + 1013);
    expect(result.steps.every(step => step.root.pid === 10 && step.signal === 'SIGTERM')).toBe(true);
    expect(result.steps.at(-1)?.why).toBe('because of 10');
    expect(result.refused).toEqual([]);
  });

  test('marks of a process and of its child give one plan, whatever their order', () => {
    const snapshot = machine(invent(10, 1), invent(11, 10));
    expect(plan(snapshot, [11, 10, 11])).toEqual(plan(snapshot, [10]));
  });

  test('zombies are passed over, and as a target they name the parent that owes the wait', () => {
    const snapshot = machine(invent(10, 1), invent(11, 10, { facts: { state: 'Z' } }));
    expect(pids(plan(snapshot, [10]).steps)).toEqual([10]);
    const asTarget = plan(snapshot, [11]);
    expect(asTarget.steps).toEqual([]);
    expect(asTarget.refused[0]?.why).toMatch(/^it is a zombie of p10 \(10\); use z/);
  });

  test('a stopped process is marked, so that it can be continued first', () => {
    expect(plan(machine(invent(10, 1, { facts: { state: 'T' } })), [10]).steps[0]?.stopped).toBe(true);
  });

  test('X plans SIGKILL', () => {
    expect(plan(machine(invent(10, 1)), [10], handPolicy('SIGKILL')).steps[0]?.signal).toBe('SIGKILL');
  });
});

describe('reparented members of the lineage', () => {
  const lineageOf10 =
    (...members: number[]) =>
    (key: string) =>
      key === '10:s10' ? members.map(pid => `${pid}:s${pid}`) : [];

  test('join with their own descendants when an orphan root adopted them', () => {
    const snapshot = machine(
      invent(10, 800, { verdict: 'live' }),
      invent(20, 1),
      invent(21, 20),
      invent(22, 20),
    );
    const result = plan(snapshot, [10], handPolicy(), lineageOf10(20, 21));
    expect(pids(result.steps)).toEqual([10, 21, 22, 20]);
    expect(result.steps.find(s => s.pid === 20)?.why).toMatch(/once part of p10 \(10\)/);
  });

  test('stay when somebody else is their parent now', () => {
    const snapshot = machine(invent(10, 800), invent(20, 30), invent(30, 1, { facts: { born: 5 } }));
    const result = plan(snapshot, [10], handPolicy(), lineageOf10(20));
    expect(pids(result.steps)).toEqual([10]);
    expect(result.refused[0]).toMatchObject({ pid: 20, why: expect.stringContaining('belongs to p30 (30)') });
  });

  test('a tmux server and its panes stay, and the agent that started it can still be ended', () => {
    const server = invent(20, 1, {
      kind: 'tmux',
      seen: { role: 'tmux-server' },
      verdict: 'protected',
      protection: 'hard',
      protectedBecause: 'it is a tmux server',
    });
    const snapshot = snapshotOf([...HOUSE, invent(10, 800), server, invent(21, 20)], {
      tmux: [{ socket: '/s', pid: 20, reachable: true, panes: [{ pid: 21 } as never] }],
    });
    const result = plan(snapshot, [10], handPolicy(), lineageOf10(20, 21));
    expect(pids(result.steps)).toEqual([10]);
    expect(result.refused[0]).toMatchObject({ pid: 20, why: 'it is a tmux server' });
  });

  test('an identity that the snapshot does not hold is no member', () => {
    expect(pids(plan(machine(invent(10, 1)), [10], handPolicy(), () => ['20:old', '800:old']).steps)).toEqual(
      [10],
    );
  });
});

describe('what a plan refuses', () => {
  test.each([
    ['pid 1', 1, 'PID 1'],
    ['reaptop itself', SELF, 'it is reaptop itself'],
    ['an ancestor of reaptop', 800, 'reaptop runs below it'],
  ])('%s', (_, pid, why) => {
    const result = plan(machine(), [pid]);
    expect(result.steps).toEqual([]);
    expect(result.refused[0]?.why).toContain(why);
  });

  test.each([
    [
      'a hard-protected process',
      { protection: 'hard', protectedBecause: 'the config protects it' },
      'the config protects it',
    ],
    ["another user's process", { facts: { uid: 33 } }, 'another user (uid 33)'],
    ['what another user started', { facts: { details: startedBy(33) } }, 'another user (uid 33)'],
    ['what nobody says who started', { facts: { details: startedBy(null) } }, 'cannot be read'],
    ['an unreadable process', { facts: { unreadable: true } }, 'cannot be read'],
    ['a process of unknown owner', { facts: { uid: null } }, 'cannot be read'],
    ['a kernel thread', { facts: { kernelThread: true } }, 'kernel thread'],
    ["a process in reaptop's group", { facts: { pgid: SELF } }, 'process group'],
    ['a verdict protected without its class', { verdict: 'protected' }, 'protected'],
  ] as const)('%s, as a target and inside a subtree', (_, part, why) => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      expect(plan(machine(invent(10, 1, part)), [10], handPolicy(signal)).refused[0]?.why).toContain(why);
      const inside = plan(
        machine(invent(10, 1), invent(11, 10), invent(12, 11, part)),
        [10],
        handPolicy(signal),
      );
      expect(inside.steps).toEqual([]);
      expect(inside.refused).toHaveLength(1);
      expect(inside.refused[0]?.pid).toBe(10);
      expect(inside.refused[0]?.why).toMatch(/the whole subtree stays, because p12 \(12\) is in it/);
      expect(inside.refused[0]?.why).toContain(why);
    }
  });

  test('an identity that changed or vanished, with the reason', () => {
    const result = planEnd({
      snapshot: machine(invent(10, 1)),
      targets: [{ pid: 10, start: 'before' }, id(77)],
      policy: handPolicy(),
      lineageMembers: noLineage,
    });
    expect(result.steps).toEqual([]);
    expect(result.refused.map(r => r.why)).toEqual([
      'pid 10 names another process now (p10): it was reused',
      'no process 77',
    ]);
  });

  test('a child older than its parent: a pid was reused while the table was read', () => {
    const result = plan(machine(invent(10, 1), invent(11, 10, { facts: { born: 3 } })), [10]);
    expect(result.steps).toEqual([]);
    expect(result.refused[0]?.why).toContain('pid was reused');
  });

  test('everything in a recorded table, and in a table without reaptop', () => {
    const recorded = snapshotOf([...HOUSE, invent(10, 1)], { self: null });
    expect(plan(recorded, [10]).refused[0]?.why).toMatch(/recorded table/);
    expect(plan(snapshotOf([invent(10, 1)]), [10]).refused[0]?.why).toMatch(/does not find itself/);
  });

  test('a parent as old as its child, or of a child of unknown age, is no younger one', () => {
    const child = (born: number | null) => machine(invent(10, 1), invent(11, 10, { facts: { born } }));
    for (const born of [10, null]) expect(pids(plan(child(born), [10]).steps)).toEqual([11, 10]);
  });

  test('where ages are whole seconds, two of them are no proof of a reused pid', () => {
    const child = (born: number) => {
      const snapshot = machine(invent(10, 1), invent(11, 10, { facts: { born } }));
      return { ...snapshot, host: { ...snapshot.host, backend: 'portable' as const } };
    };
    expect(pids(plan(child(8), [10]).steps)).toEqual([11, 10]);
    expect(plan(child(7), [10]).refused[0]?.why).toContain('pid was reused');
  });

  test('a subtree for the sake of its first member by pid, and it says how many more there are', () => {
    const live = { verdict: 'live' } as const;
    const why = (...processes: ReturnType<typeof invent>[]) =>
      plan(machine(invent(10, 1), ...processes), [10], leakPolicy('clean')).refused[0]?.why;
    const first = 'the whole subtree stays, because p11 (11) is in it: it is live: because of 11';
    expect(why(invent(11, 10, live))).toBe(first);
    expect(why(invent(12, 10, live), invent(11, 10, live))).toBe(`${first} (and 1 more)`);
  });

  test('what has ended and has no parent in the table', () => {
    const zombie = invent(11, 4711, { facts: { state: 'Z' } });
    expect(plan(machine(zombie), [11]).refused[0]?.why).toBe(
      'it is a zombie: it has ended, but was not collected',
    );
  });

  test('a table with a cycle does not hang it', () => {
    expect(
      plan(
        machine(invent(10, 11, { facts: { born: null } }), invent(11, 10, { facts: { born: null } })),
        [10],
      ).steps,
    ).toHaveLength(2);
  });
});

describe('soft protection', () => {
  const soft = {
    verdict: 'protected',
    protection: 'soft',
    protectedBecause: 'it serves HTTP clients',
  } as const;

  test('by hand it may be ended, with the pid to be typed', () => {
    const result = plan(machine(invent(10, 1), invent(11, 10, soft)), [10]);
    expect(result.steps.map(s => [s.pid, s.confirm])).toEqual([
      [11, true],
      [10, false],
    ]);
    expect(plan(machine(invent(10, 1, soft)), [10]).steps[0]?.confirm).toBe(true);
  });

  test.each(['clean', 'guard', 'hook'] as const)('%s leaves the whole subtree', by => {
    const result = plan(machine(invent(10, 1), invent(11, 10, soft)), [10], leakPolicy(by));
    expect(result.steps).toEqual([]);
    expect(result.refused[0]?.why).toContain('p11 (11) is in it: it serves HTTP clients');
  });
});

describe('the gate of verdicts', () => {
  const gate = (target: string, member: string, policy = leakPolicy('clean')) =>
    plan(
      machine(invent(10, 1, { verdict: target as never }), invent(11, 10, { verdict: member as never })),
      [10],
      policy,
    ).steps.length;

  test.each([
    ['leak', 'leak', 2],
    ['leak', 'unknown', 2],
    ['leak', 'live', 0],
    ['leak', 'suspect', 0],
    ['suspect', 'leak', 0],
    ['live', 'leak', 0],
    ['unknown', 'leak', 0],
  ])('clean: target %s with a member %s gives %i steps', (target, member, count) => {
    expect(gate(target, member)).toBe(count);
  });

  test.each([
    ['suspect', 'suspect', 2],
    ['leak', 'suspect', 2],
    ['leak', 'live', 0],
    ['live', 'leak', 0],
    ['unknown', 'suspect', 0],
  ])('clean with suspects: target %s with a member %s gives %i steps', (target, member, count) => {
    expect(gate(target, member, leakPolicy('clean', { suspects: true }))).toBe(count);
  });

  test('by hand every verdict may be ended; sweep may end the live', () => {
    for (const verdict of ['live', 'suspect', 'unknown', 'leak'])
      expect(gate(verdict, 'live', handPolicy())).toBe(2);
    expect(gate('live', 'live', sweepPolicy())).toBe(2);
    expect(gate('unknown', 'live', sweepPolicy())).toBe(0);
  });

  test("an editor that a dead agent opened is somebody's work, whatever its verdict", () => {
    const snapshot = machine(invent(10, 1), invent(11, 10, { seen: { anchor: 'editor' } }));
    expect(plan(snapshot, [10], leakPolicy('guard')).steps).toEqual([]);
    expect(plan(snapshot, [10], leakPolicy('guard')).refused[0]?.why).toContain('it is an editor');
    expect(plan(snapshot, [10]).steps).toHaveLength(2);
  });

  test('age counts for the target, and an unknown age is too young', () => {
    const policy = leakPolicy('clean', { minimumAgeSeconds: 3600 });
    const old = invent(10, 1, { ageSeconds: 3600 });
    expect(plan(machine(old, invent(11, 10, { ageSeconds: 1 })), [10], policy).steps).toHaveLength(2);
    expect(plan(machine(invent(10, 1, { ageSeconds: 3599 })), [10], policy).refused[0]?.why).toContain(
      'threshold of 60 min',
    );
    expect(plan(machine(invent(10, 1, { ageSeconds: null })), [10], policy).refused[0]?.why).toBe(
      'its age is unknown',
    );
  });
});

describe('a signal of choice', () => {
  test('goes to exactly the targets; only ending signals promise bytes', () => {
    const snapshot = machine(invent(10, 1), invent(11, 10));
    expect(planSignal({ snapshot, targets: [id(10)], signal: 'SIGSTOP' })).toMatchObject({
      steps: [{ pid: 10, signal: 'SIGSTOP' }],
      bytes: 0,
    });
    expect(planSignal({ snapshot, targets: [id(10)], signal: 'SIGHUP' }).bytes).toBe(1010);
  });

  test('hard protection, zombies and changed identities are refused', () => {
    const snapshot = machine(invent(10, 1, { protection: 'hard' }), invent(11, 1, { facts: { state: 'Z' } }));
    const result = planSignal({
      snapshot,
      targets: [id(10), id(11), { pid: 10, start: 'x' }, id(800)],
      signal: 'SIGUSR1',
    });
    expect(result.steps).toEqual([]);
    expect(result.refused).toHaveLength(4);
  });
});
