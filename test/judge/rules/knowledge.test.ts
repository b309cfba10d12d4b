import { describe, expect, it } from 'vitest';
import type { ConfiguredServer } from '../../../src/model/observation.ts';
import { type Around, type Extra, type Row, remembered, world } from '../../support/world.ts';

const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '11111111-1111-4111-8111-111111111111' };

const server = (rank: ConfiguredServer['rank'], command: string, ...args: string[]): ConfiguredServer => ({
  name: 'y',
  command,
  args,
  source: '/p/.mcp.json',
  rank,
});

interface Case {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly around?: Around;
  readonly verdict: string;
}

const project: Around = { servers: [server('project', 'sleep', '777')] };
const user: Around = { servers: [server('user', 'plainsrv', '-x')] };

/** The process that is judged is always 1000. */
const CASES: readonly Case[] = [
  {
    name: 'a user’s job that a project’s file describes',
    rows: [[1000, 1, 'sleep 777']],
    around: project,
    verdict: 'suspect',
  },
  {
    name: 'the same, while an agent runs in that project',
    rows: [
      [900, 80_001, 'claude', { tty: 'pts/9' }],
      [1000, 1, 'sleep 777'],
    ],
    around: project,
    verdict: 'suspect',
  },
  {
    name: 'a wrapper around it',
    rows: [
      [1000, 1, 'nohup sleep 777'],
      [1001, 1000, 'sleep 777'],
    ],
    around: project,
    verdict: 'suspect',
  },
  {
    name: 'what carries it by its words alone',
    rows: [[1000, 1, 'timeout 900 sleep 777']],
    around: project,
    verdict: 'suspect',
  },
  {
    name: 'the same words with the environment of a dead session',
    rows: [[1000, 1, 'sleep 777', { env: DEAD }]],
    around: project,
    verdict: 'leak',
  },
  {
    name: 'the same words below a running agent',
    rows: [
      [900, 80_001, 'claude', { tty: 'pts/9' }],
      [1000, 900, 'sleep 777'],
    ],
    around: project,
    verdict: 'live',
  },
  {
    name: 'a server that the user configured',
    rows: [[1000, 1, 'plainsrv -x']],
    around: user,
    verdict: 'leak',
  },
  {
    name: 'a wrapper around a server that the user configured',
    rows: [[1000, 1, 'timeout 9 plainsrv -x']],
    around: user,
    verdict: 'leak',
  },
  {
    name: 'a server of the user’s own recogniser',
    rows: [[1000, 1, 'indexer --fast']],
    around: { config: { recognisers: [{ name: 'indexer', kind: 'mcp', program: 'indexer' }] } },
    verdict: 'leak',
  },
  { name: 'a server by its shape', rows: [[1000, 1, 'mcp-server-git']], verdict: 'leak' },
  { name: 'a server of our list', rows: [[1000, 1, 'claude-flow mcp start']], verdict: 'leak' },
  { name: 'a sub-command called mcp', rows: [[1000, 1, 'foo mcp serve']], verdict: 'suspect' },
  { name: 'one behind an interpreter', rows: [[1000, 1, 'node /x/foo.js mcp']], verdict: 'suspect' },
  {
    name: 'one with the environment of a dead session',
    rows: [[1000, 1, 'foo mcp serve', { env: DEAD }]],
    verdict: 'leak',
  },
  {
    name: 'a wrapper around both a described and a known server',
    rows: [
      [1000, 1, 'npm run servers'],
      [1001, 1000, 'foo mcp serve'],
      [1002, 1000, 'mcp-server-git'],
    ],
    verdict: 'leak',
  },
];

describe('what a server’s name or its configuration is worth at an orphan root', () => {
  it.each(CASES)('$name: $verdict', ({ rows, around, verdict }) => {
    expect(world(rows, around).verdict(1000)).toBe(verdict);
  });

  it('lineage makes the described one a leak', () => {
    const before = world(
      [
        [900, 80_001, 'claude', { tty: 'pts/9' }],
        [1000, 900, 'sleep 777'],
      ],
      project,
    );
    const after = world([[1000, 1, 'sleep 777']], { ...project, lineage: remembered(before) });
    expect(after.verdict(1000)).toBe('leak');
  });

  it('says that the file alone proves nothing', () => {
    expect(world([[1000, 1, 'sleep 777']], project).why(1000)).toContain('proves nothing');
    expect(world([[1000, 1, 'foo mcp']]).why(1000)).toContain('sub-command');
  });
});

describe('a shell of the Bash tool at an orphan root', () => {
  const argv = ['/bin/zsh', '-c', "source /h/.claude/shell-snapshots/snapshot-zsh-1.sh && eval 'sleep 3001'"];
  const rows = (extra: Extra): Row[] => [
    [1000, 1, '/bin/zsh', { argv, ...extra }],
    [1001, 1000, 'sleep 3001', { env: extra.env ?? null }],
  ];
  const verdicts = (extra: Extra, around?: Around) => {
    const { verdict } = world(rows(extra), around);
    return [1000, 1001].map(verdict);
  };

  it('is suspect where no environment can be read, with what it runs', () => {
    expect(verdicts({ env: null })).toEqual(['suspect', 'suspect']);
    const recorded: Around = { self: null, host: { backend: 'recorded' }, all: false };
    expect(verdicts({ env: null }, recorded)).toEqual(['suspect', 'suspect']);
  });

  it('is a leak of a dead session, and live below somebody’s terminal', () => {
    expect(verdicts({ env: DEAD })).toEqual(['leak', 'leak']);
    const held = world([[1000, 80_001, '/bin/zsh', { argv, env: null }]]);
    expect(held.verdict(1000)).toBe('live');
  });
});

