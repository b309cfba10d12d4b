import { describe, expect, test } from 'vitest';
import { planClean } from '../../../src/judge/plan/clean.ts';
import { handPolicy, leakPolicy, sweepPolicy } from '../../../src/judge/plan/compose.ts';
import { planEnd, planSignal } from '../../../src/judge/plan/end.ts';
import { recheckSweep } from '../../../src/judge/plan/recheck.ts';
import type { SweepPlan } from '../../../src/judge/plan/sweep-plan.ts';
import { planZombies } from '../../../src/judge/plan/zombies.ts';
import type { TmuxServer } from '../../../src/model/observation.ts';
import { EMPTY_PLAN } from '../../../src/model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { id, invent, machine, noLineage, pids, SELF } from './machine.ts';

const end = (snapshot: Snapshot, targets: readonly number[], rest: object = {}) =>
  planEnd({
    snapshot,
    targets: targets.map(id),
    policy: leakPolicy('clean'),
    lineageMembers: noLineage,
    ...rest,
  });
const clean = (snapshot: Snapshot, rest: object = {}) =>
  planClean({ snapshot, policy: leakPolicy('clean'), lineageMembers: noLineage, ...rest });

describe('what once ran below a leak and has another parent now', () => {
  // Older than what they adopt, as on every sound table.
  const server = invent(500, 1, {
    facts: { born: 3 },
    kind: 'tmux',
    verdict: 'protected',
    protection: 'hard',
    seen: { role: 'tmux-server' },
  });
  const listing = (pid: number, reachable: boolean, ...panes: number[]): TmuxServer =>
    ({ socket: '/s', pid, reachable, panes: panes.map(pane => ({ pid: pane })) }) as unknown as TmuxServer;
  const adopter = invent(500, 1, {
    facts: { born: 3 },
    verdict: 'protected',
    protection: 'hard',
    seen: { adoptsOrphans: true },
  });
  const lineageMembers = (key: string) => (key === '10:s10' ? ['20:s20', '21:s21'] : []);
  const planned = (parent: JudgedProcess | null, ...tmux: TmuxServer[]) => {
    const rest = [invent(10, 1), invent(20, 500), invent(21, 20)];
    const snapshot = { ...machine(...(parent === null ? rest : [parent, ...rest])), tmux };
    return end(snapshot, [10], { lineageMembers });
  };

  test.each<[string, JudgedProcess | null, TmuxServer[], boolean]>([
    ['is in none of the panes of a server that answered', server, [listing(500, true, 30)], true],
    ['is a pane of it', server, [listing(500, true, 20)], false],
    ['is one of several panes of it', server, [listing(500, true, 30, 20)], false],
    ['is below a server that did not answer', server, [listing(500, false)], false],
    ['is below a server of which another one answered', server, [listing(501, true)], false],
    ['is below a server among several that answered', server, [listing(501, true), listing(500, true)], true],
    ['is below a server, and none was asked', server, [], false],
    ['has a parent that is not in the table', null, [], false],
    ['was handed to an adopter', adopter, [], true],
    ['belongs to an ordinary program', invent(500, 1, { verdict: 'unknown' }), [], false],
  ])('goes with it when it %s', (_, parent, tmux, goes) => {
    const { steps, refused } = planned(parent, ...tmux);
    expect(pids(steps)).toEqual(goes ? [10, 21, 20] : [10]);
    expect(refused.map(r => r.why)).toEqual(
      goes
        ? []
        : [
            `it once ran below p10 (10) but belongs to ${parent === null ? 'another parent' : 'p500 (500)'} now`,
          ],
    );
  });

  test('is told why it goes, and stays when it is live', () => {
    const { steps } = planned(adopter);
    expect(steps.find(step => step.pid === 20)?.why).toBe('once part of p10 (10), reparented since');
    const live = machine(adopter, invent(10, 1), invent(20, 500, { verdict: 'live' }));
    const plan = end(live, [10], { lineageMembers });
    expect([pids(plan.steps), plan.refused.map(r => r.why)]).toEqual([[10], ['it is live: because of 20']]);
  });
});

