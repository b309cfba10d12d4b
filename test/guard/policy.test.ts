import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ENDING, type GuardGround, planGuard, rootsOf, Warned } from '../../src/guard/policy.ts';
import { planClean } from '../../src/judge/plan/clean.ts';
import { leakPolicy } from '../../src/judge/plan/compose.ts';
import { Sightings } from '../../src/judge/seen-twice.ts';
import type { Config, GuardPolicy } from '../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Finding } from '../../src/model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../../src/model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../src/model/snapshot.ts';
import { claude, IDLE, server } from '../judge/plan/idle-session.ts';
import { HOUSE, id, invent, snapshotOf } from '../judge/plan/machine.ts';
import { build, node } from '../judge/plan/random-machine.ts';
import { AGENT, BUSY, type HungCall, NOW, SERVER, withHungCall } from '../support/hung-call.ts';

const configOf = (policy: Partial<GuardPolicy>): Config => ({
  ...DEFAULT_CONFIG,
  policy: { ...DEFAULT_CONFIG.policy, ...policy },
});

interface Scene {
  readonly policy?: Partial<GuardPolicy>;
  /** Looks before the plan, each with its moment. */
  readonly looks?: readonly (readonly [at: number, snapshot: Snapshot])[];
  readonly at?: number;
  readonly left?: number;
  readonly resting?: ReadonlySet<IdentityKey>;
  readonly freed?: ReadonlySet<string>;
  readonly pressed?: Identity;
  readonly lineage?: ReadonlyMap<IdentityKey, readonly IdentityKey[]>;
}

const groundOf = (snapshot: Snapshot, scene: Scene = {}): GuardGround => {
  const { policy = {}, looks = [[0, snapshot]], at = 30, left = 60, resting = new Set(), lineage } = scene;
  const sightings = new Sightings();
  const warned = new Warned();
  for (const [when, look] of [...looks, [at, snapshot] as const]) {
    sightings.note(look, when);
    warned.note(look, ['over-memory', 'idle-agent'], when);
  }
  return {
    snapshot,
    lineageMembers: key => lineage?.get(key) ?? [],
    config: configOf(policy),
    sightings,
    warned,
    at,
    left,
    resting,
    pressed: scene.pressed ?? null,
    freed: scene.freed ?? new Set(),
  };
};

const machine = (...processes: readonly JudgedProcess[]): Snapshot => snapshotOf([...HOUSE, ...processes]);
const pidsOf = (ground: GuardGround): number[] =>
  planGuard(ground).acts.flatMap(({ plan }) => plan.steps.map(step => step.pid));

const finding = (id: Finding['id'], p: JudgedProcess): Finding => ({
  id,
  severity: 'critical',
  title: `${p.name} is ${id}`,
  why: '',
  processes: [identityOf(p)],
  files: [],
  remedy: '',
  action: 'end',
});

describe('a leak', () => {
  const leak = invent(2000, 1, { ageSeconds: 100 });

  test.each([
    ['seen for 30 s is ended', 30, [2000]],
    ['seen for less is left', 29, []],
  ])('%s', (_, at, pids) => expect(pidsOf(groundOf(machine(leak), { at }))).toEqual(pids));

  test('younger than a minute is left, however long it was seen', () => {
    expect(pidsOf(groundOf(machine(invent(2000, 1, { ageSeconds: 59 })), { at: 300 }))).toEqual([]);
  });

  test.each([
    ['was gone', machine()],
    ['was live', machine(invent(2000, 1, { verdict: 'live' }))],
    ['was only suspected', machine(invent(2000, 1, { verdict: 'suspect' }))],
    ['was leaked for another reason', machine(invent(2000, 1, { why: ['something else'] }))],
    ['was another process of that pid', machine(invent(2000, 1, { facts: { start: 'other' } }))],
    ['hung below another leak', machine(invent(1999, 1), invent(2000, 1999))],
  ])('that %s in between is seen for the first time again', (_, between) => {
    const looks = [
      [0, machine(leak)],
      [10, between],
      [20, machine(leak)],
    ] as const;
    expect(pidsOf(groundOf(machine(leak), { looks, at: 40 }))).toEqual([]);
    expect(pidsOf(groundOf(machine(leak), { looks, at: 50 }))).toEqual([2000]);
  });

  test('takes along what it started a moment ago: a leaked loop has a new child every second', () => {
    const now = machine(leak, invent(2001, 2000, { ageSeconds: 1 }));
    expect(pidsOf(groundOf(now, { looks: [[0, machine(leak)]] }))).toEqual([2001, 2000]);
  });

  test('is left while the config says so', () =>
    expect(pidsOf(groundOf(machine(leak), { policy: { leaks: false } }))).toEqual([]));

  test('that survived an attempt is not tried again at once', () =>
    expect(pidsOf(groundOf(machine(leak), { resting: new Set([keyOf(leak.facts)]) }))).toEqual([]));

  test('seen before the clock went back is seen for the first time again', () => {
    const looks = [[1000, machine(leak)]] as const;
    expect(pidsOf(groundOf(machine(leak), { looks, at: 40 }))).toEqual([]);
  });
});

