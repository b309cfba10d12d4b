import { describe, expect, it } from 'vitest';
import { beatOnRow } from '../../../src/judge/heartbeats/judge-files.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { ClaudeSession } from '../../../src/model/observation.ts';
import { invent } from '../plan/machine.ts';
import {
  agent,
  agentFiles,
  ago,
  file,
  member,
  NOW,
  type Props,
  pane,
  registry,
  sceneOf,
  server,
  TASK,
} from './scene.ts';

const BEAT = '/p/specs/688_x/.agent-progress.json';
const only = (props: Props) => sceneOf(props).heartbeats[0]!;
const stateAt = (age: number, part: Parameters<typeof file>[3] = {}, more: Partial<Props> = {}) =>
  only({ readings: [file(BEAT, 'agent-progress', age, part)], ...more });

describe('the age of a heartbeat', () => {
  it('is that of the newer of mtime and stated time', () => {
    expect(stateAt(500, { updatedAt: ago(20) }).ageSeconds).toBe(20);
    expect(stateAt(20, { updatedAt: ago(500) }).ageSeconds).toBe(20);
  });
  it('ignores times in the future', () => {
    expect(stateAt(200, { updatedAt: NOW + 3_600_000 }).ageSeconds).toBe(200);
    expect(stateAt(-3600, { updatedAt: ago(30) }).ageSeconds).toBe(30);
    expect(stateAt(-3600)).toMatchObject({ ageSeconds: null, state: 'unreadable' });
  });
  it('does not take the reminder of a watchdog for a sign of life', () => {
    expect(stateAt(5, { updatedAt: ago(400), foreignWrite: true }).ageSeconds).toBe(400);
  });
});

describe('the state of a heartbeat', () => {
  it('goes from fine to warn to critical at the thresholds', () => {
    expect(stateAt(89).state).toBe('fine');
    expect(stateAt(90).state).toBe('warn');
    expect(stateAt(179).state).toBe('warn');
    expect(stateAt(180)).toMatchObject({ state: 'critical', reason: 'no heartbeat for 3m' });
  });
  it('follows the thresholds of the config and of a source', () => {
    const config = {
      ...DEFAULT_CONFIG,
      thresholds: {
        ...DEFAULT_CONFIG.thresholds,
        'heartbeat-stale': { warnSeconds: 1, criticalSeconds: 2, leftoverSeconds: 10 },
      },
      heartbeats: [{ name: 'town', glob: 'x', warnSeconds: 300, criticalSeconds: 900 }],
    };
    expect(stateAt(1, {}, { config }).state).toBe('warn');
    const source = (age: number) =>
      only({ readings: [file('/p/x', 'user', age, { source: 'town' })], config, processes: [agent(7)] });
    expect([source(299).state, source(301).state, source(900).state]).toEqual(['fine', 'warn', 'critical']);
    expect(source(1).format).toBe('town');
  });
  it('is leftover after six hours without an agent, but not with one', () => {
    const age = 7 * 3600;
    expect(stateAt(age).state).toBe('leftover');
    expect(stateAt(age, {}, { processes: [agent(7, { ageSeconds: 8 * 3600 })] }).state).toBe('critical');
  });
  it('is leftover when its task returned or is completed, and not when that was an earlier run', () => {
    const beat = file(BEAT, 'agent-progress', 300, { task: '688' });
    const meta = (age: number) =>
      file('/p/specs/688_x/.return-meta.json', 'return-meta', age, { terminal: true, status: 'implemented' });
    const find = (readings: Props['readings']) =>
      sceneOf({ readings }).heartbeats.find(b => b.format === 'agent-progress')?.state;
    expect(find([beat, meta(290)])).toBe('leftover');
    expect(find([beat, meta(9000)])).toBe('critical');
    const state = (id: string, updatedAt: number) =>
      file('/p/specs/state.json', 'project-state', 10, { members: [member(id, 'completed', { updatedAt })] });
    expect(find([beat, state('688', ago(100))])).toBe('leftover');
    expect(find([beat, state('688', ago(9000))])).toBe('critical');
    expect(find([beat, state('689', ago(100))])).toBe('critical');
  });
  it('says that a file is unreadable, and still judges it by its mtime', () => {
    expect(stateAt(5, { unreadable: 'empty' })).toMatchObject({
      state: 'unreadable',
      reason: 'unreadable: empty',
    });
    expect(stateAt(200, { unreadable: 'empty' })).toMatchObject({
      state: 'critical',
      reason: expect.stringContaining('unreadable: empty'),
    });
  });
  it('is fine for a progress log while the stream log of its agent grows', () => {
    const [stream, progress] = agentFiles('a-1', 400, false);
    const find = (streamAge: number) =>
      sceneOf({ readings: [{ ...stream!, mtime: ago(streamAge) }, progress!] }).heartbeats.find(
        b => b.format === 'progress-log',
      )?.state;
    expect(find(10)).toBe('fine');
    expect(find(300)).toBe('critical');
  });
});

