import { describe, expect, it } from 'vitest';
import { type Around, type Row, remembered, SELF, session, tmux, UID, world } from '../../support/world.ts';

interface Case {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly around?: Around;
  readonly says?: string;
}

/** The process that is judged is always 1000. */
const HARD: readonly Case[] = [
  { name: 'another user', rows: [[1000, 1, 'claude', { uid: 1001 }]], says: 'another user' },
  {
    name: 'a setuid program that another user started',
    rows: [[1000, 1, 'lean-lsp-mcp', { details: { realUid: 1001 } }]],
    says: 'another user (uid 1001)',
  },
  { name: 'a kernel thread', rows: [[1000, 2, '[kworker/0:1]', { kernelThread: true }]], says: 'kernel' },
  { name: "reaptop's own process group", rows: [[1000, 1, 'lean-lsp-mcp', { pgid: SELF }]], says: 'group' },
  { name: 'a tmux server', rows: [[1000, 1, 'tmux new', { comm: 'tmux: server' }]], says: 'tmux server' },
  { name: 'claude daemon', rows: [[1000, 1, 'claude daemon run']], says: 'supervisor' },
  { name: 'claude bg-pty-host', rows: [[1000, 1, 'claude --bg-pty-host /tmp/x.sock']] },
  { name: 'claude bg-spare', rows: [[1000, 1, '/h/.local/share/claude/versions/2.1.201 --bg-spare /tmp/x']] },
  { name: 'claude --bg', rows: [[1000, 1, 'claude --bg']], says: 'claude stop' },
  {
    name: 'a session that its file calls a background one',
    rows: [[1000, 1, 'claude']],
    around: { sessions: [session(1000, 'abc', { kind: 'bg', jobId: '1a2b3c4d' })] },
    says: 'claude stop 1a2b3c4d',
  },
  {
    name: 'a background session, by the job its environment names',
    rows: [[1000, 1, 'claude --bg', { env: { CLAUDE_JOB_DIR: '/home/me/.claude/jobs/9f8e7d6c' } }]],
    says: 'claude stop 9f8e7d6c',
  },
  {
    name: 'a session in a host of the supervisor, by the job of its file',
    rows: [
      [900, 1, 'claude --bg-pty-host /tmp/x.sock'],
      [1000, 900, 'claude'],
    ],
    around: { sessions: [session(1000, 'abc', { jobId: '1a2b3c4d' })] },
    says: 'claude stop 1a2b3c4d',
  },
  {
    name: 'a session in a host of the supervisor',
    rows: [
      [900, 1, 'claude --bg-pty-host /tmp/x.sock'],
      [1000, 900, 'claude --resume 9c33ca78-1244-4e57-8cc8-184e144261c7'],
    ],
    says: 'background session',
  },
  {
    name: 'what the config protects by name',
    rows: [[1000, 1, 'node /opt/mcp-server-keep']],
    around: { config: { protect: ['mcp-server-k*'] } },
    says: 'mcp-server-k*',
  },
];

describe('hard-protected: nobody may end', () => {
  it.each(HARD)('$name', ({ rows, around, says = '' }) => {
    const { at } = world(rows, around);
    expect(at(1000)).toMatchObject({ verdict: 'protected', protection: 'hard' });
    expect(at(1000).protectedBecause).toContain(says);
  });

  it('PID 1, PID 2, reaptop, and everything above it, tmux server and launching agent included', () => {
    const { at } = world(
      [
        [2, 0, '[kthreadd]', { uid: 0 }],
        [600, 1, 'tmux', { comm: 'tmux: server' }],
        [700, 600, '-zsh', { tty: 'pts/0' }],
        [800, 700, 'claude', { tty: 'pts/0' }],
        [900, 800, '/bin/zsh -c reaptop --once'],
        [SELF, 900, 'node /usr/bin/reaptop'],
      ],
      { tmux: [tmux(600, [700])] },
    );
    for (const pid of [1, 2, 600, 700, 800, 900, SELF])
      expect(at(pid)).toMatchObject({ verdict: 'protected', protection: 'hard' });
  });

  it('but not a neighbour below the same agent', () => {
    const rows: Row[] = [
      [800, 80_001, 'claude'],
      [900, 800, '/bin/zsh -c reaptop --once'],
      [SELF, 900, 'node /usr/bin/reaptop'],
      [1000, 800, 'lean-lsp-mcp'],
    ];
    expect(world(rows).at(1000)).toMatchObject({ verdict: 'live', protection: null });
  });
});

