import { describe, expect, it } from 'vitest';
import { type Around, type Extra, type Row, session, tmux, UID, world } from '../../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';

interface Root {
  readonly name: string;
  readonly row: Row;
  readonly around?: Around;
}

const ADOPTERS: readonly Root[] = [
  { name: 'PID 1', row: [1, 0, '/sbin/init', { comm: 'systemd' }] },
  { name: 'PID 1 that is not listed', row: [700, 1, 'irrelevant'], around: { bare: true, self: null } },
  { name: 'launchd', row: [1, 0, '/sbin/launchd'] },
  { name: "a launchd that is not PID 1, of another user's", row: [500, 1, '/sbin/launchd', { uid: 0 }] },
  { name: 'the systemd --user of the same user', row: [500, 1, '/lib/systemd/systemd --user'] },
  { name: "WSL's /init, which belongs to root", row: [318, 1, '/init', { uid: 0 }] },
  {
    name: "WSL's Relay, which belongs to root",
    row: [319, 318, '/init', { comm: 'Relay(320)', uid: 0 }],
  },
  {
    name: 'a tmux server for what is none of its panes',
    row: [600, 1, 'tmux new -s main', { comm: 'tmux: server' }],
    around: { tmux: [tmux(600, [])] },
  },
];

describe('an MCP server without an owner', () => {
  it.each(ADOPTERS)('is leaked below $name', ({ row, around }) => {
    const parent = around?.bare === true ? 1 : row[0];
    const { at } = world([row, [1000, parent, SERVER]], around);
    expect(at(1000)).toMatchObject({ kind: 'mcp', verdict: 'leak', owner: null });
    expect(at(1000).why.join()).toContain('adopted by');
  });

  it.each(ADOPTERS)('is leaked with the wrappers around it below $name', ({ row, around }) => {
    const parent = around?.bare === true ? 1 : row[0];
    const { verdict } = world(
      [
        row,
        [1000, parent, 'npm exec @modelcontextprotocol/server-github'],
        [1001, 1000, 'sh -c mcp-server-github'],
        [1002, 1001, SERVER],
      ],
      around,
    );
    expect([1000, 1001, 1002].map(verdict)).toEqual(['leak', 'leak', 'leak']);
  });

  it.each<{ name: string; row: Row; parent?: number }>([
    {
      name: 'the systemd --user of another user',
      row: [500, 1, '/lib/systemd/systemd --user', { uid: 1001 }],
    },
    { name: 'an ordinary process that lives', row: [500, 1, '/opt/gateway/run'] },
    { name: 'a parent that the table does not show', row: [500, 1, 'irrelevant'], parent: 4711 },
  ])('is unknown below $name', ({ row, parent = 500 }) => {
    expect(world([row, [1000, parent, SERVER]]).verdict(1000)).toBe('unknown');
  });
});

describe('inside a container', () => {
  it.each([
    ['MCP server', SERVER],
    ['lean-lsp-mcp', 'lean-lsp-mcp'],
    ['lean server', '/opt/bin/lean --server'],
    [
      'headless browser',
      '/root/.cache/ms-playwright/chromium-1/chrome-linux/chrome --headless --remote-debugging-pipe',
    ],
  ])('an ownerless %s at PID 1 is only suspect', (_, command) => {
    const rows: Row[] = [[1000, 1, command, { details: { drivingPipe: 'abandoned-pipe' } }]];
    expect(world(rows, { host: { container: true } }).verdict(1000)).toBe('suspect');
    expect(world(rows).verdict(1000)).toBe('leak');
  });

  it('what a dead session left is leaked all the same', () => {
    const rows: Row[] = [[1000, 1, SERVER, { env: { CLAUDE_CODE_SESSION_ID: 'dead' } }]];
    expect(world(rows, { host: { container: true } }).verdict(1000)).toBe('leak');
  });

  it('an agent on the terminal of a shell that is PID 1 is live, a server there suspect', () => {
    const { verdict } = world(
      [
        [1, 0, 'bash', { tty: 'pts/0', uid: UID }],
        [1000, 1, 'claude', { tty: 'pts/0' }],
        [1001, 1, SERVER, { tty: 'pts/0' }],
      ],
      { host: { container: true } },
    );
    expect([verdict(1000), verdict(1001)]).toEqual(['live', 'suspect']);
  });

  it('a process that docker exec put in is live when an agent is concerned', () => {
    expect(world([[1000, 0, 'claude']]).verdict(1000)).toBe('live');
  });
});

