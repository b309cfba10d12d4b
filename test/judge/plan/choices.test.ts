import { describe, expect, test } from 'vitest';
import { planClean } from '../../../src/judge/plan/clean.ts';
import { handPolicy, leakPolicy } from '../../../src/judge/plan/compose.ts';
import { planBuilds, planDuplicates } from '../../../src/judge/plan/fix.ts';
import { planZombies } from '../../../src/judge/plan/zombies.ts';
import type { Kind } from '../../../src/model/kind.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { id, invent, machine, noLineage, PIPED, pids } from './machine.ts';

type Machine = ReturnType<typeof machine>;

describe('clean', () => {
  const clean = (snapshot: Machine, rest: Partial<Parameters<typeof planClean>[0]> = {}) =>
    planClean({ snapshot, policy: leakPolicy('clean'), lineageMembers: noLineage, ...rest });

  test('starts at the topmost leaked process and takes everything below', () => {
    const snapshot = machine(
      invent(10, 1, { kind: 'wrapper' }),
      invent(11, 10, { verdict: 'unknown' }),
      invent(12, 11),
      invent(20, 800, { verdict: 'live' }),
      invent(21, 20, { verdict: 'suspect' }),
      invent(30, 1, { verdict: 'unknown' }),
    );
    expect(pids(clean(snapshot).steps)).toEqual([12, 11, 10]);
    expect(clean(snapshot).steps.every(step => step.root.pid === 10)).toBe(true);
    expect(pids(clean(snapshot, { policy: leakPolicy('clean', { suspects: true }) }).steps)).toEqual([
      12, 21, 11, 10,
    ]);
  });

  test('says which leaks it leaves and why', () => {
    const snapshot = machine(
      invent(10, 1, { ageSeconds: 5 }),
      invent(20, 1),
      invent(21, 20, { verdict: 'live', name: 'claude' }),
    );
    const result = clean(snapshot, { policy: leakPolicy('clean', { minimumAgeSeconds: 60 }) });
    expect(result.steps).toEqual([]);
    expect(result.refused.map(r => r.why)).toEqual([
      expect.stringContaining('younger than the threshold of 1 min'),
      expect.stringContaining('claude (21) is in it: it is live'),
    ]);
  });

  const mixed = machine(
    invent(10, 1, { kind: 'agent' }),
    invent(11, 10, { kind: 'wrapper' }),
    invent(12, 11, { kind: 'mcp' }),
    invent(13, 12, { kind: 'browser' }),
    invent(14, 10, { kind: 'shell' }),
    invent(20, 1, { kind: 'wrapper', seen: { wraps: 'lean-lsp' } }),
    invent(21, 20, { kind: 'wrapper' }),
  );
  test.each<[Kind[], number[]]>([
    [['mcp'], [13, 12, 11]],
    [['browser'], [13]],
    [['lean-lsp'], [21, 20]],
    [['agent'], [13, 14, 12, 11, 10]],
    [['lake'], []],
  ])('--kind %s narrows to %s', (kinds, expected) => {
    expect(pids(clean(mixed, { kinds }).steps)).toEqual(expected);
  });

  test('--kind never takes what the whole request refuses', () => {
    const snapshot = machine(
      invent(10, 1, { kind: 'agent' }),
      invent(11, 10, { kind: 'mcp' }),
      invent(12, 10, { verdict: 'live' }),
    );
    expect(clean(snapshot, { kinds: ['mcp'] }).steps).toEqual([]);
    expect(clean(snapshot, { kinds: ['mcp'] }).refused).toHaveLength(1);
  });

  test('--pid takes these alone, suspects included, and refuses the rest with reasons', () => {
    const snapshot = machine(
      invent(10, 1),
      invent(20, 1, { verdict: 'suspect' }),
      invent(30, 1, { verdict: 'live' }),
      invent(40, 1, { verdict: 'unknown' }),
    );
    const result = clean(snapshot, {
      pids: [{ pid: 20 }, { pid: 30 }, { pid: 40 }, { pid: 10, start: 'other' }, { pid: 99 }],
    });
    expect(pids(result.steps)).toEqual([20]);
    expect(result.refused.map(r => [r.pid, r.why])).toEqual([
      [30, expect.stringContaining('it is live')],
      [40, expect.stringContaining('its verdict is unknown')],
      [10, expect.stringContaining('reused')],
      [99, expect.stringContaining('no process 99')],
    ]);
  });
});