const SOFT: readonly Case[] = [
  {
    name: 'a unit of its own',
    rows: [[1000, 1, 'lean-lsp-mcp', { details: { cgroup: '/system.slice/lean.service' } }]],
    says: 'lean.service',
  },
  {
    name: 'a unit of its own below the user manager',
    rows: [
      [
        1000,
        1,
        'lean-lsp-mcp',
        { details: { cgroup: '/user.slice/user-1000.slice/user@1000.service/app.slice/x.service' } },
      ],
    ],
    says: 'x.service',
  },
  {
    name: 'a container seen from the host',
    rows: [[1000, 1, 'lean-lsp-mcp', { details: { cgroup: `/docker/${'ab'.repeat(32)}` } }]],
    says: 'container',
  },
  { name: 'HTTP transport', rows: [[1000, 1, 'lean-lsp-mcp --transport streamable-http']], says: 'HTTP' },
  { name: 'SSE transport', rows: [[1000, 1, 'node /opt/mcp-server-web --transport sse']] },
  {
    name: 'connected clients',
    rows: [[1000, 1, 'lean-lsp-mcp', { details: { listening: { ports: [8000], clients: 2 } } }]],
    says: 'port 8000',
  },
  { name: 'a declared daemon', rows: [[1000, 1, 'bun /x/claude-mem/scripts/worker-service.cjs --daemon']] },
  { name: 'a relay that detaches itself', rows: [[1000, 1, 'node relay.js --detached --grace-time 0']] },
  {
    name: 'a wrapper around a shared server',
    rows: [
      [1000, 1, 'uvx lean-lsp-mcp'],
      [1001, 1000, 'lean-lsp-mcp --transport streamable-http'],
    ],
    says: '1001',
  },
];