describe('below a tmux server', () => {
  const rows: Row[] = [
    [600, 1, 'tmux new -s main', { comm: 'tmux: server' }],
    [700, 600, '-zsh', { tty: 'pts/0' }],
    [710, 700, SERVER, { tty: 'pts/0' }],
    [800, 600, SERVER],
    [900, 600, 'claude', { tty: 'pts/5' }],
  ];

  it('a pane is live, what survived kill-session is leaked, a popup on its own terminal is live', () => {
    const { verdict, at } = world(rows, { tmux: [tmux(600, [700])] });
    expect([710, 800, 900].map(verdict)).toEqual(['live', 'leak', 'live']);
    expect(at(710).tmux).toMatchObject({ session: 'main', pane: '%0' });
  });

  it('every child of a server that does not answer counts as a pane', () => {
    const { verdict, why } = world(rows, { tmux: [tmux(600, [], { reachable: false })] });
    expect([710, 800, 900].map(verdict)).toEqual(['live', 'live', 'live']);
    expect(why(800)).toContain('sits below a tmux server');
  });

  it.each([true, false])(
    'another server that an agent opened lends its environment, answered: %s',
    reachable => {
      const env = { CLAUDECODE: '1', CLAUDE_PID: '77' };
      const nested: Row[] = [
        [600, 1, 'tmux new -s main', { comm: 'tmux: server' }],
        [650, 600, 'tmux -L inner', { comm: 'tmux: server', env }],
        [820, 1, SERVER, { env }],
      ];
      const { verdict, why } = world(nested, { tmux: [tmux(600, [], { reachable })] });
      expect(verdict(820)).toBe('suspect');
      expect(why(820)).toContain('may have inherited the environment');
    },
  );

  it('a pane whose process has ended holds nothing', () => {
    const dead = tmux(600, [700, 800]);
    const { verdict } = world(rows, {
      tmux: [{ ...dead, panes: dead.panes.map(pane => ({ ...pane, dead: pane.pid === 800 })) }],
    });
    expect([710, 800].map(verdict)).toEqual(['live', 'leak']);
  });

  it('panes are live whatever environment the server was started with', () => {
    const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'dead' };
    const tainted = rows.map(([pid, ppid, command, extra]): Row => [pid, ppid, command, { ...extra, env }]);
    const { verdict, at } = world(tainted, { tmux: [tmux(600, [700])] });
    expect([700, 710].map(verdict)).toEqual(['live', 'live']);
    expect(at(710).owner).toBeNull();
  });

  it('an environment that the server itself hands down proves nothing about a survivor', () => {
    const env = { CLAUDE_CODE_SESSION_ID: 'dead' };
    const survivor = (own: Extra): string =>
      world(
        [
          [600, 1, 'tmux', { comm: 'tmux: server', env }],
          [800, 600, 'make all', own],
        ],
        {
          tmux: [tmux(600, [])],
        },
      ).verdict(800);
    expect(survivor({ env })).toBe('suspect');
    expect(survivor({ env: { CLAUDE_CODE_SESSION_ID: 'another' } })).toBe('leak');
  });
});

describe('on WSL', () => {
  const rows = (tty: string | null, sid: number | null = 1000): Row[] => [
    [318, 1, '/init', { comm: 'SessionLeader', uid: 0 }],
    [319, 318, '/init', { comm: 'Relay(1000)', uid: 0 }],
    [1000, 319, '-bash', { tty, sid }],
    [1001, 1000, 'claude', { tty, sid }],
    [1002, 1001, SERVER],
  ];

  it('the shell that a Relay put on a terminal is no orphan', () => {
    expect([1001, 1002].map(world(rows('pts/0')).verdict)).toEqual(['live', 'live']);
    expect(world(rows('pts/0', null)).verdict(1001)).toBe('live');
  });

  it('without a terminal it may be work that somebody detached', () => {
    expect([1001, 1002].map(world(rows(null)).verdict)).toEqual(['suspect', 'suspect']);
  });

  it('its own processes are protected', () => {
    const { at } = world([...rows('pts/0'), [400, 1, 'localhost --port-tracker-fd 8', { uid: UID }]]);
    for (const pid of [318, 319, 400])
      expect(at(pid)).toMatchObject({ verdict: 'protected', protection: 'hard' });
  });
});

it('a live owner keeps its detached processes below any orphan root', () => {
  for (const { row, around } of ADOPTERS.filter(({ around }) => around?.bare !== true)) {
    const { at } = world(
      [row, [800, 80_001, 'claude'], [1000, row[0], SERVER, { env: { CLAUDE_CODE_SESSION_ID: 'alive' } }]],
      { ...around, sessions: [session(800, 'alive')] },
    );
    expect(at(1000)).toMatchObject({ verdict: 'live', owner: { pid: 800, how: 'environ', alive: true } });
  }
});
