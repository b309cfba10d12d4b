import { describe, expect, it } from 'vitest';
import { agentDeadRegistryActive } from '../../../src/judge/findings/agent-dead-registry-active.ts';
import { agentFinishedSessionAlive } from '../../../src/judge/findings/agent-finished-session-alive.ts';
import { heartbeatMissing } from '../../../src/judge/findings/heartbeat-missing.ts';
import { heartbeatStale } from '../../../src/judge/findings/heartbeat-stale.ts';
import { idleAgent } from '../../../src/judge/findings/idle-agent.ts';
import { leftoverFiles } from '../../../src/judge/findings/leftover-files.ts';
import { lockStale } from '../../../src/judge/findings/lock-stale.ts';
import { loopGuardFinding } from '../../../src/judge/findings/loop-guard.ts';
import { markerAge } from '../../../src/judge/findings/marker-age.ts';
import type { Past } from '../../../src/judge/history.ts';
import { invent } from '../plan/machine.ts';
import {
  agent,
  agentFiles,
  ago,
  file,
  member,
  type Props,
  pane,
  registry,
  sceneOf,
  server,
} from './scene.ts';

const DIR = '/p/specs/688_x';
const quiet = (seconds: number | null): Past => ({
  stateSeconds: () => null,
  idleSamples: () => null,
  memory: () => [],
  quietSeconds: () => seconds,
});

describe('heartbeat-stale', () => {
  it('tells the last operation and names the subtree of the agent', () => {
    const child = invent(20, 7, { kind: 'lake' });
    const readings = [
      file(`${DIR}/.agent-progress.json`, 'agent-progress', 200, {
        task: '688',
        phase: '2',
        operation: 'checking_diagnostics',
        proof: 'foo',
        counters: { diagnostic_calls: 7 },
      }),
    ];
    const [finding] = heartbeatStale(sceneOf({ readings, processes: [agent(7), child] }));
    expect(finding).toMatchObject({
      severity: 'critical',
      title: 'task 688: no heartbeat for 3m',
      processes: [{ pid: 7 }, { pid: 20 }],
      files: [`${DIR}/.agent-progress.json`],
    });
    expect(finding!.why).toContain(
      'last operation checking_diagnostics, phase 2, proof foo, diagnostic_calls 7',
    );
  });
  it('is silent about fresh and left-over files', () => {
    const at = (age: number) =>
      heartbeatStale(sceneOf({ readings: [file(`${DIR}/.agent-progress.json`, 'agent-progress', age)] }));
    expect([at(10), at(7 * 3600)]).toEqual([[], []]);
  });
});

describe('marker-age', () => {
  const marker = (age: number) =>
    file(`${DIR}/.postflight-pending`, 'postflight-marker', 1, { task: '688', createdAt: ago(age) });
  const guard = file(`${DIR}/.postflight-loop-guard`, 'loop-guard', 50, { counters: { count: 1 } });
  const severity = (age: number, more: Partial<Props> = {}) =>
    markerAge(sceneOf({ readings: [marker(age)], ...more }))[0]?.severity;

  it('is critical when no agent is left', () => {
    expect([severity(89), severity(90), severity(150)]).toEqual([undefined, 'warn', 'critical']);
    const [finding] = markerAge(sceneOf({ readings: [marker(200), guard] }));
    expect(finding).toMatchObject({ action: 'remove-file', files: [marker(1).path, guard.path] });
    expect(finding!.title).toMatch(/^task 688: postflight pending for 3m, no agent left to do it$/);
  });
  it('is information only while the agent may be active', () => {
    const processes = [agent(7)];
    expect(severity(500, { processes })).toBe('info');
    expect(severity(500, { processes, past: quiet(10) })).toBe('info');
    const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 30);
    expect(severity(500, { processes, past: quiet(600), readings: [marker(500), beat] })).toBe('info');
    const busyChild = invent(20, 7, { kind: 'lake', facts: { cpu: 90 } });
    expect(severity(500, { processes: [agent(7), busyChild], past: quiet(600) })).toBe('info');
  });
  it('is critical when the agent shows no sign of work', () => {
    const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 400);
    const props = { processes: [agent(7)], past: quiet(200), readings: [marker(500), beat] };
    expect(severity(500, props)).toBe('critical');
    expect(markerAge(sceneOf(props))[0]?.action).toBe('end');
  });
});

describe('heartbeat-missing', () => {
  const marker = file(`${DIR}/.postflight-pending`, 'postflight-marker', 100, {
    task: '688',
    createdAt: ago(100),
  });
  it('warns of announced work that never beat', () => {
    expect(heartbeatMissing(sceneOf({ readings: [marker] }))).toMatchObject([
      { severity: 'warn', files: [marker.path] },
    ]);
    expect(heartbeatMissing(sceneOf({ readings: [{ ...marker, createdAt: ago(30) }] }))).toEqual([]);
  });
  it('is satisfied by any beat of the task, or by an agent that visibly works', () => {
    const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 5, { task: '688' });
    expect(heartbeatMissing(sceneOf({ readings: [marker, beat] }))).toEqual([]);
    const readings = [marker, file('/h/t.jsonl', 'transcript', 5, { pid: 7 })];
    expect(heartbeatMissing(sceneOf({ readings, processes: [agent(7)] }))).toEqual([]);
  });
  it('warns of an orchestrated agent with a session and no log', () => {
    const readings = [registry(member('a', 'running'))];
    expect(heartbeatMissing(sceneOf({ readings, tmux: [server([pane('agent_a')])] }))).toHaveLength(1);
    expect(heartbeatMissing(sceneOf({ readings, tmux: [server([])] }))).toEqual([]);
  });
});

