import { describe, expect, it } from 'vitest';
import { NO_CONTENT, type Reading } from '../../../src/model/heartbeat.ts';
import { type Around, CLOCK, type Extra, type Row, session, transcript, world } from '../../support/world.ts';

const AGENT: Row = [1000, 80_001, 'claude'];
const SERVER = 'node /opt/mcp-server-github';

describe('a server below a live agent that runs again', () => {
  /** Its transcript says that no subagent runs. */
  const QUIET = { readings: [transcript(1000)] };

  it('is no duplicate where several sessions or subagents have servers of their own, or may have', () => {
    const twice = (agent: string, around: Around = QUIET): string =>
      world(
        [
          [1000, 80_001, agent],
          [1001, 1000, SERVER],
          [1002, 1000, SERVER],
        ],
        around,
      ).verdict(1001);
    expect(twice('claude')).toBe('suspect');
    expect(twice('claude', { readings: [transcript(1000, CLOCK * 1000 - 60_000)] })).toBe('live');
    expect(twice('claude', { readings: [transcript(1000, CLOCK * 1000 - 660_000)] })).toBe('suspect');
    expect(twice('claude', {})).toBe('live');
    for (const host of [
      'codex app-server',
      'codex -c features.code_mode_host=true app-server',
      'codex exec x',
      'opencode serve --port 4096',
      'copilot --server',
    ])
      expect(twice(host), host).toBe('live');
    expect(twice('gemini')).toBe('suspect');
    // A program that drives an SDK, an editor's extension host.
    expect(twice('python agents.py')).not.toBe('suspect');
  });

  it('is no duplicate where a directory is not known', () => {
    const nowhere = { details: { cwd: null } };
    const rows: Row[] = [AGENT, [1001, 1000, SERVER, nowhere], [1002, 1000, SERVER, nowhere]];
    expect(world(rows, QUIET).verdict(1001)).toBe('live');
  });

  it('is suspect, all but the newest', () => {
    const { verdict, why } = world(
      [AGENT, [1001, 1000, SERVER], [1002, 1000, SERVER], [1003, 1000, SERVER]],
      QUIET,
    );
    expect([1001, 1002, 1003].map(verdict)).toEqual(['suspect', 'suspect', 'live']);
    expect(why(1001)).toContain('runs again as 1003');
  });

  it('is suspect with the whole chain of wrappers around it', () => {
    const chain = (pid: number): Row[] => [
      [pid, 1000, 'npm exec @modelcontextprotocol/server-github'],
      [pid + 1, pid, 'sh -c mcp-server-github'],
      [pid + 2, pid + 1, SERVER],
    ];
    const { verdict } = world([AGENT, ...chain(1100), ...chain(1200)], QUIET);
    expect([1100, 1101, 1102].map(verdict)).toEqual(['suspect', 'suspect', 'suspect']);
    expect([1200, 1201, 1202].map(verdict)).toEqual(['live', 'live', 'live']);
  });

  it.each<[string, Row]>([
    ['other words', [1002, 1000, `${SERVER} --read-only`]],
    ['another directory', [1002, 1000, SERVER, { details: { cwd: '/elsewhere' } }]],
    ['another parent', [1002, 2000, SERVER]],
    ['an end', [1002, 1000, SERVER, { state: 'Z' }]],
  ])('is live when the other one has %s', (_, other) => {
    expect(world([AGENT, [2000, 80_001, 'codex'], [1001, 1000, SERVER], other]).verdict(1001)).toBe('live');
  });

  it('is no duplicate when a server forked it as one of its workers', () => {
    const { verdict } = world([AGENT, [1001, 1000, SERVER], [1002, 1001, SERVER], [1003, 1001, SERVER]]);
    expect([1001, 1002, 1003].map(verdict)).toEqual(['live', 'live', 'live']);
  });

  it('jobs of a shell may run twice', () => {
    const { verdict } = world([AGENT, [1001, 1000, 'sleep 60'], [1002, 1000, 'sleep 60']]);
    expect([1001, 1002].map(verdict)).toEqual(['live', 'live']);
  });
});

