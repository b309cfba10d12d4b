import { describe, expect, it } from 'vitest';
import type { ClaudeWorker } from '../../../src/model/observation.ts';
import { type Around, type Row, remembered, session, world } from '../../support/world.ts';

const LOGIN = 80_001;
const OLD = '9c33ca78-1244-4e57-8cc8-184e144261c7';
const NEW = '0b1c2d3e-1111-4222-8333-444455556666';
/** What claude's own shell hands down, its pid included: 500 has ended. */
const SHELL = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: OLD, CLAUDE_PID: '500' };
/** What claude hands to its MCP servers. */
const SERVER = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: OLD };
const TRANSCRIPT = `/home/me/.claude/projects/-home-me-project/${OLD}.jsonl`;

/** The background shell of a session that was moved, next to these later sessions. */
const shell = (later: readonly Row[], around: Around = {}) =>
  world([...later, [5000, 1, '/bin/bash -c sleep', { env: SHELL }]], around).at(5000);

const worker = (extra: Partial<ClaudeWorker> = {}): ClaudeWorker => ({
  jobId: 'a1b2c3d4',
  processes: [{ pid: 6000, start: '600000' }],
  forkedFrom: OLD,
  ...extra,
});

describe('a session that was moved to the background', () => {
  const taken = { verdict: 'live', owner: { pid: 6000, how: 'continued', alive: true } };

  it.each([
    ['a transcript', `claude.exe --session-id ${NEW} --fork-session --resume ${TRANSCRIPT}`],
    ['an id', `claude --resume ${OLD} --fork-session`],
    ['an id after an equals sign', `claude --fork-session --resume=${OLD}`],
  ])('keeps its running shell, forked from %s', (_, command) => {
    expect(shell([[6000, LOGIN, command]])).toMatchObject(taken);
  });

  it('keeps it though it was seen below the session that ended', () => {
    const before = world([
      [500, LOGIN, 'claude'],
      [5000, 500, '/bin/bash -c sleep'],
    ]);
    const fork: Row = [6000, LOGIN, `claude --session-id ${NEW} --fork-session --resume ${TRANSCRIPT}`];
    const lineage = remembered({
      ...before,
      observation: { ...before.observation, sessions: [session(500, OLD)] },
    });
    expect(shell([], { lineage }).verdict).toBe('leak');
    expect(shell([fork], { lineage })).toMatchObject(taken);
    // The session's id is known from the look alone, too.
    const silent: Row = [5000, 1, '/bin/bash -c sleep', { env: null }];
    expect(world([fork, silent], { lineage }).at(5000)).toMatchObject(taken);
    expect(world([silent], { lineage }).verdict(5000)).toBe('suspect');
    const plain: Row = [5000, 1, '/bin/bash -c sleep', { env: {} }];
    expect(world([plain], { lineage }).verdict(5000)).toBe('leak');
  });

  it('loses it when the fork has ended, too, or was forked from another', () => {
    expect(shell([]).verdict).toBe('leak');
    expect(shell([[6000, LOGIN, `claude --fork-session --resume ${NEW}`]]).verdict).toBe('leak');
  });

  it("keeps it by the word of the supervisor's roster, in a process that is still the same", () => {
    const spare: Row = [6000, 1, 'claude bg-spare'];
    expect(shell([spare], { workers: [worker()] })).toMatchObject(taken);
    expect(shell([spare], { workers: [worker({ processes: [{ pid: 6000, start: null }] })] })).toMatchObject(
      taken,
    );
    expect(shell([spare], { workers: [worker({ processes: [{ pid: 6000, start: '7' }] })] }).verdict).toBe(
      'leak',
    );
    expect(shell([spare], { workers: [worker({ forkedFrom: null })] }).verdict).toBe('leak');
    expect(
      shell([[6000, LOGIN, 'vim']], { workers: [worker({ processes: [{ pid: 6000, start: null }] })] })
        .verdict,
    ).toBe('leak');
  });

  it('keeps it in a spare that was claimed for it, which then counts as an agent', () => {
    const spare: Row = [6000, 1, 'claude bg-spare'];
    const claimed = world([spare, [5000, 1, 'sleep 1', { env: SHELL }]], { sessions: [session(6000, OLD)] });
    expect(claimed.at(5000)).toMatchObject(taken);
    expect(claimed.snapshot.totals.agents).toBe(1);
    const waiting = world([spare, [5000, 1, 'sleep 1', { env: SHELL }]], {
      sessions: [session(6000, OLD, { spare: true })],
    });
    expect(waiting.verdict(5000)).not.toBe('live');
    expect(waiting.snapshot.totals.agents).toBe(0);
  });

  it('is stopped by its job in a claimed spare, and owns itself, not the host of its terminal', () => {
    const rows: Row[] = [
      [5900, 1, 'claude daemon run'],
      [5950, 5900, 'claude bg-pty-host'],
      [6000, 5950, 'claude bg-spare'],
      [6001, 6000, 'node /opt/mcp-server-github'],
    ];
    const claimed = world(rows, { sessions: [session(6000, NEW, { kind: 'bg', jobId: 'a1b2c3d4' })] });
    expect(claimed.at(6000)).toMatchObject({
      verdict: 'protected',
      owner: { pid: 6000, how: 'registry', sessionId: NEW },
    });
    expect(claimed.at(6000).why.join()).toContain('claude stop a1b2c3d4');
    expect(claimed.at(6001)).toMatchObject({ verdict: 'live', owner: { pid: 6000 } });
    for (const pid of [5900, 5950]) {
      expect(claimed.at(pid).owner).toBeNull();
      expect(claimed.at(pid).why.join()).toContain('claude daemon stop');
    }
    // Claude's files say nothing about the programs of others.
    const CODEX = 'codex app-server --managed-daemon';
    const foreign = world([[7000, 1, CODEX]], { sessions: [session(7000, NEW)] });
    expect(foreign.at(7000).why.join()).toContain('codex app-server daemon stop');
    expect(foreign.snapshot.totals.agents).toBe(0);
    expect(world(rows).at(6000)).toMatchObject({ verdict: 'protected', owner: null });
    expect(world(rows).at(6000).why.join()).toContain('claude daemon stop');
  });
});