describe('loop-guard and lock-stale', () => {
  it('speak from three continuations and thirty seconds', () => {
    const guard = (counters: Record<string, number>) =>
      loopGuardFinding(sceneOf({ readings: [file(`${DIR}/.g`, 'loop-guard', 1, { counters })] })).map(
        f => f.severity,
      );
    expect([guard({ count: 2 }), guard({ count: 3 })]).toEqual([[], ['critical']]);
    expect([guard({ count: 4, max: 5 }), guard({ count: 5, max: 5 })]).toEqual([[], ['critical']]);
    const lock = (age: number) =>
      lockStale(sceneOf({ readings: [file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', age)] })).map(
        f => f.severity,
      );
    expect([lock(29), lock(30)]).toEqual([[], ['warn']]);
    // Ahead of our clock by a little, and dated in the future.
    expect([lock(-1), lock(-3600)]).toEqual([[], ['warn']]);
  });
});

describe('orchestrated agents', () => {
  it('are reported when they finished but their session is open', () => {
    const readings = agentFiles('a', 60, true);
    const find = (tmux: Props['tmux']) => agentFinishedSessionAlive(sceneOf({ readings, tmux: tmux ?? [] }));
    expect(find([server([pane('agent_a')])])).toMatchObject([{ action: 'sweep', severity: 'warn' }]);
    expect(find([server([pane('agent_a', { attached: true })])])).toMatchObject([{ action: null }]);
    expect(find([server([pane('agent_a-2')])])).toEqual([]);
  });

  it('are reported when their registry calls them running and they are gone', () => {
    const readings = [registry(member('a', 'running')), ...agentFiles('a', 600, false)];
    const find = (more: Partial<Props> = {}) => agentDeadRegistryActive(sceneOf({ readings, ...more }));
    expect(find()).toHaveLength(1);
    expect(find({ tmux: [server([pane('agent_a')])] })).toEqual([]);
    expect(find({ tmux: [server([], false)] })).toEqual([]);
    expect(find({ readings: [registry(member('a', 'running', { startedAt: ago(5) }))] })).toEqual([]);
    expect(find({ readings: [registry(member('a', 'running', { pid: 7 }))], processes: [agent(7)] })).toEqual(
      [],
    );
    expect(find({ readings: [registry(member('a', 'completed'))] })).toEqual([]);
  });

  it('leave files, told once per task', () => {
    const readings = [
      ...agentFiles('a', 60, true),
      ...agentFiles('b', 60, true),
      ...agentFiles('c', 60, false),
    ];
    const findings = leftoverFiles(sceneOf({ readings }));
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ severity: 'info', action: 'sweep' });
    expect(findings[0]!.files).toHaveLength(10);
    expect(findings[0]!.title).toContain('2 finished agents');
  });

  it('leave leftover files six hours after they died silently', () => {
    const old = sceneOf({ readings: agentFiles('a', 7 * 3600, false) });
    expect(leftoverFiles(old)[0]?.files).toHaveLength(5);
    const unsure = sceneOf({ readings: agentFiles('a', 7 * 3600, false), tmux: [server([], false)] });
    expect(leftoverFiles(unsure)).toEqual([]);
  });
});

describe('idle-agent', () => {
  const transcript = (age: number) => file('/h/t.jsonl', 'transcript', age, { pid: 7 });
  const idle = (props: Props) => idleAgent(sceneOf(props)).length;
  const mcp = invent(20, 7, { kind: 'mcp' });

  it('is an agent that was silent for an hour, servers or not', () => {
    expect(idle({ readings: [transcript(4000)], processes: [agent(7), mcp] })).toBe(1);
  });
  it('is one whose whole subtree is still, and not one whose build burns CPU', () => {
    const below = (cpu: number) => [
      agent(7),
      invent(21, 7, { kind: 'wrapper', facts: { cpu: 0 } }),
      invent(22, 21, { kind: 'lake', facts: { cpu } }),
    ];
    expect(idle({ readings: [transcript(4000)], processes: below(0) })).toBe(1);
    expect(idle({ readings: [transcript(4000)], processes: below(90) })).toBe(0);
    const elsewhere = invent(30, 8, { kind: 'lake', facts: { cpu: 90 } });
    expect(idle({ readings: [transcript(4000)], processes: [...below(0), elsewhere] })).toBe(1);
  });
  it('is not one that wrote, works, is young or cannot be seen', () => {
    expect(idle({ readings: [transcript(3000)], processes: [agent(7)] })).toBe(0);
    const unmeasured = invent(21, 7, { facts: { cpu: null } });
    expect(idle({ readings: [transcript(4000)], processes: [agent(7), unmeasured] })).toBe(0);
    expect(idle({ readings: [transcript(4000)], processes: [agent(7, { facts: { cpu: 5 } })] })).toBe(0);
    expect(idle({ readings: [transcript(4000)], processes: [agent(7, { ageSeconds: 60 })] })).toBe(0);
    expect(idle({ readings: [], processes: [agent(7)] })).toBe(0);
    const inPane = agent(7, { tmux: { socket: '/tmp/tmux-1000/default', session: 'w', pane: '%1' } });
    expect(idle({ readings: [transcript(4000)], processes: [inPane], tmux: [server([pane('w')])] })).toBe(0);
    const silentPane = [server([pane('w', { activity: ago(5000) / 1000 })])];
    expect(idle({ readings: [], processes: [inPane], tmux: silentPane })).toBe(1);
  });
});
