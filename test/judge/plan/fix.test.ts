import { describe, expect, it } from 'vitest';
import { type FixRequest, planFix, whyNotFixedAgain } from '../../../src/judge/plan/fix.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Finding, FindingAction, FindingId } from '../../../src/model/finding.ts';
import type { FixWay, Plan } from '../../../src/model/plan.ts';
import { identityOf, type JudgedProcess } from '../../../src/model/snapshot.ts';
import { type Around, type Row, session, tmux, world, ZOMBIE } from '../../support/world.ts';
import { HOUSE, invent, PIPED, snapshotOf } from './machine.ts';

const AGENT: Row = [1000, 80_001, 'claude'];
const SERVER = 'node /opt/mcp-server-github';

const requestOf = (snapshot: FixRequest['snapshot'], finding: Finding): FixRequest => ({
  snapshot,
  lineageMembers: () => [],
  finding,
  config: DEFAULT_CONFIG,
});

/** The real finding of a machine, and what would mend it there. */
const fixed = (id: FindingId, rows: readonly Row[], around: Around = {}, way?: FixWay): Plan => {
  const { snapshot } = world(rows, around);
  const finding = snapshot.findings.find(one => one.id === id && one.action !== null);
  if (finding === undefined) throw new Error(`there is no ${id} here`);
  return planFix({ ...requestOf(snapshot, finding), way });
};
const signals = ({ steps }: Plan): string[] => steps.map(step => `${step.pid} ${step.signal}`);

const findingOf = (
  id: FindingId,
  action: FindingAction | null,
  processes: readonly JudgedProcess[],
): Finding => ({
  id,
  severity: 'warn',
  title: 'something',
  why: '',
  processes: processes.map(identityOf),
  files: [],
  remedy: 'look at it',
  action,
});
const machine = (processes: readonly JudgedProcess[], ...findings: readonly Finding[]) =>
  snapshotOf([...HOUSE, ...processes], { findings });

describe('what mends a finding', () => {
  it('leak: what leaked, children first', () => {
    const rows: Row[] = [
      [1000, 1, 'npx -y chroma-mcp'],
      [1001, 1000, 'chroma-mcp'],
    ];
    expect(signals(fixed('leak', rows))).toEqual(['1001 SIGTERM', '1000 SIGTERM']);
  });

  it('zombie: a nudge, and the end of an idle server only on its condition', () => {
    const rows: Row[] = [AGENT, [1100, 1000, 'lean-lsp-mcp'], [1101, 1100, '[lake.orig]', ZOMBIE]];
    const plan = fixed('zombie', rows);
    expect(signals(plan)).toEqual(['1100 SIGCHLD', '1100 SIGTERM']);
    expect(plan.steps[1]?.why).toContain('only if the nudge fails');
  });

  it('duplicate-server: all but the newest, with the wrapper that carries it', () => {
    const rows: Row[] = [
      [1000, 80_001, 'gemini'],
      [1001, 1000, 'npm exec x-mcp'],
      [1002, 1001, SERVER],
      [1003, 1000, 'npm exec x-mcp'],
      [1004, 1003, SERVER],
    ];
    expect(signals(fixed('duplicate-server', rows))).toEqual(['1002 SIGTERM', '1001 SIGTERM']);
  });

  it('concurrent-builds: the newer builds of that project alone', () => {
    const elsewhere = { details: { cwd: '/home/me/other' } };
    const rows: Row[] = [
      AGENT,
      [1001, 1000, 'lake build'],
      [1002, 1000, 'lake build'],
      [1003, 1000, 'lake build'],
      [1011, 1000, 'lake build', elsewhere],
      [1012, 1000, 'lake build', elsewhere],
    ];
    expect(signals(fixed('concurrent-builds', rows))).toEqual(['1002 SIGTERM', '1003 SIGTERM']);
  });

  it('concurrent-builds: nobody when their ages do not tell which is the oldest', () => {
    const rows: Row[] = [
      AGENT,
      [1001, 1000, 'lake build', { born: 5000 }],
      [1002, 1000, 'lake build', { born: 5000 }],
    ];
    const plan = fixed('concurrent-builds', rows);
    expect(signals(plan)).toEqual([]);
    expect(plan.refused[0]?.why).toContain('not known');
  });

  it('idle-agent: sleep, or the session with everything below it where nothing tells that it is at its prompt', () => {
    const panes = tmux(700, [900]);
    const quiet = { ...panes, panes: panes.panes.map(pane => ({ ...pane, activity: 1 })) };
    const rows: Row[] = [
      [700, 1, 'tmux new'],
      [900, 700, '-bash', { tty: 'pts/0' }],
      [1000, 900, 'claude', { tty: 'pts/0' }],
      [1001, 1000, SERVER],
    ];
    const sleep = fixed('idle-agent', rows, { tmux: [quiet] });
    expect(signals(sleep)).toEqual([]);
    expect(sleep).toMatchObject({ otherWay: 'end', refused: [{ pid: 1000 }] });
    const end = fixed('idle-agent', rows, { tmux: [quiet] }, 'end');
    expect(signals(end)).toEqual(['1001 SIGTERM', '1000 SIGTERM']);
    expect(end.otherWay).toBe('sleep');
  });

  it('over-memory: the process and what is below it', () => {
    const rows: Row[] = [
      [1000, 80_001, 'opencode', { rss: 3 * 1024 ** 3 }],
      [1001, 1000, SERVER],
    ];
    expect(signals(fixed('over-memory', rows))).toEqual(['1001 SIGTERM', '1000 SIGTERM']);
  });

  it('over-memory of a background session: claude stop with its job, and no signal', () => {
    const rows: Row[] = [[1000, 1, 'claude --bg', { rss: 3 * 1024 ** 3 }]];
    const sessions = [session(1000, 'abc', { kind: 'bg', jobId: '1a2b3c4d' })];
    const plan = fixed('over-memory', rows, { sessions });
    expect(signals(plan)).toEqual([]);
    expect(plan.otherSteps).toMatchObject([{ act: 'claude-stop', target: '1a2b3c4d' }]);
  });

  it('over-memory of a background session, when what else it names is gone', () => {
    const job = invent(1200, 800, { kind: 'agent', verdict: 'live', job: 'job1' });
    const finding = findingOf('over-memory', 'stop-session', [invent(1199, 1), job]);
    const plan = planFix(requestOf(machine([job], finding), finding));
    expect(plan.otherSteps).toMatchObject([{ act: 'claude-stop', target: 'job1' }]);
  });

  it('stopped: SIGCONT, and to that process alone', () => {
    expect(
      signals(
        fixed('stopped', [
          [1000, 80_001, 'claude', { state: 'T' }],
          [1001, 1000, SERVER],
        ]),
      ),
    ).toEqual(['1000 SIGCONT']);
  });

  it.each<FindingId>(['heartbeat-stale', 'spinning', 'marker-age'])('%s: its process', id => {
    const agent = invent(1200, 800, { kind: 'agent', verdict: 'live' });
    const below = invent(1201, 1200, { verdict: 'live' });
    const finding = findingOf(id, 'end', id === 'heartbeat-stale' ? [agent, below] : [agent]);
    expect(signals(planFix(requestOf(machine([agent, below], finding), finding)))).toEqual([
      '1201 SIGTERM',
      '1200 SIGTERM',
    ]);
  });
});