describe('joining', () => {
  const session = (pid: number, sessionId: string, procStart = `s${pid}`): ClaudeSession => ({
    pid,
    procStart,
    sessionId,
    cwd: '/p',
    kind: null,
    status: null,
    statusUpdatedAt: null,
    waitingFor: null,
    name: null,
    jobId: null,
    socket: null,
    spare: false,
    adoptedOutputs: [],
    path: `/h/.claude/sessions/${pid}.json`,
  });
  const joined = (props: Props) => only(props).agent?.pid ?? null;

  it('prefers the session id to the place', () => {
    const processes = [agent(7), agent(8)];
    const readings = [file(BEAT, 'agent-progress', 5, { sessionId: 'u-8' })];
    expect(joined({ readings, processes, sessions: [session(8, 'u-8')] })).toBe(8);
    expect(joined({ readings, processes, sessions: [session(8, 'u-8', 'reused')] })).not.toBeNull();
  });
  it('reads the session id of a child when the agent has no record', () => {
    const child = invent(20, 8, {
      kind: 'mcp',
      owner: { pid: 8, start: 's8', sessionId: 'u-8', how: 'ancestor', alive: true },
      facts: { env: { CLAUDE_CODE_SESSION_ID: 'u-8' } },
    });
    const readings = [
      file(`${TASK}/logs/x_stream.jsonl`, 'stream-log', 5, { sessionId: 'u-8', agentId: 'x' }),
    ];
    expect(joined({ readings, processes: [agent(7), agent(8), child] })).toBe(8);
  });
  it('knows the agent of an orchestrator by its tmux session, and never by the place', () => {
    const inPane = agent(8, { tmux: { socket: 's', session: 'agent_x-1', pane: '%1' } });
    const readings = agentFiles('x-1', 5, false).slice(0, 1);
    expect(joined({ readings, processes: [agent(7), inPane] })).toBe(8);
    expect(joined({ readings, processes: [agent(7)] })).toBeNull();
  });
  it('takes an agent of the project that was there when the file was written', () => {
    const readings = [file(BEAT, 'agent-progress', 300)];
    const cwd = (path: string) =>
      ({
        facts: {
          details: {
            cwd: path,
            swap: 0,
            cgroup: null,
            stdin: 'tty',
            lostTerminal: false,
            ignoresHangup: false,
            io: 0,
            listening: { ports: [], clients: 0 },
            uses: [],
          },
        },
      }) as const;
    expect(joined({ readings, processes: [agent(7, { ageSeconds: 100 }), agent(8)] })).toBe(8);
    expect(joined({ readings, processes: [agent(7, cwd('/p/sub'))] })).toBe(7);
    expect(joined({ readings, processes: [agent(7, cwd('/'))] })).toBeNull();
    expect(joined({ readings, processes: [agent(7, cwd('/pp'))] })).toBeNull();
  });
});

describe('beatOnRow', () => {
  it('shows the worst heartbeat of an agent, then the most telling', () => {
    const processes = [agent(7)];
    const choose = (readings: Props['readings']) =>
      beatOnRow(sceneOf({ readings, processes }).heartbeats).get(keyOf(processes[0]!.facts))?.format;
    const phase = file('/p/specs/688_x/progress/phase-1-progress.json', 'phase-progress', 10);
    expect(choose([phase, file(BEAT, 'agent-progress', 5)])).toBe('agent-progress');
    const lock = file('/p/specs/688_x/.diagnostic-lock', 'diagnostic-lock', 60);
    expect(choose([phase, file(BEAT, 'agent-progress', 5), lock])).toBe('diagnostic-lock');
  });
});

describe('orchestrated agents', () => {
  it('are finished when their stream log, their progress file or the registry says so', () => {
    const finished = (readings: Props['readings']) => sceneOf({ readings }).files.orchestrated[0]?.finished;
    expect(finished(agentFiles('a', 5, true))).toContain('stream log');
    const [stream, progress, ...rest] = agentFiles('a', 5, false);
    expect(finished([stream!, { ...progress!, terminal: true, status: 'completed' }, ...rest])).toContain(
      'progress',
    );
    expect(finished([registry(member('a', 'completed'))])).toContain('registry');
    expect(finished([registry(member('a', 'running')), ...agentFiles('a', 5, false)])).toBeNull();
  });
  it('know their panes by the exact name', () => {
    const tmux = [server([pane('agent_a-2'), pane('agent_a', { pane: '%2' })])];
    expect(sceneOf({ readings: agentFiles('a', 5, true), tmux }).files.orchestrated[0]?.panes).toMatchObject([
      { pane: '%2' },
    ]);
  });
});