describe('the budget', () => {
  const tree = (root: number, ageSeconds: number): JudgedProcess[] => [
    invent(root, 1, { ageSeconds }),
    invent(root + 1, root, { ageSeconds }),
  ];
  const three = machine(...tree(2000, 100), ...tree(2010, 900), ...tree(2020, 500));

  test('takes whole trees, the oldest first, and says what waits', () => {
    const { acts, waiting } = planGuard(groundOf(three, { left: 2 }));
    expect(acts[0]!.plan.steps.map(step => step.pid).sort()).toEqual([2010, 2011, 2020, 2021]);
    expect(waiting.map(({ pid }) => pid).sort()).toEqual([2000, 2001]);
  });

  test('is one for all lines of the policy: what the first takes is gone for the next', () => {
    const agent = invent(2030, 800, { kind: 'agent', isSession: true, verdict: 'live' });
    const both = { ...machine(...tree(2000, 100), agent), findings: [finding('over-memory', agent)] };
    const { acts, waiting } = planGuard(groundOf(both, { at: 60, left: 1, policy: { overMemory: true } }));
    expect(acts.map(({ what }) => what)).toEqual(['leaks']);
    expect(waiting.map(({ pid }) => pid)).toEqual([2030]);
  });

  test('of zero ends nothing', () => {
    const { acts, waiting } = planGuard(groundOf(three, { left: 0 }));
    expect([acts.length, waiting.length]).toEqual([0, 6]);
  });
});