describe('a process below a program that we do not know', () => {
  const LEADER: Row = [900, 80_001, 'claude'];
  const below = (env: Extra['env'], rest: readonly Row[] = [], around: Around = {}): string =>
    world([[950, 1, '/opt/helper', { env: env ?? null }], [1000, 950, SERVER], ...rest], around).verdict(
      1000,
    );

  it('goes with it when it is leaked or suspect, and is unknown when it is live or nobody’s business', () => {
    const gone = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'gone' };
    expect(below(gone)).toBe('leak');
    expect(below(gone, [LEADER])).toBe('suspect');
    expect(below({ CLAUDE_PID: '900' }, [LEADER])).toBe('unknown');
    expect(below({})).toBe('unknown');
  });

  it('does not go with a program that only shares a leaked wrapper with a server', () => {
    const { verdict } = world([
      [900, 1, 'timeout 9 make all'],
      [901, 900, SERVER],
      [950, 900, '/opt/helper'],
      [1000, 950, SERVER],
    ]);
    expect([900, 901, 1000].map(verdict)).toEqual(['leak', 'leak', 'unknown']);
  });

  it('is unknown when any of several agents may be its owner', () => {
    const rows: Row[] = [LEADER, [950, 1, '/opt/helper'], [1000, 950, SERVER, { env: { CLAUDECODE: '1' } }]];
    expect(world(rows, { sessions: [session(900, 'one')] }).verdict(1000)).toBe('unknown');
  });
});

describe('standard input', () => {
  it('of processes above the agent does not matter', () => {
    const { verdict } = world([
      [900, 80_001, '/opt/app', { details: { stdin: 'abandoned-pipe' } }],
      [1000, 900, 'claude'],
      [1001, 1000, SERVER],
    ]);
    expect(verdict(1001)).toBe('live');
  });

  const below = (command: string, stdin: NonNullable<NonNullable<Extra['details']>['stdin']>) =>
    world([AGENT, [1001, 1000, command, { details: { stdin } }]]).verdict(1001);

  it('whose other end is closed makes a server suspect', () => {
    expect(below(SERVER, 'abandoned-pipe')).toBe('suspect');
    expect(below('npx -y chroma-mcp', 'abandoned-pipe')).toBe('suspect');
    const chain = world([
      AGENT,
      [1001, 1000, 'npx -y chroma-mcp', { details: { stdin: 'abandoned-pipe' } }],
      [1002, 1001, 'chroma-mcp'],
    ]);
    expect([1001, 1002].map(chain.verdict)).toEqual(['suspect', 'suspect']);
  });

  it.each(['pipe', 'socket', 'tty', 'file', 'unknown'] as const)('that is a %s gives no evidence', stdin => {
    expect(below(SERVER, stdin)).toBe('live');
  });

  it('says nothing about shells, builds and agents, which read it once or not at all', () => {
    for (const command of ['/bin/zsh -c x', 'lake build', 'claude -p x'])
      expect(below(command, 'abandoned-pipe')).toBe('live');
  });
});

describe('a session that calls itself finished', () => {
  const below = (status: string | null): string =>
    world([AGENT, [1001, 1000, SERVER]], { sessions: [session(1000, 'x', { status })] }).verdict(1001);

  it('makes what it still runs suspect', () => {
    expect(below('done')).toBe('suspect');
  });

  it.each(['busy', 'idle', 'waiting', 'shell', 'a word of tomorrow', null])(
    'is not one that is %s',
    status => {
      expect(below(status)).toBe('live');
    },
  );

  it('may also say so at the end of its stream log', () => {
    const log: Reading = {
      ...NO_CONTENT,
      path: '/w/TASK-1/logs/tester_stream.jsonl',
      root: '/w',
      format: 'stream-log',
      source: null,
      mtime: 0,
      size: 1,
      unreadable: null,
      sessionId: 'x',
      terminal: true,
    };
    const belowWith = (reading: Reading): string =>
      world([AGENT, [1001, 1000, SERVER]], { sessions: [session(1000, 'x')], readings: [reading] }).verdict(
        1001,
      );
    expect(belowWith(log)).toBe('suspect');
    expect(belowWith({ ...log, terminal: false })).toBe('live');
    expect(belowWith({ ...log, sessionId: 'another' })).toBe('live');
  });
});