describe('nobody may be planned', () => {
  test.each([1, 2])('pid %s, were it called a leak', pid => {
    const snapshot = machine(invent(pid, 0, { facts: { uid: 1000, ppid: 0 } }));
    const own = { ...snapshot, processes: snapshot.processes.filter(p => p.facts.uid !== 0) };
    const plan = end(own, [pid], { policy: handPolicy() });
    expect([plan.steps, plan.refused[0]?.why]).toEqual([[], 'pids up to 2 belong to the system']);
  });

  test('without a reaptop, or from a recorded table', () => {
    const snapshot = machine(invent(10, 1));
    const recorded = { ...snapshot, host: { ...snapshot.host, backend: 'recorded' as const } };
    for (const unfit of [{ ...snapshot, self: null }, recorded])
      expect(end(unfit, [10]).refused[0]?.why).toContain('recorded table');
  });

  test("in reaptop's own group; where neither group is known that is no reason", () => {
    expect(end(machine(invent(10, 1, { facts: { pgid: SELF } })), [10]).refused[0]?.why).toContain('group');
    const untold = machine(invent(10, 1, { facts: { pgid: null } }));
    const plan = end({ ...untold, self: { ...untold.self!, pgid: null } }, [10]);
    expect(pids(plan.steps)).toEqual([10]);
  });

  test('soft-protected, unless a person asks; then with its pid to be typed', () => {
    const soft = machine(
      invent(10, 1, { verdict: 'protected', protection: 'soft', protectedBecause: 'shared' }),
    );
    for (const policy of [leakPolicy('clean'), sweepPolicy()])
      expect(end(soft, [10], { policy }).refused.map(r => r.why)).toEqual(['shared']);
    expect(end(soft, [10], { policy: handPolicy() }).steps).toMatchObject([{ pid: 10, confirm: true }]);
    const leak = machine(invent(10, 1, { protection: 'soft', protectedBecause: 'shared' }));
    expect(clean(leak)).toMatchObject({ steps: [], refused: [] });
  });

  test('younger than asked for, and how young is told as it was asked', () => {
    const young = machine(invent(10, 1, { ageSeconds: 5 }));
    const why = (minimumAgeSeconds: number) =>
      end(young, [10], { policy: leakPolicy('clean', { minimumAgeSeconds }) }).refused[0]?.why;
    expect(why(90)).toContain('90 s');
    expect(why(120)).toContain('2 min');
    expect(why(5)).toBeUndefined();
  });
});