describe('soft-protected: only the user in person may end', () => {
  it.each(SOFT)('$name', ({ rows, around, says = '' }) => {
    const { at } = world(rows, around);
    expect(at(1000)).toMatchObject({ verdict: 'protected', protection: 'soft' });
    expect(at(1000).protectedBecause).toContain(says);
  });

  const HOSTED: readonly Case[] = [
    {
      name: 'VS Code',
      rows: [
        [900, 80_001, '/usr/share/code/code', { details: null }],
        [1000, 900, 'claude'],
      ],
      says: 'run by code (900)',
    },
    {
      name: 'VS Code, by the path of its extension',
      rows: [
        [900, 80_001, '/usr/share/code/code', { details: null }],
        [1000, 900, '/home/me/.vscode/extensions/anthropic.claude-code-2.1.0/resources/native-binary/claude'],
      ],
      says: 'run by VS Code',
    },
    {
      name: 'VS Code, by what its session announces',
      rows: [
        [900, 80_001, '/usr/share/code/code', { details: null }],
        [1000, 900, 'claude', { env: { CLAUDE_CODE_ENTRYPOINT: 'claude-vscode' } }],
      ],
      says: 'run by VS Code',
    },
    {
      name: 'a desktop app',
      rows: [
        [900, 1, '/Applications/Claude.app/Contents/MacOS/Claude'],
        [1000, 900, 'claude'],
      ],
      says: 'run by Claude (900)',
    },
    {
      name: 'an SDK',
      rows: [
        [900, 80_001, 'python3 bot.py', { sid: 80_001 }],
        [1000, 900, 'claude', { env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-py' } }],
      ],
      says: 'run by python bot.py (900)',
    },
    {
      name: 'an SDK below an unknown top',
      rows: [
        [900, 1, 'python3 bot.py'],
        [1000, 900, 'claude', { env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' } }],
      ],
      says: 'run by',
    },
  ];

  it.each(HOSTED)('an agent hosted by $name', ({ rows, says = '' }) => {
    const { at } = world(rows);
    // The list says what the plan says.
    expect(at(1000)).toMatchObject({ protection: 'soft', verdict: 'protected' });
    expect(at(1000).protectedBecause).toContain(says);
  });

  it('an SDK session whose host has ended is nobody’s guest', () => {
    const rows: Row[] = [[1000, 1, 'claude', { env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' } }]];
    expect(world(rows).at(1000)).toMatchObject({ verdict: 'suspect', protection: null });
  });

  it('an SDK session whose host was seen and has ended is leaked, unless it is still at work', () => {
    const env = (entrypoint: string) => ({ env: { CLAUDE_CODE_ENTRYPOINT: entrypoint } });
    const hosted = (entrypoint: string, host = 'node /srv/app.js') =>
      remembered(
        world([
          [900, 80_001, host],
          [1000, 900, 'claude', env(entrypoint)],
        ]),
      );
    const left: Row[] = [[1000, 1, 'claude', env('sdk-ts')]];
    const lineage = hosted('sdk-ts');
    expect(world(left, { lineage }).at(1000)).toMatchObject({
      verdict: 'leak',
      owner: { pid: 900, how: 'lineage', alive: false },
    });
    const busy = session(1000, 'x', { statusUpdatedAt: world(left).observation.takenAt - 1000 });
    expect(world(left, { lineage, sessions: [busy] }).verdict(1000)).toBe('suspect');
    // The very host, not whoever has its pid now; while that one runs, the session has its owner.
    expect(world([[900, 80_001, 'node /srv/app.js'], ...left], { lineage }).verdict(1000)).toBe('live');
    const recycled: Row = [900, 80_001, 'vim', { start: '7' }];
    expect(world([recycled, ...left], { lineage }).verdict(1000)).toBe('leak');
    // `claude -p` and a session in a shell have no host.
    expect(world(left, { lineage: hosted('sdk-cli') }).verdict(1000)).toBe('suspect');
    expect(world(left, { lineage: hosted('sdk-ts', 'bash') }).verdict(1000)).toBe('suspect');
  });

  it.each([
    '/user.slice/user-1000.slice/session-3.scope',
    '/user.slice/user-1000.slice/user@1000.service/init.scope',
    '/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope',
    '/init.scope',
    '/',
  ])('a login session is no unit: %s', cgroup => {
    expect(world([[1000, 1, 'lean-lsp-mcp', { details: { cgroup } }]]).verdict(1000)).toBe('leak');
  });

  it('the unit or container that reaptop runs in itself protects nothing', () => {
    for (const cgroup of ['/system.slice/ssh.service', `/docker/${'ab'.repeat(32)}`]) {
      const self = { pid: SELF, uid: UID, pgid: SELF, cgroup };
      const rows: Row[] = [[1000, 1, 'lean-lsp-mcp', { details: { cgroup } }]];
      expect(world(rows, { self }).verdict(1000)).toBe('leak');
    }
  });

  it('soft protection comes after rules 4 and 5, which still show it', () => {
    const { at } = world([
      [900, 1, 'claude', { env: { CLAUDE_CODE_SESSION_ID: 'dead' } }],
      [1000, 900, 'lean-lsp-mcp --transport sse'],
    ]);
    // And what it hangs below is counted as no leak either: the whole tree would be refused.
    expect(at(1000)).toMatchObject({ verdict: 'suspect', protection: 'soft' });
    expect(at(900).verdict).toBe('suspect');
    const held = world([[1000, 80_001, 'lean-lsp-mcp --transport sse', { sid: 80_001 }]]);
    expect(held.at(1000)).toMatchObject({ verdict: 'live', protection: 'soft' });
  });
});
