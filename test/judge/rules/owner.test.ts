import { describe, expect, it } from 'vitest';
import {
  type Around,
  type Extra,
  type Row,
  remembered,
  session,
  tmux,
  UNREADABLE,
  world,
} from '../../support/world.ts';

const ID = '9c33ca78-1244-4e57-8cc8-184e144261c7';
const NAMED = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: ID };

/** A `java` at PID 1 that carries these variables, started at 5000, next to these agents. */
const java = (env: Extra['env'], agents: readonly Row[] = [], around: Around = {}) =>
  world([...agents, [5000, 1, 'java -jar ls.jar', { env: env ?? null }]], around).at(5000);

describe('an owner named by the environment', () => {
  it('is dead when nobody holds the session', () => {
    expect(java(NAMED)).toMatchObject({
      verdict: 'leak',
      owner: { pid: null, sessionId: ID, how: 'environ', alive: false },
    });
  });

  it('is alive when the session file of a running agent has the id and its start time', () => {
    const agent: Row = [1000, 80_001, 'claude'];
    expect(java(NAMED, [agent], { sessions: [session(1000, ID)] })).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, sessionId: ID, how: 'environ', alive: true },
    });
  });

  it.each(['claude --resume ID', 'claude -r ID', 'claude --session-id ID'])('is alive as %s', command => {
    expect(java(NAMED, [[1000, 80_001, command.replace('ID', ID)]]).verdict).toBe('live');
  });

  it('is not proven dead while an older agent has told nobody its session: /clear changes ids', () => {
    expect(java(NAMED, [[1000, 80_001, 'claude']]).verdict).toBe('suspect');
    expect(java(NAMED, [[6000, 80_001, 'claude']]).verdict).toBe('leak');
    expect(java(NAMED, [[1000, 80_001, 'claude']], { sessions: [session(1000, 'another')] }).verdict).toBe(
      'leak',
    );
    expect(java(NAMED, [[1000, 80_001, 'codex']]).verdict).toBe('leak');
  });

  it('a session file of a recycled pid, or without a start time, registers nobody', () => {
    const agent: Row = [1000, 80_001, 'claude'];
    for (const procStart of ['99', null])
      expect(java(NAMED, [agent], { sessions: [session(1000, ID, { procStart })] }).verdict).toBe('suspect');
  });

  it('an agent of unknown age may be the older one', () => {
    expect(java(NAMED, [[1000, 80_001, 'claude', { born: null }]]).verdict).toBe('suspect');
  });

  it('is alive when CLAUDE_PID names a running agent that is older', () => {
    const env = { CLAUDE_PID: '1000', CLAUDE_CODE_SESSION_ID: 'before-clear' };
    expect(java(env, [[1000, 80_001, 'claude']])).toMatchObject({ verdict: 'live', owner: { pid: 1000 } });
  });

  it.each<[string, Row]>([
    ['has ended', [1001, 80_001, '-zsh']],
    ['has ended', [1000, 80_001, '[claude]', { state: 'Z' }]],
    ['is somebody else now', [1000, 80_001, 'vim', { born: 6000 }]],
    ['started later', [1000, 80_001, 'claude', { born: 6000 }]],
  ])('is dead when the agent that CLAUDE_PID names %s', (_, row) => {
    expect(java({ CLAUDE_PID: '1000' }, [row])).toMatchObject({
      verdict: 'leak',
      owner: { pid: 1000, alive: false },
    });
  });

  it('CLAUDECODE alone is no proof', () => {
    const env = { CLAUDECODE: '1' };
    expect(java(env).verdict).toBe('suspect');
    const agents: Row[] = [[1000, 80_001, 'claude']];
    const around = { sessions: [session(1000, ID)] };
    expect(java(env, agents, around).verdict).toBe('unknown');
    const server = world([...agents, [5000, 1, 'lean-lsp-mcp', { env }]], around);
    expect(server.verdict(5000)).toBe('suspect');
  });

  it('an unreadable environment is no evidence', () => {
    expect(java(null)).toMatchObject({ verdict: 'unknown', owner: null });
  });

  it('a PID 1 that hands the variables to its whole container proves nothing', () => {
    const rows: Row[] = [
      [1, 0, 'tini', { env: NAMED }],
      [5000, 1, 'java', { env: NAMED }],
    ];
    expect(world(rows, { host: { container: true } }).verdict(5000)).toBe('suspect');
  });
});

describe('where two families speak, dead needs both to say so', () => {
  const CODEX = { CODEX_SESSION_ID: 'gone' };

  it('an ended codex that ran claude does not make a leak of what a running claude may have started', () => {
    const both = { ...CODEX, CLAUDECODE: '1' };
    const agents: Row[] = [[1000, 80_001, 'claude']];
    const around = { sessions: [session(1000, ID)] };
    const found = java(both, agents, around);
    expect(found.verdict).toBe('suspect');
    expect(found.why[0]).toMatch(/Codex session gone, which looks ended/);
  });

  it('but what was seen below the one that ended was that one’s', () => {
    const before = world([
      [500, 80_001, 'claude'],
      [5000, 500, 'java -jar ls.jar'],
    ]);
    const lineage = remembered(before);
    const agents: Row[] = [[1000, 80_001, 'claude']];
    const around = { lineage, sessions: [session(1000, ID)] };
    expect(java({ CLAUDECODE: '1' }, agents, around).verdict).toBe('leak');
  });
});

