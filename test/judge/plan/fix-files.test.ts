import { describe, expect, it } from 'vitest';
import { findAll } from '../../../src/judge/findings/index.ts';
import { planFixFiles, shownFixFiles } from '../../../src/judge/plan/fix.ts';
import type { Finding, FindingId } from '../../../src/model/finding.ts';
import { EMPTY_PLAN } from '../../../src/model/plan.ts';
import { agent, agentFiles, file, type Props, pane, sceneOf, server, TASK } from '../heartbeats/scene.ts';
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
    expect(shownFixFiles(plan).otherSteps).toEqual([
      { act: 'end-session', target: 'agent_a', why: plan.sessions[0]?.why },
      ...plan.files.map(({ act, path, why }) => ({ act, target: path, why })),
    ]);
    expect(plan.ending).toMatchObject({ bytes: plan.ending.steps[0]?.rss, refused: [] });
    expect(plan.ending.bytes).toBeGreaterThan(0);
    expect(plan.refused).toEqual([]);
  });

  it('a session whose process the finding names comes along, and one of another agent does not', () => {
    const argv = ['sh', '-c', 'claude | tee log'];
    const shells = [1100, 1101, 1110].map(pid =>
      invent(pid, pid === 1101 ? 1100 : 40, { kind: 'shell', verdict: 'live', facts: { born: 50, argv } }),
    );
    const tmux = [
      server([pane('agent_a', { pid: 1100 }), pane('agent_b', { pid: 1110, sessionId: '$2', pane: '%2' })]),
    ];
    const readings = [...agentFiles('a', 600, true), ...agentFiles('b', 600, true)];
    const request = requestFor({ readings, tmux, processes: shells });
    const named = (pids: readonly number[], files: readonly string[] = []): Finding => ({
      ...anything,
      processes: pids.map(pid => ({ pid, start: `s${pid}` })),
      files,
    });
    const plan = planFixFiles(request, named([1101]));
    expect(plan.sessions.map(({ session }) => session)).toEqual(['agent_a']);
    expect(plan.ending.steps.map(step => step.pid).sort()).toEqual([1100, 1101]);
    expect(plan.ending.bytes).toBe(1100 + 1101 + 2000);
    const none = planFixFiles(request, named([]));
    expect([none.sessions, none.ending]).toEqual([[], EMPTY_PLAN]);
  });
});

const anything: Finding = {
  id: 'lock-stale',
  severity: 'warn',
  title: '',
  why: '',
  processes: [],
  files: [],
  remedy: '',
  action: null,
};

describe('what it leaves alone, and says so', () => {
  const lock = `${DIR}/.diagnostic-lock`;
  const marker = `${DIR}/.postflight-pending`;
  const planned = (props: Props, files: readonly string[], known = {}) =>
    planFixFiles(requestFor(props, known), { ...anything, files });
  const REST = 'it changed, is gone, or is still needed';

  it('leaves a fresh lock, a marker and unrelated files of live agents', () => {
    const processes = [agent(1200)];
    expect(planned({ readings: staleIn(DIR), processes }, [marker])).toMatchObject({
      files: [],
      refused: [{ what: marker, why: REST }],
    });
    const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 100);
    expect(requestFor({ readings: [beat], processes }).files.joined[0]?.state).toBe('warn');
    expect(planned({ readings: [beat], processes }, [beat.path]).files).toEqual([]);
    const fresh = [file(lock, 'diagnostic-lock', 5)];
    expect(planned({ readings: fresh, processes }, [lock]).files).toEqual([]);
    expect(planned({ readings: staleIn(DIR), processes }, []).files).toEqual([]);
    expect(planned({ readings: staleIn(DIR), processes }, [lock], { seen: new Map() }).files).toEqual([]);
  });

  it('names no owner for a lock that may belong to two agents', () => {
    const request = requestFor({ readings: staleIn(DIR), processes: [agent(1200), agent(1300)] });
    const joined = request.files.joined.map(one => ({ ...one, agent: null }));
    const files = { ...request.files, joined };
    const plan = planFixFiles({ ...request, files }, { ...anything, files: [lock] });
    expect(plan.files[0]?.why).toContain('it belongs to a running agent');
    expect(plan.refused).toEqual([]);
  });

  it('an archive whose time has come: that is for a sweep', () => {
    const path = `${TASK}/archive/a_stream.jsonl`;
    const seen = { mtimeMs: 0, size: 9, file: 'x', directory: '' };
    const archives = [{ path, root: '/p', archivedAt: 0, seen }];
    expect(planned({ readings: agentFiles('a', 1e6, true) }, [path], { archives }).files).toEqual([]);
  });

  it('and of everything that it names, and of nothing else, why', () => {
    const leftOver = agentFiles('c', 1e6, true);
    const readings = [
      ...agentFiles('a', 600, true),
      ...agentFiles('b', 600, true),
      ...leftOver,
      ...staleIn(DIR),
    ];
    const tmux = [
      server([
        pane('agent_a', { pid: 1100, attached: true }),
        pane('agent_b', { pid: 1110, sessionId: '$2', pane: '%2', attached: true }),
      ]),
    ];
    const processes = [1100, 1110].map(pid => invent(pid, 40, { kind: 'shell', verdict: 'live' }));
    const [stream = '', progress = ''] = agentFiles('a', 600, true).map(({ path }) => path);
    const [first = '', second = ''] = leftOver.map(({ path }) => path);
    const unsafe = new Map([
      [first, 'it is a symbolic link'],
      [second, 'it is a FIFO'],
    ]);
    const seen = new Map([...requestFor({ readings }).facts.seen].filter(([path]) => !unsafe.has(path)));
    const plan = planned({ readings, tmux, processes }, [stream, progress, lock, first, '/p/gone'], {
      unsafe,
      seen,
    });
    expect(plan.files.map(({ path }) => path)).toEqual([lock]);
    expect(plan.refused).toEqual([
      { what: 'agent a', why: expect.stringContaining('attached') },
      { what: 'agent c', why: expect.stringContaining('it is a symbolic link') },
      { what: first, why: 'it is a symbolic link' },
      { what: '/p/gone', why: REST },
    ]);
  });

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

  const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 1200);
  it('heartbeat-stale: the heartbeat is archived, where no agent is left that could write it', () => {
    expect(paths(fixed('heartbeat-stale', { readings: [beat] }))).toEqual([`archive ${beat.path}`]);
    expect(fixed('heartbeat-stale', { readings: [beat], processes: [agent(1200)] }).files).toEqual([]);
    const growing = { growing: new Set([beat.path]) };
    expect(fixed('heartbeat-stale', { readings: [beat] }, 0, growing).files).toEqual([]);
    const young = file(`${DIR}/.agent-progress.json`, 'agent-progress', 120);
    expect(fixed('heartbeat-stale', { readings: [young] }).files).toEqual([]);
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