describe('what only the config can ask for', () => {
  const agent = invent(2000, 800, { kind: 'agent', isSession: true, verdict: 'live', name: 'claude' });
  const withFinding = (id: Finding['id'], p: JudgedProcess): Snapshot => ({
    ...machine(p),
    findings: [finding(id, p)],
  });

  test.each([
    ['over-memory', 'overMemory'],
    ['idle-agent', 'idleAgents'],
  ] as const)('an agent with %s is ended a minute after its warning, and only with %s', (id, line) => {
    const now = withFinding(id, agent);
    expect(pidsOf(groundOf(now, { at: 100 }))).toEqual([]);
    expect(pidsOf(groundOf(now, { at: 59, policy: { [line]: true } }))).toEqual([]);
    expect(pidsOf(groundOf(now, { at: 60, policy: { [line]: true } }))).toEqual([2000]);
  });

  describe('sessions that are put to sleep', () => {
    const idle: Snapshot = { ...machine(claude(), server()), findings: [finding('idle-agent', claude())] };
    const planned = (snapshot: Snapshot, scene: Scene) => planGuard(groundOf(snapshot, scene)).acts;

    test('are so a minute after their warning, and only with sleepIdle', () => {
      expect(planned(idle, { at: 100 })).toEqual([]);
      expect(planned(idle, { at: 59, policy: { sleepIdle: true } })).toEqual([]);
      const [act, ...more] = planned(idle, { at: 60, policy: { sleepIdle: true } });
      expect(more).toEqual([]);
      expect(act).toMatchObject({
        what: 'sleepIdle',
        plan: {
          how: 'sleep',
          steps: [{ pid: 1000 }],
          otherSteps: [{ act: 'sleep' }],
          policy: { by: 'guard' },
        },
      });
      expect(act?.plan.sleep?.sessions.length).toBe(1);
    });

    test('are not ended by idleAgents as well', () => {
      const policy = { sleepIdle: true, idleAgents: true };
      expect(planned(idle, { at: 60, policy }).map(({ what }) => what)).toEqual(['sleepIdle']);
    });

    test('are left alone while they wait for their user, whatever else is idle about them', () => {
      const waits = claude({ session: { ...IDLE, doing: 'waiting' } });
      const now = { ...machine(waits), findings: [finding('idle-agent', waits)] };
      expect(planned(now, { at: 60, policy: { sleepIdle: true } })).toEqual([]);
    });

    test('are the one that memory is short for, and no other', () => {
      const policy = { sleepUnderPressure: true };
      const two = machine(
        claude(),
        claude({ session: { ...IDLE, id: `${IDLE.id}-2` }, facts: { pid: 1100, start: 's1100' } }),
      );
      expect(planned(two, { policy })).toEqual([]);
      expect(pidsOf(groundOf(two, { policy, pressed: id(1100) }))).toEqual([1100]);
      expect(pidsOf(groundOf(two, { pressed: id(1100) }))).toEqual([]);
    });

    test('count against the trees of an hour', () => {
      const policy = { sleepUnderPressure: true };
      expect(planned(machine(claude()), { policy, pressed: id(1000), left: 0 })).toEqual([]);
    });
  });

  test('a warning that was no longer true for one look is given again', () => {
    const now = withFinding('over-memory', agent);
    const looks = [
      [0, now],
      [30, machine(agent)],
      [40, now],
    ] as const;
    expect(pidsOf(groundOf(now, { looks, at: 80, policy: { overMemory: true } }))).toEqual([]);
  });

  test('what is large and no agent is left alone', () => {
    const java = invent(2000, 800, { kind: 'other', isSession: false, verdict: 'live' });
    const policy = { overMemory: true };
    expect(pidsOf(groundOf(withFinding('over-memory', java), { at: 300, policy }))).toEqual([]);
  });

  test('a protected agent is left alone', () => {
    const hosted = {
      ...agent,
      verdict: 'protected',
      protection: 'soft',
      protectedBecause: 'an editor hosts it',
    } as const;
    const policy = { overMemory: true, idleAgents: true };
    expect(pidsOf(groundOf(withFinding('over-memory', hosted), { at: 300, policy }))).toEqual([]);
  });

  test.each(['editor', 'terminal'] as const)('an agent with a live %s below it is left whole', anchor => {
    const below = invent(2001, 2000, { verdict: 'live', seen: { anchor } });
    const now = { ...machine(agent, below), findings: [finding('over-memory', agent)] };
    const ground = groundOf(now, { at: 300, policy: { overMemory: true } });
    expect(pidsOf(ground)).toEqual([]);
    // Without it that agent would be ended: it is the editor that counts.
    expect(
      pidsOf(groundOf(withFinding('over-memory', agent), { at: 300, policy: { overMemory: true } })),
    ).toEqual([2000]);
  });

  test('builds beyond the critical count are ended, the newest first, and the oldest three stay', () => {
    const builds = [2000, 2001, 2002, 2003, 2004].map(pid =>
      invent(pid, 800, {
        kind: 'lake',
        verdict: 'live',
        facts: {
          details: {
            cwd: '/p',
            swap: 0,
            cgroup: null,
            stdin: 'unknown',
            lostTerminal: false,
            ignoresHangup: false,
            io: 0,
            listening: { ports: [], clients: 0 },
            uses: [],
          },
        },
        seen: { role: 'lake-build' },
      }),
    );
    expect(pidsOf(groundOf(machine(...builds)))).toEqual([]);
    expect(pidsOf(groundOf(machine(...builds), { policy: { builds: true } })).sort()).toEqual([2003, 2004]);
    expect(pidsOf(groundOf(machine(...builds.slice(0, 3)), { policy: { builds: true } }))).toEqual([]);
  });

  test('a server that does not reap is nudged and ended; a shell that does not is not even nudged', () => {
    const policy = { zombieServers: true };
    const owing = (kind: 'mcp' | 'shell'): Snapshot =>
      machine(
        invent(2000, 800, { kind, verdict: 'live', zombies: 1 }),
        invent(2001, 2000, { verdict: 'live', facts: { state: 'Z' } }),
      );
    const acts = planGuard(groundOf(owing('mcp'), { policy })).acts;
    expect(acts.flatMap(({ plan }) => plan.steps.map(step => step.signal))).toEqual(['SIGCHLD', 'SIGTERM']);
    expect(pidsOf(groundOf(owing('mcp')))).toEqual([]);
    expect(pidsOf(groundOf(owing('shell'), { policy }))).toEqual([]);
  });
});

const switches = fc.record({
  leaks: fc.boolean(),
  zombieServers: fc.boolean(),
  overMemory: fc.boolean(),
  idleAgents: fc.boolean(),
  builds: fc.boolean(),
});

const anything = fc.record({
  nodes: fc.array(node, { maxLength: 14, size: 'max' }),
  firstPid: fc.constantFrom(2, 3, 50, 2000),
  policy: switches,
  left: fc.nat({ max: 5 }),
  at: fc.constantFrom(0, 29, 30, 61, 5000),
  found: fc.array(fc.tuple(fc.constantFrom('over-memory', 'idle-agent'), fc.nat()), { maxLength: 4 }),
});