describe('a daemon by its own declaration', () => {
  it('is protected at an orphan root, whoever started it', () => {
    const { at } = world([[1000, 1, 'claude-flow daemon start', { env: DEAD }]]);
    expect(at(1000)).toMatchObject({ verdict: 'protected', protection: 'soft' });
  });
});

const port = (number: number, clients = 0) => ({ details: { listening: { ports: [number], clients } } });

const LISTENING: readonly (Case & { readonly protection?: 'soft' })[] = [
  {
    name: 'an MCP server that nobody is known to have started, without a client',
    rows: [[1000, 1, 'node /x/node_modules/.bin/figma-developer-mcp --port=3333', port(3333)]],
    verdict: 'protected',
    protection: 'soft',
  },
  {
    name: 'the wrapper around it',
    rows: [
      [1000, 1, 'npm exec figma-developer-mcp'],
      [1001, 1000, 'node /x/node_modules/.bin/figma-developer-mcp', port(3333)],
    ],
    verdict: 'protected',
    protection: 'soft',
  },
  {
    name: 'one that says stdio, without any trace of its owner',
    rows: [[1000, 1, 'figma-developer-mcp --stdio', port(3333)]],
    verdict: 'protected',
    protection: 'soft',
  },
  {
    name: 'one of a session that may or may not run',
    rows: [
      [900, 80_001, 'claude', { tty: 'pts/9' }],
      [1000, 1, 'figma-developer-mcp', { ...port(3333), env: { CLAUDECODE: '1' } }],
    ],
    verdict: 'protected',
    protection: 'soft',
  },
  {
    name: 'one of a dead session',
    rows: [[1000, 1, 'figma-developer-mcp', { ...port(3333), env: DEAD }]],
    verdict: 'suspect',
  },
  {
    name: 'the wrapper around one of a dead session',
    rows: [
      [1000, 1, 'npm exec figma-developer-mcp', { env: DEAD }],
      [1001, 1000, 'node /x/node_modules/.bin/figma-developer-mcp', { ...port(3333), env: DEAD }],
    ],
    verdict: 'suspect',
  },
  {
    name: 'one of a dead session whose flags say stdio',
    rows: [[1000, 1, 'figma-developer-mcp --stdio', { ...port(3333), env: DEAD }]],
    verdict: 'leak',
  },
  {
    name: 'one of a dead session whose record says stdio',
    rows: [[1000, 1, 'node /x/.bin/mcp-remote https://h/sse', { ...port(3333), env: DEAD }]],
    verdict: 'leak',
  },
  {
    name: 'one of a dead session that a project’s file describes, whatever its flags say',
    rows: [[1000, 1, 'vite --stdio', { ...port(3333), env: DEAD }]],
    around: { servers: [server('project', 'vite', '--stdio')] },
    verdict: 'suspect',
  },
  {
    name: 'one of a dead session with a client from elsewhere',
    rows: [[1000, 1, 'figma-developer-mcp --stdio', { ...port(3333, 1), env: DEAD }]],
    verdict: 'protected',
    protection: 'soft',
  },
  {
    name: 'one below a leaked server',
    rows: [
      [900, 1, 'mcp-server-git', { env: DEAD }],
      [1000, 900, 'figma-developer-mcp', { ...port(3333), env: DEAD }],
    ],
    verdict: 'suspect',
  },
  {
    name: 'one of a live session',
    rows: [
      [900, 80_001, 'claude', { tty: 'pts/9' }],
      [1000, 900, 'figma-developer-mcp', port(3333)],
    ],
    verdict: 'live',
  },
];

describe('an MCP server that listens on TCP', () => {
  it.each(LISTENING)('$name: $verdict', ({ rows, around, verdict, protection = null }) => {
    expect(world(rows, around).at(1000)).toMatchObject({ verdict, protection });
  });
});

const BROWSERS: readonly Case[] = [
  {
    name: 'headless with a debugging port, started by nobody we know',
    rows: [[1000, 1, 'chromium --headless --remote-debugging-port=9222']],
    verdict: 'unknown',
  },
  {
    name: 'its renderer, whose own words have no port',
    rows: [
      [900, 1, 'chromium --headless --remote-debugging-port=9222'],
      [1000, 900, 'chromium --type=renderer --headless'],
    ],
    verdict: 'unknown',
  },
  {
    name: 'headless and listening, whatever its flags',
    rows: [[1000, 1, 'chromium --headless', port(9222)]],
    verdict: 'unknown',
  },
  {
    name: 'with a pipe instead of a port',
    rows: [
      [
        1000,
        1,
        'chromium --headless --remote-debugging-pipe',
        { details: { drivingPipe: 'abandoned-pipe' } },
      ],
    ],
    verdict: 'leak',
  },
  {
    name: 'with a port and the profile of an MCP server',
    rows: [
      [
        1000,
        1,
        'chrome --remote-debugging-port=9222 --user-data-dir=/h/.cache/chrome-devtools-mcp/profile',
        port(9222),
      ],
    ],
    verdict: 'suspect',
  },
  {
    name: 'with a port and the environment of a dead session',
    rows: [[1000, 1, 'chromium --headless --remote-debugging-port=9222', { ...port(9222), env: DEAD }]],
    verdict: 'leak',
  },
];

describe('a driven browser at an orphan root', () => {
  it.each(BROWSERS)('$name: $verdict', ({ rows, verdict }) => {
    expect(world(rows).verdict(1000)).toBe(verdict);
  });
});