describe('what it never does', () => {
  const agent = invent(1200, 800, { kind: 'agent', verdict: 'live' });

  it('acts on a finding that is no longer there', () => {
    const finding = findingOf('idle-agent', 'end', [agent]);
    const plan = planFix(requestOf(machine([agent]), finding));
    expect(plan).toMatchObject({ steps: [], refused: [{ pid: 1200, why: 'it is already resolved' }] });
  });

  it('takes another finding of the same kind for it', () => {
    const other = invent(1300, 800, { kind: 'agent', verdict: 'live' });
    const snapshot = machine([agent, other], findingOf('idle-agent', 'end', [other]));
    expect(planFix(requestOf(snapshot, findingOf('idle-agent', 'end', [agent]))).steps).toEqual([]);
  });

  it('acts where the finding has no remedy', () => {
    const finding = findingOf('too-many-agents', null, [agent]);
    const plan = planFix(requestOf(machine([agent], finding), finding));
    expect(plan).toMatchObject({ steps: [], refused: [{ why: 'look at it' }] });
  });

  it.each<[string, Partial<JudgedProcess>, string]>([
    [
      'hard',
      { protection: 'hard', verdict: 'protected', protectedBecause: 'a tmux server' },
      'a tmux server',
    ],
    [
      'soft',
      { protection: 'soft', verdict: 'protected', protectedBecause: 'hosted by an editor' },
      'x may end it',
    ],
  ])('ends what is %s-protected, or anything above it', (_, part, why) => {
    const kept = invent(1201, 1200, part);
    for (const target of [agent, kept]) {
      const finding = findingOf('idle-agent', 'end', [target]);
      const plan = planFix(requestOf(machine([agent, kept], finding), finding));
      expect(plan.steps).toEqual([]);
      expect(plan.refused[0]?.why).toContain(why);
    }
  });

  it('ends an editor that the agent opened, or the agent around it', () => {
    const editor = invent(1201, 1200, { verdict: 'live', seen: { anchor: 'editor' } });
    const finding = findingOf('idle-agent', 'end', [agent]);
    const plan = planFix(requestOf(machine([agent, editor], finding), finding));
    expect(plan.steps).toEqual([]);
    expect(plan.refused[0]?.why).toContain('it may be in use');
  });

  it.each<FindingId>(['duplicate-server', 'concurrent-builds'])('%s: ends a soft-protected sibling', id => {
    const soft = { protection: 'soft', verdict: 'protected', protectedBecause: 'it serves others' } as const;
    const kind = id === 'duplicate-server' ? 'mcp' : 'lake';
    const role = id === 'duplicate-server' ? null : 'lake-build';
    const one = (pid: number, part: Partial<JudgedProcess>): JudgedProcess =>
      invent(pid, 1200, { kind, ...part, seen: { role }, facts: { details: PIPED, argv: ['same'] } });
    const [kept, other] = id === 'duplicate-server' ? [1302, 1301] : [1301, 1302];
    const processes = [agent, one(kept, { verdict: 'live' }), one(other, soft)];
    const finding = findingOf(id, 'end', processes.slice(1));
    const plan = planFix(requestOf(machine(processes, finding), finding));
    expect(plan.steps).toEqual([]);
    expect(plan.refused[0]).toMatchObject({ pid: other, why: 'it serves others; x may end it' });
  });

  it('guesses which of two agents a marker belongs to', () => {
    const two = [agent, invent(1300, 800, { kind: 'agent', verdict: 'live' })];
    const finding = findingOf('marker-age', 'end', two);
    const plan = planFix(requestOf(machine(two, finding), finding));
    expect(plan.steps).toEqual([]);
    expect(plan.refused.map(one => one.why)).toEqual(Array(2).fill(expect.stringContaining('not known')));
  });

  it('leak: ends what is not leaked, or leaked since and not in the finding', () => {
    const leaked = invent(1400, 1);
    const live = invent(1401, 1, { verdict: 'live' });
    const later = invent(1402, 1);
    const shown = findingOf('leak', 'clean', [leaked, live]);
    const snapshot = machine([leaked, live, later], findingOf('leak', 'clean', [leaked, live, later]));
    expect(signals(planFix(requestOf(snapshot, shown)))).toEqual(['1400 SIGTERM']);
  });

  it('leak: ends a leak with something live below it', () => {
    const processes = [invent(1400, 1), invent(1401, 1400, { verdict: 'live' })];
    const finding = findingOf('leak', 'clean', processes);
    expect(planFix(requestOf(machine(processes, finding), finding)).steps).toEqual([]);
  });

  it('leak: ends a leak inside another that must stay', () => {
    const kept = [invent(1400, 1), invent(1401, 1400, { verdict: 'live' }), invent(1402, 1400)];
    const finding = findingOf('leak', 'clean', [...kept, invent(1500, 1), invent(1501, 1500)]);
    const all = [...kept, invent(1500, 1), invent(1501, 1500)];
    const plan = planFix(requestOf(machine(all, finding), finding));
    expect(signals(plan)).toEqual(['1501 SIGTERM', '1500 SIGTERM']);
    expect(plan.refused.map(({ pid }) => pid)).toEqual([1400]);
  });

  it('stops a session whose job is not known', () => {
    const finding = findingOf('over-memory', 'stop-session', [agent]);
    const plan = planFix(requestOf(machine([agent], finding), finding));
    expect([plan.steps, plan.otherSteps ?? []]).toEqual([[], []]);
  });
});

describe('a plan that was read a while ago', () => {
  const agent = invent(1200, 800, { kind: 'agent', verdict: 'live', job: 'job1' });
  const against = (action: FindingAction, then: readonly Finding[], now: readonly Finding[]) => {
    const finding = then[0]!;
    const plan = planFix(requestOf(machine([agent], ...then), finding));
    const snapshot = machine([agent], ...now);
    return whyNotFixedAgain(plan, planFix(requestOf(snapshot, finding)), action, snapshot);
  };

  it.each<FindingAction>(['end', 'continue', 'stop-session'])(
    '%s: is not carried out when the finding is over',
    action => {
      const finding = findingOf('idle-agent', action, [agent]);
      expect(against(action, [finding], [finding])).toEqual([]);
      expect(against(action, [finding], [])).toEqual([expect.stringContaining('it is already resolved')]);
    },
  );

  it('does not mind that a process is gone by itself', () => {
    const finding = findingOf('idle-agent', 'end', [agent]);
    const plan = planFix(requestOf(machine([agent], finding), finding));
    const snapshot = machine([]);
    expect(whyNotFixedAgain(plan, planFix(requestOf(snapshot, finding)), 'end', snapshot)).toEqual([]);
  });
});