describe('the order of evidence', () => {
  it('an ancestor is stronger than what the environment says', () => {
    const { at } = world(
      [
        [1000, 80_001, 'claude'],
        [2000, 80_001, 'claude'],
        [5000, 1000, 'java', { env: { CLAUDE_PID: '2000' } }],
      ],
      { sessions: [session(1000, 'one'), session(2000, 'two')] },
    );
    expect(at(5000).owner).toMatchObject({ pid: 1000, sessionId: 'one', how: 'ancestor' });
  });

  it('a server in a pane belongs to the one agent there, and to nobody when there are two', () => {
    const rows: Row[] = [
      [600, 1, 'tmux', { comm: 'tmux: server' }],
      [700, 600, '-zsh', { tty: 'pts/0' }],
      [800, 700, 'claude'],
      [5000, 700, 'lean-lsp-mcp'],
    ];
    const around = { tmux: [tmux(600, [700])] };
    expect(world(rows, around).at(5000).owner).toMatchObject({ pid: 800, how: 'tmux', alive: true });
    expect(world([...rows, [801, 700, 'codex']], around).at(5000).owner).toBeNull();
  });

  it('a pane says nothing of programs, shells, agents and tmux in it, nor of an agent in another pane', () => {
    const rows: Row[] = [
      [600, 1, 'tmux', { comm: 'tmux: server' }],
      [700, 600, '-zsh', { tty: 'pts/0' }],
      [701, 600, '-zsh', { tty: 'pts/1' }],
      [800, 700, 'claude'],
      [5000, 700, 'vim notes.md'],
      [5001, 700, 'bash'],
      [5002, 700, 'tmux attach'],
      [5003, 701, 'lean-lsp-mcp'],
    ];
    const { at } = world(rows, { tmux: [tmux(600, [700, 701])] });
    for (const pid of [700, 800, 5000, 5001, 5002, 5003]) expect(at(pid).owner).toBeNull();
  });

  it('an agent that another session runs is that one’s', () => {
    const { at } = world([
      [1000, 80_001, 'claude'],
      [5000, 1000, 'codex exec task'],
    ]);
    expect(at(5000).owner).toMatchObject({ pid: 1000, how: 'ancestor', alive: true });
  });

  it('being listed is no owner: an adopted agent that only answers for itself is a suspect', () => {
    const around = { sessions: [session(1000, ID)] };
    expect(world([[1000, 1, 'claude']], around).verdict(1000)).toBe('suspect');
    const stranger: Row[] = [
      [900, 1, '/opt/gateway'],
      [1000, 900, 'claude'],
    ];
    expect(world(stranger, around).verdict(1000)).toBe('unknown');
  });

  it('an owner that can no longer be read outweighs a session that is not to be found', () => {
    const agent: Row = [900, 80_001, 'claude'];
    const lineage = remembered(world([agent, [5000, 900, 'java -jar ls.jar']]));
    const hidden: Row = [900, 80_001, '?', UNREADABLE];
    expect(java(NAMED, [], { lineage }).verdict).toBe('leak');
    const found = java(NAMED, [hidden], { lineage });
    expect(found.verdict).toBe('suspect');
    expect(found.why[0]).toContain(
      'which has ended, but child of claude in project (pid 900), which can no longer be read',
    );
  });

  it('an agent in Claude’s own list is registered as itself', () => {
    const { at } = world([[1000, 80_001, 'claude']], { sessions: [session(1000, ID)] });
    expect(at(1000).owner).toMatchObject({ pid: 1000, sessionId: ID, how: 'registry' });
  });

  it('an agent that runs under its own session id does not lose itself as owner', () => {
    const { at } = world([[1000, 1, `claude --resume ${ID}`, { env: NAMED }]]);
    expect(at(1000).verdict).toBe('suspect');
  });

  it('a live agent that it names by pid owns it all the same', () => {
    const env = { CLAUDE_CODE_SESSION_ID: ID, CLAUDE_PID: '900' };
    const lost = { env, details: { lostTerminal: true } };
    const { at } = world([
      [900, 80_001, 'claude'],
      [1000, 1, `claude --resume ${ID}`, lost],
    ]);
    expect(at(1000)).toMatchObject({ verdict: 'live', owner: { pid: 900, how: 'environ' } });
  });
});

it('what is below an agent that cannot be read any more is not therefore leaked', () => {
  const rows: Row[] = [
    [1000, null, '?', UNREADABLE],
    [5000, 1000, 'lean-lsp-mcp'],
  ];
  expect(world(rows).verdict(5000)).toBe('unknown');
});