describe('a session that was cleared and then moved to the background', () => {
  const FIRST = '11111111-1244-4e57-8cc8-184e144261c7';
  const OUTPUT = `/tmp/claude-1000/-home-me-project/${FIRST}/tasks/b02swueby.output`;
  const env = { ...SHELL, CLAUDE_CODE_SESSION_ID: FIRST };
  const rows: Row[] = [
    [6000, LOGIN, `claude --session-id ${NEW} --fork-session --resume ${TRANSCRIPT}`],
    [5000, 1, '/bin/bash -c sleep', { env, details: { output: OUTPUT } }],
    [5001, 5000, 'sleep 3001', { env }],
    [5002, 1, 'sleep 3002', { env: { ...SHELL, CLAUDE_CODE_SESSION_ID: 'in-between' } }],
    [5003, 1, 'java', { env: { ...SERVER, CLAUDE_CODE_SESSION_ID: FIRST } }],
  ];
  const adopting = session(6000, NEW, { kind: 'bg', adoptedOutputs: [OUTPUT] });

  it('keeps the shell whose output it reads on, and all that the same process had started', () => {
    const { at } = world(rows, { sessions: [adopting] });
    for (const pid of [5000, 5001, 5002, 5003])
      expect(at(pid)).toMatchObject({ verdict: 'live', owner: { pid: 6000, how: 'continued' } });
  });

  it('keeps what was seen below that process, though it says nothing itself', () => {
    const before = world([
      [500, LOGIN, 'claude'],
      [5004, 500, 'java'],
    ]);
    const silent: Row = [5004, 1, 'java', { env: null }];
    const lineage = remembered(before);
    expect(world([...rows, silent], { lineage, sessions: [adopting] }).at(5004)).toMatchObject({
      verdict: 'live',
      owner: { pid: 6000, how: 'continued' },
    });
    expect(world([silent], { lineage }).verdict(5004)).toBe('suspect');
    expect(world([[5004, 1, 'java', { env: {} }]], { lineage }).verdict(5004)).toBe('leak');
  });

  it('keeps nothing of which it reads nothing, and nothing when it has ended', () => {
    const { verdict } = world(rows, { sessions: [session(6000, NEW, { kind: 'bg' })] });
    expect([5000, 5001, 5002].map(verdict)).toEqual(['leak', 'leak', 'leak']);
    expect(world(rows.slice(1), { sessions: [adopting] }).verdict(5000)).toBe('leak');
  });

  it('is no successor of a process that still runs', () => {
    const alive: Row[] = [[500, LOGIN, 'claude'], ...rows];
    expect(world(alive, { sessions: [adopting] }).at(5002).owner?.pid).toBe(500);
  });
});