describe('a plan', () => {
  test('says of each step who it is', () => {
    const details = {
      cwd: '/work',
      swap: 0,
      cgroup: null,
      stdin: 'unknown',
      lostTerminal: false,
      ignoresHangup: false,
      io: 0,
      listening: { ports: [], clients: 0 },
      uses: [],
    } as const;
    const owner = { pid: 5, start: 's5', sessionId: 'abc', how: 'environ', alive: false } as const;
    const told = machine(invent(10, 1, { owner, facts: { details } }), invent(20, 1));
    const { steps, files } = clean(told);
    expect(steps.map(step => [step.subject?.session, step.subject?.cwd])).toEqual([
      ['abc', '/work'],
      [null, null],
    ]);
    expect(files).toEqual([]);
  });

  test('says of each step why it is there, and that it need not be continued first', () => {
    const { steps } = clean(machine(invent(10, 1), invent(11, 10)));
    expect(steps.map(({ why, stopped }) => [why, stopped])).toEqual([
      ['part of p10 (10)', false],
      ['because of 10', false],
    ]);
  });

  test('names the outermost target of each step, also where that one has the greater pid', () => {
    const old = { facts: { born: 5 } };
    const { steps } = end(machine(invent(20, 1, old), invent(10, 20, { facts: { born: 6 } })), [10, 20]);
    expect(steps.map(({ pid, root }) => [pid, root.pid])).toEqual([
      [10, 20],
      [20, 20],
    ]);
  });

  test('counts what two targets have lost to the first of them, and does not refuse what it takes', () => {
    const both = machine(invent(10, 1), invent(20, 1), invent(30, 1, { ageSeconds: 5 }));
    const policy = leakPolicy('clean', { minimumAgeSeconds: 60 });
    const lineageMembers = (key: string) => (key === '30:s30' ? [] : ['30:s30']);
    const { steps, refused } = end(both, [20, 10, 30], { policy, lineageMembers });
    expect(steps.map(({ pid, root }) => [pid, root.pid])).toEqual([
      [10, 10],
      [20, 20],
      [30, 10],
    ]);
    expect(refused).toEqual([]);
  });

  test('takes what was asked for twice once, names what is gone or reused, and sorts its refusals', () => {
    const snapshot = machine(
      invent(10, 1),
      invent(11, 10),
      invent(40, 1),
      invent(30, 1, { verdict: 'live' }),
    );
    const request = { targets: [id(11), id(10), id(40), id(30), id(20), { pid: 40, start: 'old' }] };
    const plan = end(snapshot, [], request);
    expect(pids(plan.steps)).toEqual([11, 40, 10]);
    expect(plan.steps.find(step => step.pid === 11)?.root.pid).toBe(10);
    expect(plan.refused.map(r => [r.pid, r.name])).toEqual([
      [20, '?'],
      [30, 'p30'],
      [40, 'p40'],
    ]);
    expect(plan.bytes).toBe(1010 + 1011 + 1040);
  });

  test('for pids takes only those, compared by start time if given', () => {
    const snapshot = machine(invent(10, 1), invent(20, 1, { verdict: 'suspect' }), invent(30, 1));
    const asked = [{ pid: 10 }, { pid: 20, start: 's20' }, { pid: 30, start: 'old' }, { pid: 40 }];
    const plan = clean(snapshot, { pids: asked });
    expect(pids(plan.steps)).toEqual([10, 20]);
    expect(plan.refused.map(r => [r.pid, r.start])).toEqual([
      [30, 'old'],
      [40, ''],
    ]);
  });

  test('without kinds takes all kinds; with one kind it counts only its bytes', () => {
    const snapshot = machine(
      invent(10, 1, { kind: 'agent' }),
      invent(11, 10, { kind: 'mcp' }),
      invent(20, 1),
    );
    expect(clean(snapshot, { kinds: [] })).toEqual(clean(snapshot));
    expect(clean(snapshot, { kinds: ['mcp'] })).toMatchObject({ bytes: 1011, steps: [{ pid: 11 }] });
  });

  test('for one kind leaves what the whole plan left, and what lineage adds', () => {
    const kept = machine(
      invent(10, 1, { kind: 'mcp' }),
      invent(11, 10, { verdict: 'live' }),
      invent(20, 1, { kind: 'agent' }),
      invent(21, 20, { kind: 'mcp' }),
      invent(30, 1, { verdict: 'unknown' }),
    );
    const lineageMembers = (key: string) => (key === '21:s21' ? ['30:s30'] : []);
    expect(pids(clean(kept, { kinds: ['mcp'], lineageMembers }).steps)).toEqual([21]);
  });

  test('for one kind takes nothing because of a target that the whole plan left', () => {
    const snapshot = machine(
      invent(10, 1, { kind: 'agent' }),
      invent(11, 10, { kind: 'mcp' }),
      invent(12, 10, { verdict: 'live' }),
      invent(20, 1, { kind: 'agent' }),
      invent(30, 1, { verdict: 'unknown' }),
    );
    const lineageMembers = (key: string) => (key === '20:s20' || key === '11:s11' ? ['30:s30'] : []);
    expect(pids(clean(snapshot, { lineageMembers }).steps)).toEqual([20, 30]);
    expect(clean(snapshot, { kinds: ['mcp'], lineageMembers }).steps).toEqual([]);
  });

  test('for one kind takes only wrappers without other children', () => {
    const wrapper = invent(10, 1, { kind: 'wrapper' });
    const server = invent(12, 10, { kind: 'mcp' });
    const ofMcp = (...processes: JudgedProcess[]) =>
      pids(clean(machine(...processes), { kinds: ['mcp'] }).steps);
    expect(ofMcp(wrapper, invent(11, 10, { facts: { state: 'Z' } }), server)).toEqual([12, 10]);
    expect(ofMcp(wrapper, server, invent(13, 10))).toEqual([12]);
    expect(ofMcp(invent(10, 1, { kind: 'other', seen: { wraps: 'mcp' } }))).toEqual([]);
  });

  test('for a chosen signal has exactly the chosen processes', () => {
    const plan = planSignal({
      snapshot: machine(invent(10, 1), invent(11, 10)),
      targets: [id(10)],
      signal: 'SIGSTOP',
    });
    expect(plan).toMatchObject({ steps: [{ pid: 10, rss: 0, signal: 'SIGSTOP' }], bytes: 0 });
    expect(plan.steps).toHaveLength(1);
  });
});