describe('hung calls', () => {
  const policy = { hungCalls: true };
  const ended = (call: HungCall = {}, scene: Scene = {}): number[] =>
    pidsOf(groundOf(withHungCall(call), { policy, ...scene }));

  test('end the server that a critical call waits for, when the config asks for it', () => {
    expect(ended()).toEqual([SERVER]);
    expect(ended({}, { policy: {} })).toEqual([]);
    const [act] = planGuard(groundOf(withHungCall(), { policy })).acts;
    expect(act).toMatchObject({
      what: 'hungCalls',
      plan: { frees: [{ calls: ['toolu_1'] }], otherSteps: [{ act: 'free-call' }] },
    });
  });

  test.each<[string, HungCall]>([
    ['a call that is not critical yet', { seconds: 200 }],
    ['a server at work', { past: BUSY }],
    ['a server that is only the likeliest one', { rows: [[SERVER, AGENT, 'mcp-server-memory']] }],
    ['an agent that may wait for its user', { agent: 'codex', server: 'lean_lsp', seconds: 9000 }],
    ['a session that waits for its user', { status: 'waiting' }],
    [
      'a command',
      {
        tool: 'Bash',
        server: null,
        seconds: 9000,
        rows: [
          [
            SERVER,
            AGENT,
            '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval sleep',
            { born: NOW / 1000 - 8000, details: { outputAt: NOW - 8_000_000 } },
          ],
        ],
      },
    ],
  ])('leave %s alone', (_, call) => {
    expect(ended(call)).toEqual([]);
  });

  test('end it once for each call, and not past the budget', () => {
    expect(ended({}, { freed: new Set(['toolu_1']) })).toEqual([]);
    expect(ended({}, { freed: new Set(['toolu_0']) })).toEqual([SERVER]);
    expect(ended({}, { left: 0 })).toEqual([]);
  });

  test('leave what the config protects', () => {
    expect(ended({ config: { ...DEFAULT_CONFIG, protect: ['lean-lsp-mcp'] } })).toEqual([]);
  });
});

const cases = (run: (ground: GuardGround, snapshot: Snapshot) => void): void =>
  fc.assert(
    fc.property(anything, ({ nodes, firstPid, policy, left, at, found }) => {
      const { snapshot: bare, lineage } = build({ nodes, firstPid });
      const { processes } = bare;
      const findings = found.map(([id, pick]) =>
        finding(id as Finding['id'], processes[pick % processes.length]!),
      );
      const snapshot = { ...bare, findings };
      run(groundOf(snapshot, { policy, left, at, lineage }), snapshot);
    }),
    { numRuns: 400 },
  );

describe('whatever the machine', () => {
  test('nothing protected, foreign, unreadable or of our own line is ever in a plan', () => {
    cases((ground, { processes }) => {
      const byPid = new Map(processes.map(p => [p.facts.pid, p]));
      const own = new Set([1, 800, 900]);
      for (const pid of pidsOf(ground)) {
        const p = byPid.get(pid)!;
        expect(p.protection).toBeNull();
        expect([p.facts.uid, p.facts.unreadable, p.facts.kernelThread]).toEqual([1000, false, false]);
        expect(own.has(pid) || pid <= 2).toBe(false);
      }
    });
  });

  test('with nothing switched on but leaks, the plan is a part of what clean would do', () => {
    cases((ground, snapshot) => {
      const off = configOf({ leaks: ground.config.policy.leaks });
      const cleaned = planClean({
        ...ground,
        snapshot,
        policy: leakPolicy('clean', { minimumAgeSeconds: 60 }),
      });
      const allowed = new Set(cleaned.steps.map(keyOf));
      for (const { plan } of planGuard({ ...ground, config: off }).acts)
        for (const step of plan.steps) expect(allowed.has(keyOf(step))).toBe(true);
    });
  });

  test('what it adds to that, the config switched on', () => {
    cases(ground => {
      for (const { what } of planGuard(ground).acts) expect(ground.config.policy[what]).toBe(true);
      const none = configOf(Object.fromEntries(ENDING.map(what => [what, false])));
      expect(planGuard({ ...ground, config: none }).acts).toEqual([]);
    });
  });

  test('never more trees than the budget has, and none of them cut', () => {
    cases(ground => {
      const { acts } = planGuard(ground);
      const whole = planGuard({ ...ground, left: 1000 });
      const roots = acts.flatMap(({ plan }) => rootsOf(plan));
      expect(roots.length).toBeLessThanOrEqual(ground.left);
      for (const { what, plan } of acts)
        for (const root of rootsOf(plan)) {
          const all = whole.acts.find(act => act.what === what)!.plan.steps;
          const of = (steps: typeof all) => steps.filter(step => keyOf(step.root) === root).map(keyOf);
          expect(of(plan.steps)).toEqual(of(all));
        }
    });
  });

  test('these machines do give guard something to end', () => {
    const ended = fc
      .sample(anything, 300)
      .map(({ nodes, firstPid }) => pidsOf(groundOf(build({ nodes, firstPid }).snapshot)).length);
    expect(ended.filter(count => count > 0).length).toBeGreaterThan(100);
  });
});