describe('zombies', () => {
  const owner = { pid: 5, start: 's5', sessionId: 'abc', how: 'ancestor', alive: true } as const;
  const zombie = (pid: number, ppid: number, ageSeconds = 4000) =>
    invent(pid, ppid, { name: 'lake.orig', ageSeconds, facts: { state: 'Z' } });
  const zombies = (snapshot: Machine, rest: Partial<Parameters<typeof planZombies>[0]> = {}) =>
    planZombies({
      snapshot,
      by: 'clean',
      minimumAgeSeconds: 3600,
      quietSeconds: 10,
      lineageMembers: noLineage,
      ...rest,
    });
  const server = (pid: number, part: Parameters<typeof invent>[2] = {}) =>
    invent(pid, 800, { kind: 'lean-lsp', name: 'lean-lsp-mcp', verdict: 'live', owner, ...part });

  test('nudges the parent, then ends a quiet server, and says who loses it', () => {
    const result = zombies(
      machine(server(10), zombie(11, 10), zombie(12, 10), invent(13, 10, { verdict: 'live' })),
    );
    expect(result.steps.map(s => [s.pid, s.signal])).toEqual([
      [10, 'SIGCHLD'],
      [13, 'SIGTERM'],
      [10, 'SIGTERM'],
    ]);
    expect(result.steps[0]?.why).toBe('has 2 zombie children: lake.orig (11), lake.orig (12)');
    expect(result.steps[2]?.why).toMatch(
      /session abc would lose this server; only if the nudge fails .* 10 s/,
    );
    expect(result.bytes).toBe(1010 + 1013);
  });

  test('ends nothing where only the nudge was asked for', () => {
    const quiet = machine(server(10), zombie(11, 10));
    expect(zombies(quiet).steps.map(s => s.signal)).toContain('SIGTERM');
    const only = zombies(quiet, { nudgeOnly: true });
    expect(only.steps.map(s => [s.pid, s.signal])).toEqual([[10, 'SIGCHLD']]);
    expect(only.bytes).toBe(0);
  });

  test.each<[string, Parameters<typeof invent>[2]]>([
    ['an agent', { kind: 'agent' }],
    ['a shell', { kind: 'shell' }],
    ['anything else', { kind: 'other' }],
    ['a soft-protected server', { protection: 'soft', protectedBecause: 'serves HTTP' }],
    ['a server that uses the CPU', { facts: { cpu: 0.4 } }],
  ])('%s is only nudged', (_, part) => {
    const result = zombies(machine(server(10, part), zombie(11, 10)));
    expect(result.steps.map(s => s.signal)).toEqual(['SIGCHLD']);
    expect(result.steps[0]?.why).toMatch(/^has 1 zombie child: lake.orig \(11\); only nudged: /);
    expect(result.refused).toEqual([]);
  });

  test.each(['project', 'command', null] as const)(
    'so is one that only its words call a server (known by %s), unless an agent is known to have started it',
    known => {
      const parent = (part: Partial<JudgedProcess> = {}) => {
        const described = server(10, part);
        return { ...described, seen: { ...described.seen, known } };
      };
      const owner = { pid: 5, start: '1', sessionId: null, alive: false } as const;
      expect(zombies(machine(parent({ owner: null }), zombie(11, 10))).steps).toHaveLength(1);
      const inPane = parent({ owner: { ...owner, how: 'tmux' } });
      expect(zombies(machine(inPane, zombie(11, 10))).steps).toHaveLength(1);
      for (const how of ['ancestor', 'lineage', 'environ'] as const)
        expect(zombies(machine(parent({ owner: { ...owner, how } }), zombie(11, 10))).steps).toHaveLength(2);
    },
  );

  test('a zombie whose age nobody knows counts as young', () => {
    const ageless = invent(11, 10, { facts: { state: 'Z', born: null }, ageSeconds: null });
    expect(zombies(machine(server(10), ageless)).steps).toHaveLength(1);
  });

  test('so is a server with a young zombie, or with a shell or an agent below it', () => {
    const young = [zombie(12, 10, 30), zombie(13, 10, 30)];
    const why = (count: number) =>
      zombies(machine(server(10), zombie(11, 10), ...young.slice(0, count))).steps.map(step => step.why);
    expect(why(1)).toEqual([expect.stringMatching(/\(12\) is younger than/)]);
    expect(why(2)).toEqual([expect.stringMatching(/\(12\), .* \(13\) are younger than/)]);
    for (const kind of ['shell', 'agent'] as const)
      expect(zombies(machine(server(10), zombie(11, 10), invent(13, 10, { kind }))).steps).toHaveLength(1);
  });

  test('a hard-protected parent is not even nudged', () => {
    const result = zombies(
      machine(
        server(10, { protection: 'hard', protectedBecause: 'claude daemon' }),
        zombie(11, 10),
        zombie(850, 800),
      ),
    );
    expect(result.steps).toEqual([]);
    expect(result.refused.map(r => r.why)).toEqual(['claude daemon', 'reaptop runs below it']);
  });

  test('a zombie as target means its parent; unrelated parents need to be named', () => {
    const snapshot = machine(server(10, { related: false }), zombie(11, 10));
    expect(zombies(snapshot).steps).toEqual([]);
    expect(zombies(snapshot, { targets: [id(11), id(10)] }).steps).toHaveLength(2);
  });
});