describe('zombies', () => {
  const zombie = (pid: number, ppid: number, ageSeconds: number | null) =>
    invent(pid, ppid, { ageSeconds, facts: { state: 'Z' } });
  const plan = (snapshot: Snapshot, rest: object = {}) =>
    planZombies({
      snapshot,
      lineageMembers: noLineage,
      by: 'clean',
      minimumAgeSeconds: 3600,
      quietSeconds: 10,
      ...rest,
    });
  const server = invent(10, 1, { kind: 'mcp' });

  test.each<[number | null, string[]]>([
    [3600, ['SIGCHLD', 'SIGTERM']],
    [3599, ['SIGCHLD']],
    [null, ['SIGCHLD']],
  ])('of age %s: %j', (age, signals) => {
    const { steps } = plan(machine(server, zombie(11, 10, age)));
    expect(steps.map(step => step.signal)).toEqual(signals);
    if (signals.length === 1) expect(steps[0]?.why).toContain('is younger than 60 min');
  });

  test('of unknown age count as young; without a parent nothing is nudged', () => {
    const ageless = plan(machine(server, zombie(11, 10, null)), { minimumAgeSeconds: 0 });
    expect([ageless.steps.map(step => step.signal), ageless.files]).toEqual([['SIGCHLD'], []]);
    const torn = machine(server, zombie(11, 10, 9999), zombie(12, 11, 9999));
    expect(plan(torn, { targets: [id(12)] }).steps).toEqual([]);
  });

  test('one that is young keeps its parent, however old the others', () => {
    const { steps } = plan(machine(server, zombie(11, 10, 9999), zombie(12, 10, 5)));
    expect(steps.map(step => step.signal)).toEqual(['SIGCHLD']);
  });

  test('asked for by themselves or by their parent; what is gone or has none is passed over', () => {
    const snapshot = machine(server, zombie(11, 10, 9999), invent(20, 1), zombie(31, 4711, 9999));
    for (const target of [10, 11]) expect(plan(snapshot, { targets: [id(target)] }).steps[0]?.pid).toBe(10);
    for (const target of [20, 31, 99]) expect(plan(snapshot, { targets: [id(target)] }).steps).toEqual([]);
  });

  test('the plan says which session loses what, and what goes along', () => {
    const owner = { pid: 5, start: 's5', sessionId: 'abc', how: 'ancestor', alive: true } as const;
    const tmux = { socket: '/s', session: 'main', pane: '%1' };
    const why = (part: object) =>
      plan(machine(invent(10, 1, { kind: 'mcp', ...part }), zombie(11, 10, 9999), invent(12, 10))).steps.map(
        step => step.why,
      );
    expect(why({ owner, tmux })[2]).toMatch(
      /^session abc in tmux main would lose this server; only if the nudge/,
    );
    expect(why({ owner: { ...owner, sessionId: null } })[2]).toMatch(/^agent 5 would lose/);
    expect(why({ owner: { ...owner, sessionId: null, pid: null } })[2]).toMatch(/^agent \? would lose/);
    expect(why({ owner: { ...owner, alive: false } })[2]).toMatch(/^no running session uses it/);
    expect(why({})[1]).toMatch(/^part of p10 \(10\); only if/);
  });
});

describe('a sweep after a second look', () => {
  const sessionOf = (agent: string) => ({
    socket: '/s',
    sessionId: '$1',
    session: `agent_${agent}`,
    agent,
    processes: ['10:s10'],
    why: 'done',
  });
  const fileOf = (path: string, agent: string | null) => ({ path, agent }) as SweepPlan['files'][number];
  const planned: SweepPlan = {
    ending: end(machine(invent(10, 1)), [10]),
    sessions: [sessionOf('a')],
    files: [fileOf('/a/log', 'a'), fileOf('/b/lock', null)],
    refused: [],
    archivedBytes: 0,
    freedBytes: 0,
  };
  const none: SweepPlan = { ...planned, ending: EMPTY_PLAN, sessions: [], files: [] };

  test('does what would be planned again', () => {
    const again = recheckSweep(planned, planned);
    expect([again.agents.size, again.files.size, pids(again.ending.steps)]).toEqual([0, 0, [10]]);
  });

  test('leaves an agent whose session is not there any more, with all that runs in it', () => {
    const again = recheckSweep(planned, { ...planned, sessions: [] });
    expect([...again.agents]).toEqual([['a', 'agent_a is not the session it was']]);
    expect(again.ending.steps).toEqual([]);
    expect(again.files.size).toBe(0);
  });

  test('leaves an agent of which one file would not be planned again, and a file of nobody by itself', () => {
    const changed = recheckSweep(planned, { ...planned, files: [fileOf('/b/lock', null)] });
    expect([...changed.agents]).toEqual([['a', '/a/log changed after the plan was made']]);
    const kept = recheckSweep(planned, { ...planned, files: [fileOf('/a/log', 'a')] });
    expect([kept.agents.size, [...kept.files]]).toEqual([
      0,
      [['/b/lock', 'it is no longer what was planned for']],
    ]);
  });

  test('knows a session by its server and its id: another one of that name is not the one', () => {
    for (const other of [{ sessionId: '$2' }, { socket: '/t' }]) {
      const again = recheckSweep(planned, { ...planned, sessions: [{ ...sessionOf('a'), ...other }] });
      expect([...again.agents]).toEqual([['a', 'agent_a is not the session it was']]);
    }
  });

  test('gives the first reason, and none that was given for another', () => {
    const refused = [{ what: 'agent b', why: 'somebody is attached' }];
    expect([...recheckSweep(planned, { ...none, refused }).agents]).toEqual([
      ['a', 'agent_a is not the session it was'],
    ]);
  });

  test('says what the new plan says', () => {
    const refused = [{ what: 'agent a', why: 'somebody is attached' }];
    expect([...recheckSweep(planned, { ...none, refused }).agents]).toEqual([['a', 'somebody is attached']]);
  });

  test('leaves an agent in whose session something was started', () => {
    const grown = { ...sessionOf('a'), processes: ['10:s10', '11:s11'] };
    expect(recheckSweep(planned, { ...planned, sessions: [grown] }).agents.get('a')).toContain(
      'something started in agent_a',
    );
  });
});