describe('a session that was resumed the next morning', () => {
  const RESUMED: Row = [6000, LOGIN, `claude --resume ${OLD}`];
  const left = (command: string): Row => [5000, 1, command, { env: SERVER }];

  it.each([
    'node /opt/mcp-server-github',
    'npx -y chroma-mcp',
    'lean-lsp-mcp',
    'lean --worker file:///X.lean',
    '/c/ms-playwright/chromium-1/chrome --headless --remote-debugging-pipe',
  ])('does not own what served the old one: %s is leaked', command => {
    expect(world([RESUMED, left(command)]).verdict(5000)).toBe('leak');
    expect(
      world([[6000, LOGIN, 'claude'], left(command)], { sessions: [session(6000, OLD)] }).verdict(5000),
    ).toBe('leak');
  });

  it.each(['java -jar ls.jar', '/bin/bash -c sleep', 'lake build', 'claude -p work'])(
    'may still want what the old one detached: %s is suspect',
    command => {
      const found = world([RESUMED, left(command)]).at(5000);
      expect(found).toMatchObject({ verdict: 'suspect', owner: { alive: false } });
      expect(found.why.join()).toContain('claude (6000) resumed its session');
      expect(world([left(command)]).verdict(5000)).toBe('leak');
    },
  );
});

describe('a session that was cleared', () => {
  const SOCKET = '/tmp/cc-socks/1000.sock';
  const daemonised: Row = [5000, 1, 'java', { env: { ...SERVER, CLAUDE_CODE_MESSAGING_SOCKET: SOCKET } }];

  it('is known by the socket that it still listens on', () => {
    const around = { sessions: [session(1000, NEW, { socket: SOCKET })] };
    expect(world([[1000, LOGIN, 'claude'], daemonised], around).at(5000)).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, sessionId: NEW, how: 'continued' },
    });
  });

  it('does not take itself over: what started it has ended all the same', () => {
    const env = { ...SERVER, CLAUDE_CODE_MESSAGING_SOCKET: SOCKET };
    const around = { sessions: [session(5000, NEW, { socket: SOCKET, status: 'idle' })] };
    expect(world([[5000, 1, 'claude', { env }]], around).at(5000)).toMatchObject({
      verdict: 'leak',
      owner: { how: 'environ', sessionId: OLD, alive: false },
    });
  });

  it('is not known by the socket of somebody else, or of a session that has ended', () => {
    const other = { sessions: [session(1000, NEW, { socket: '/tmp/cc-socks/7.sock' })] };
    expect(world([[1000, LOGIN, 'claude'], daemonised], other).verdict(5000)).toBe('leak');
    const ended = { sessions: [session(1000, NEW, { socket: SOCKET })] };
    expect(world([daemonised], ended).verdict(5000)).toBe('leak');
    const recycled = { sessions: [session(1000, NEW, { socket: SOCKET, procStart: '7' })] };
    expect(world([[1000, LOGIN, 'claude'], daemonised], recycled).verdict(5000)).not.toBe('live');
  });
});