describe('duplicates and builds', () => {
  const inProject = (pid: number, ppid: number, part: Parameters<typeof invent>[2] = {}) =>
    invent(pid, ppid, {
      kind: 'mcp',
      verdict: 'suspect',
      ...part,
      facts: {
        argv: ['node', 'server.js'],
        details: PIPED,
        ...part.facts,
      },
    });
  const policy = leakPolicy('tui', { suspects: true });

  test('keeps the newest of equal servers below one parent', () => {
    const agent = invent(10, 800, { kind: 'agent', verdict: 'live' });
    const newest = inProject(13, 10, { verdict: 'live' });
    const snapshot = machine(
      agent,
      inProject(11, 10),
      inProject(12, 10),
      newest,
      inProject(14, 10, { facts: { argv: ['other'] } }),
    );
    expect(pids(planDuplicates({ snapshot, policy, lineageMembers: noLineage }).steps)).toEqual([11, 12]);
  });

  test('equal orphans, unreadable working directories and equal births are no duplicates', () => {
    const plan = (...processes: ReturnType<typeof invent>[]) =>
      planDuplicates({
        snapshot: machine(invent(10, 800, { kind: 'agent' }), ...processes),
        policy,
        lineageMembers: noLineage,
      });
    expect(plan(inProject(11, 1), inProject(12, 1)).steps).toEqual([]);
    expect(
      plan(inProject(11, 10, { facts: { details: null } }), inProject(12, 10, { facts: { details: null } }))
        .steps,
    ).toEqual([]);
    const tied = plan(inProject(11, 10, { facts: { born: 11 } }), inProject(12, 10, { facts: { born: 11 } }));
    expect(tied.steps).toEqual([]);
    expect(tied.refused[0]?.why).toContain('is the newest');
    expect(plan(inProject(11, 10, { facts: { born: null } }), inProject(12, 10)).steps).toEqual([]);
  });

  test('so many of the oldest builds stay as may run; all of them when it cannot be told which these are', () => {
    const build = (pid: number, born: number | null = pid) =>
      inProject(pid, 800, {
        kind: 'lake',
        verdict: 'live',
        seen: { role: 'lake-build' },
        facts: { born },
      });
    const ended = (keep: number, ...builds: ReturnType<typeof build>[]) =>
      pids(
        planBuilds({ snapshot: machine(...builds), policy: handPolicy(), lineageMembers: noLineage, keep })
          .steps,
      );
    const four = [build(30), build(10), build(40), build(20)];
    expect([0, 1, 2, 3, 4, 5].map(keep => ended(keep, ...four))).toEqual([
      [20, 30, 40],
      [20, 30, 40],
      [30, 40],
      [40],
      [],
      [],
    ]);
    expect(ended(2, build(10), build(20, 10), build(30), build(40))).toEqual([]);
    const untold = [build(10), build(20, null), build(30), build(40)];
    for (const keep of [2, 3]) expect(ended(keep, ...untold)).toEqual([]);
  });

  test('keeps the oldest of concurrent builds and counts a re-executed build once', () => {
    const build = (pid: number, ppid: number) =>
      inProject(pid, ppid, { kind: 'lake', verdict: 'live', seen: { role: 'lake-build' } });
    const snapshot = machine(build(10, 800), build(11, 10), build(20, 800), build(21, 20), build(30, 800));
    expect(pids(planBuilds({ snapshot, policy: handPolicy(), lineageMembers: noLineage }).steps)).toEqual([
      21, 30, 20,
    ]);
  });
});
