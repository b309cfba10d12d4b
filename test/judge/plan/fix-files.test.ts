import { describe, expect, it } from 'vitest';
import { findAll } from '../../../src/judge/findings/index.ts';
import { planFixFiles, shownFixFiles } from '../../../src/judge/plan/fix-files.ts';
import type { FindingId } from '../../../src/model/finding.ts';
import { agent, agentFiles, file, type Props, pane, sceneOf, server } from '../heartbeats/scene.ts';
import { invent } from './machine.ts';
import { requestFor } from './sweep-scene.ts';

const DIR = '/p/specs/688_x';
const OTHER = '/p/specs/701_y';
const staleIn = (directory: string) => [
  file(`${directory}/.diagnostic-lock`, 'diagnostic-lock', 60),
  file(`${directory}/.postflight-pending`, 'postflight-marker', 400),
  file(`${directory}/.postflight-loop-guard`, 'loop-guard', 400, { counters: { count: 3 } }),
];

const fixed = (id: FindingId, props: Props, nth = 0, known = {}) => {
  const finding = findAll(sceneOf(props)).filter(one => one.id === id)[nth];
  if (finding === undefined) throw new Error(`there is no ${id} here`);
  return planFixFiles(requestFor(props, known), finding);
};
const paths = (plan: ReturnType<typeof fixed>): string[] =>
  plan.files.map(({ act, path }) => `${act} ${path}`);

describe('files that mend a finding', () => {
  const readings = [...staleIn(DIR), ...staleIn(OTHER)];

  it('lock-stale: that lock alone', () => {
    expect(paths(fixed('lock-stale', { readings }))).toEqual([`remove ${DIR}/.diagnostic-lock`]);
  });

  it('marker-age: the marker and the loop guard beside it', () => {
    expect(paths(fixed('marker-age', { readings }))).toEqual([
      `remove ${DIR}/.postflight-pending`,
      `remove ${DIR}/.postflight-loop-guard`,
    ]);
  });

  it('loop-guard: the guard', () => {
    expect(paths(fixed('loop-guard', { readings }))).toEqual([`remove ${DIR}/.postflight-loop-guard`]);
  });

  it('leftover-files: what the finished agent left, archived', () => {
    const plan = fixed('leftover-files', { readings: [...agentFiles('a', 1e6, true), ...readings] });
    expect(plan.files.map(({ act }) => act).sort()).toEqual([
      'archive',
      'archive',
      'archive',
      'archive',
      'delete',
    ]);
    expect(plan.files.every(({ path }) => path.includes('TASK-'))).toBe(true);
  });

  it('agent-finished-session-alive: its processes, its session, then its files; no other agent’s', () => {
    const argv = ['sh', '-c', 'claude | tee log'];
    const shells = [1100, 1110].map(pid =>
      invent(pid, 40, { kind: 'shell', verdict: 'live', facts: { born: 50, argv } }),
    );
    const tmux = [
      server([pane('agent_a', { pid: 1100 }), pane('agent_b', { pid: 1110, sessionId: '$2', pane: '%2' })]),
    ];
    const both = [...agentFiles('a', 600, true), ...agentFiles('b', 600, true)];
    const plan = fixed('agent-finished-session-alive', { readings: both, tmux, processes: shells });
    expect(plan.ending.steps.map(step => step.pid)).toEqual([1100]);
    expect(plan.sessions.map(({ session }) => session)).toEqual(['agent_a']);
    expect(plan.files).toHaveLength(5);
    expect(plan.files.every(({ agent: whose }) => whose === 'a')).toBe(true);
    expect(shownFixFiles(plan).chores?.[0]).toMatchObject({ act: 'end-session', target: 'agent_a' });
  });
});

describe('what it leaves alone, and says so', () => {
  it('a stale lock of an agent that lives is removed for whoever asks, with its owner named; a sweep leaves it', () => {
    const props = { readings: staleIn(DIR), processes: [agent(1200)] };
    const plan = fixed('lock-stale', props);
    expect(paths(plan)).toEqual([`remove ${DIR}/.diagnostic-lock`]);
    expect(plan.files[0]?.why).toContain('claude (1200), which lives');
  });

  it('a file that cannot be touched safely, or changes while we look', () => {
    const path = `${DIR}/.diagnostic-lock`;
    const unsafe = fixed('lock-stale', { readings: staleIn(DIR) }, 0, { seen: new Map() });
    expect([unsafe.files, unsafe.refused.map(({ what }) => what)]).toEqual([[], [path]]);
    const props = { readings: staleIn(DIR), processes: [agent(1200)] };
    expect(fixed('lock-stale', props, 0, { growing: new Set([path]) }).files).toEqual([]);
  });

  it('a session that somebody is attached to, with the reason', () => {
    const props = {
      readings: agentFiles('a', 600, true),
      tmux: [server([pane('agent_a', { pid: 1100, attached: true })])],
      processes: [invent(1100, 40, { kind: 'shell', verdict: 'live' })],
    };
    const plan = fixed('agent-finished-session-alive', props);
    expect([plan.sessions, plan.files, plan.ending.steps]).toEqual([[], [], []]);
    expect(plan.refused[0]?.why).toContain('attached');
  });
});
