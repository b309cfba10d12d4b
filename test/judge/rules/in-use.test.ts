import { describe, expect, it } from 'vitest';
import type { Use } from '../../../src/model/process.ts';
import { CLOCK, type Extra, type Row, session, world } from '../../support/world.ts';

const DEAD = { CLAUDE_PID: '77' };
const SERVER = 'node /opt/mcp-server-github';
const NOW = CLOCK * 1000;

/** A process of a dead owner at PID 1, and what is below it. */
const left = (command: string, extra: Extra = {}, below: readonly Row[] = []) =>
  world([[5000, 1, command, { env: DEAD, ...extra }], ...below]).at(5000);

const verdict = (command: string, extra?: Extra, below?: readonly Row[]): string =>
  left(command, extra, below).verdict;

const used = (how: Use['how'], what = '/run/x.sock'): Extra => ({ details: { uses: [{ how, what }] } });

describe('what a dead session left, in use by somebody else', () => {
  it('is a leak when everything was read and nobody uses it', () => {
    for (const command of ['ssh host', SERVER, 'lake build', 'claude -p x', 'lean --server'])
      expect(verdict(command), command).toBe('leak');
  });

  it.each<Use['how']>(['socket-pair', 'window', 'device', 'terminal'])(
    'is suspect, whatever it is: %s',
    how => {
      for (const command of ['ssh host', SERVER, 'lake build', 'lean --server'])
        expect(verdict(command, used(how)), command).toBe('suspect');
      expect(verdict('sh -c x', {}, [[5001, 5000, 'soffice', used(how)]])).toBe('suspect');
    },
  );

  it('is protected while somebody is connected to its unix socket, with all that is above it', () => {
    for (const command of ['ssh host', SERVER, 'postgres'])
      expect(left(command, used('unix-client')), command).toMatchObject({
        verdict: 'protected',
        protection: 'soft',
      });
    expect(verdict('sh -c x', {}, [[5001, 5000, 'postgres', used('unix-client')]])).not.toBe('leak');
  });

  it('is suspect when it listens on a unix socket, as an agent or a master does, but for servers', () => {
    expect(left('ssh-agent', used('unix-listener', '/tmp/a.sock')).why[0]).toBe(
      'listens on /tmp/a.sock: it may be in use',
    );
    expect(verdict('sh -c x', {}, [[5001, 5000, 'watchman', used('unix-listener')]])).toBe('suspect');
    expect(verdict(SERVER, used('unix-listener'))).toBe('leak');
    expect(verdict('npx -y chroma-mcp', used('unix-listener'))).toBe('leak');
  });

  it('is suspect on a terminal that is still open, but for servers, which say nothing there', () => {
    for (const command of ['yes', 'lake build', 'claude -p x'])
      expect(verdict(command, used('on-terminal', 'pts/3')), command).toBe('suspect');
    expect(verdict(SERVER, used('on-terminal', 'pts/3'))).toBe('leak');
  });

  it('has no window for being headless', () => {
    const chrome = '/c/ms-playwright/chromium-1/chrome --remote-debugging-pipe';
    expect(verdict(`${chrome} --headless`, used('window'))).toBe('leak');
    expect(verdict(chrome, used('window'))).toBe('suspect');
  });

  it.each([
    ['listens', { listening: null }],
    ['is used', { uses: null }],
    ['is managed', { cgroup: null }],
  ])('is suspect when it cannot be told whether it %s', (_, details) => {
    for (const command of ['java', SERVER, `${SERVER} --stdio`, 'lean --worker', 'lake build'])
      expect(verdict(command, { details }), command).toBe('suspect');
    expect(verdict('sh -c x', {}, [[5001, 5000, 'java', { details }]])).toBe('suspect');
    expect(verdict('java', { details: null })).toBe('suspect');
    // Its words might say that it is a daemon, its group that it is ours.
    expect(verdict('java', { argv: null })).toBe('suspect');
    expect(verdict('java', { pgid: null })).toBe('suspect');
  });

  it('is not asked of what has ended', () => {
    expect(verdict('sh -c x', {}, [[5001, 5000, '[java]', { state: 'Z', details: null }]])).toBe('leak');
  });
});

describe('what a dead session left, detached on purpose', () => {
  it('is suspect when SIGHUP is ignored, or may be, but for servers', () => {
    for (const ignoresHangup of [true, null]) {
      for (const command of ['java', 'lake build', 'claude -p x', 'lean Heavy.lean'])
        expect(verdict(command, { details: { ignoresHangup } }), command).toBe('suspect');
      expect(verdict('sh -c x', {}, [[5001, 5000, 'java', { details: { ignoresHangup } }]])).toBe('suspect');
      for (const command of [SERVER, 'lean --server', 'lean-lsp-mcp'])
        expect(verdict(command, { details: { ignoresHangup } }), command).toBe('leak');
    }
  });

  it.each([
    ['/user.slice/run-r12ab.scope', 'suspect'],
    ['/user.slice/my-job.scope', 'suspect'],
    ['/user.slice/session-3.scope', 'leak'],
    ['/user.slice/app.slice/vte-spawn-1.scope', 'leak'],
    ['/user.slice/tmux-spawn-2.scope', 'leak'],
    ['/', 'leak'],
    ['', 'leak'],
  ])('in the cgroup %s is %s', (cgroup, expected) => {
    expect(verdict('java', { details: { cgroup } })).toBe(expected);
  });

  it('is no scope of its own that reaptop is in, too', () => {
    const rows: Row[] = [[5000, 1, 'java', { env: DEAD, details: { cgroup: '/x/my-job.scope' } }]];
    const self = { pid: 90_000, uid: 1000, pgid: 90_000, cgroup: '/x/my-job.scope' };
    expect(world(rows, { self }).verdict(5000)).toBe('leak');
  });
});

describe('what a dead session left, a daemon by its flags', () => {
  it.each(['foo --daemon', 'qemu-system-x86_64 -daemonize', 'foo -daemon', 'foo daemon start'])(
    '%s is protected, unless it still writes to the task that started it',
    command => {
      expect(left(command)).toMatchObject({ verdict: 'protected', protection: 'soft' });
      const output = '/tmp/claude-1000/-home-me-p/9c33/tasks/bwzho5cpl.output';
      expect(verdict(command, { details: { output } })).toBe('leak');
    },
  );
});

describe('what a dead session left, at work', () => {
  it('is suspect when it computes or moves bytes, or when that is not known yet', () => {
    for (const activity of [{ cpu: 1, bytes: 0 }, { cpu: 0, bytes: 1 }, { cpu: 0, bytes: -9 }, null]) {
      expect(verdict('java', { activity })).toBe('suspect');
      expect(verdict('lake build', { activity })).toBe('suspect');
      expect(verdict('lean Heavy.lean', { activity })).toBe('suspect');
      expect(verdict('sh -c x', {}, [[5001, 5000, 'curl x', { activity }]])).toBe('suspect');
      expect(verdict(SERVER, { activity })).toBe('leak');
    }
    expect(verdict('java', { activity: { cpu: 0.9, bytes: 0 } })).toBe('leak');
  });

  it('says that only a second sample can tell', () => {
    expect(left('java', { activity: null }).doubt).toMatchObject({ unsampled: true });
    const below = world([
      [5000, 1, 'sh -c x', { env: DEAD, activity: null }],
      [5001, 5000, 'java', { activity: null }],
    ]);
    expect(below.at(5001).doubt).toMatchObject({ unsampled: true });
    expect(left('java', { activity: { cpu: 9, bytes: 0 } }).doubt).not.toHaveProperty('unsampled');
  });

  it.each([
    [60, 'suspect'],
    [601, 'leak'],
    [-30, 'suspect'],
    [-3600, 'leak'],
  ])('whose output was written %d s ago is %s', (seconds, expected) => {
    const details = { output: '/x.log', outputAt: NOW - seconds * 1000 };
    expect(verdict('java', { details })).toBe(expected);
  });

  it('is not at work for what it printed as it started', () => {
    const born = CLOCK - 60;
    const wrote = (after: number): Extra => ({ born, details: { outputAt: (born + after) * 1000 } });
    expect(verdict('java', wrote(4))).toBe('leak');
    expect(verdict('java', wrote(6))).toBe('suspect');
  });

  it('keeps a server that has an agent at work or a build below it', () => {
    const busy = { sessions: [session(5001, 'x', { status: 'busy' })] };
    const rows: Row[] = [
      [5000, 1, SERVER, { env: DEAD }],
      [5001, 5000, 'claude -p x', { env: DEAD }],
    ];
    expect(world(rows, busy).verdict(5000)).toBe('suspect');
    expect(world(rows).verdict(5000)).toBe('leak');
    expect(verdict(SERVER, {}, [[5001, 5000, 'lake build', { cpu: 50 }]])).toBe('suspect');
  });
});

describe('an owner that is named by a number of another pid namespace', () => {
  it('is not proven dead', () => {
    expect(verdict('java', { details: { innerPid: 3 } })).toBe('suspect');
    const rows: Row[] = [[5000, 1, 'java', { env: DEAD }]];
    expect(world(rows, { host: { container: true } }).verdict(5000)).toBe('suspect');
    expect(world(rows).verdict(5000)).toBe('leak');
  });
});

describe('an editor or a terminal that an agent opened', () => {
  const opened: Row = [
    4000,
    1,
    '/usr/share/code/code',
    { env: DEAD, details: { uses: [{ how: 'window', what: 'X0' }] } },
  ];

  it('hands the agent’s environment on: that alone proves nothing then', () => {
    expect(world([opened, [5000, 1, 'java', { env: DEAD }]]).verdict(5000)).toBe('suspect');
    expect(world([opened, [5000, 1, 'java', { env: { CLAUDE_PID: '78' } }]]).verdict(5000)).toBe('leak');
  });

  it('is one by more than its name: what is called code or view may be anything', () => {
    for (const name of ['/tmp/code', '/tmp/view']) {
      const rows: Row[] = [
        [5000, 1, `${name} 600`, { env: DEAD }],
        [5001, 5000, 'sleep 600'],
      ];
      const { at } = world(rows);
      expect([at(5000).verdict, at(5001).verdict], name).toEqual(['leak', 'leak']);
      expect(verdict(`${name} x`, { tty: 'pts/1' }), name).toBe('suspect');
      expect(verdict(`${name} x`, { details: { uses: null } }), name).toBe('suspect');
    }
  });
});

describe('a team that an agent kept in a tmux server of its own', () => {
  const SERVER_ROW: Row = [3000, 1, 'tmux -L claude-swarm-900 new-session', { comm: 'tmux: server' }];
  const rows: Row[] = [
    SERVER_ROW,
    [3001, 3000, 'claude --agent-name x', { tty: 'pts/4' }],
    [3002, 3001, SERVER],
  ];
  const around = (attached: boolean, socket = '/tmp/tmux-1000/claude-swarm-900') => ({
    tmux: [
      {
        socket,
        pid: 3000,
        reachable: true,
        panes: [
          {
            socket,
            sessionId: '$0',
            session: 's',
            windowId: '@0',
            window: 0,
            pane: '%0',
            pid: 3001,
            tty: 'pts/4',
            dead: false,
            title: '',
            activity: null,
            attached,
          },
        ],
      },
    ],
  });

  it('is leaked when the agent has ended and nobody looks', () => {
    const { verdict: of, at } = world(rows, around(false));
    expect([3001, 3002].map(of)).toEqual(['leak', 'leak']);
    expect(at(3000).protection).toBe('hard');
  });

  it('is live while somebody looks, while the agent runs, and in any other server', () => {
    expect(world(rows, around(true)).verdict(3001)).toBe('live');
    expect(world([[900, 80_001, 'claude'], ...rows], around(false)).verdict(3001)).toBe('live');
    expect(world([[900, 80_001, 'renamed'], ...rows], around(false)).verdict(3001)).toBe('live');
    expect(world(rows, around(false, '/tmp/tmux-1000/default')).verdict(3001)).toBe('live');
    expect(world(rows, { ...around(false), host: { container: true } }).verdict(3001)).toBe('live');
  });
});

describe('a sandbox that a dead session left', () => {
  // `apply-seccomp` of Claude's sandbox is not dumpable: its own user may not read its environment.
  describe('a helper in between whose environment cannot be read', () => {
    const hidden = { env: null, details: { innerPid: 2 } };
    const tree = (...below: readonly Row[]): string => verdict('bwrap --x', {}, below);

    const inside = { env: DEAD, details: { innerPid: 3 } };

    it('goes with what it was started by, where all below it names the same session', () => {
      expect(tree([5001, 5000, '3', hidden], [5002, 5001, 'sleep 9', inside])).toBe('leak');
      expect(
        tree(
          [5001, 5000, '3', hidden],
          [5002, 5001, '3', hidden],
          [5003, 5002, 'sleep 9', inside],
          [5004, 5002, 'sleep 8', inside],
        ),
      ).toBe('leak');
    });

    it.each<[string, readonly Row[]]>([
      ['nothing is below it', [[5001, 5000, '3', hidden]]],
      [
        'it is in no pid namespace of its own',
        [
          [5001, 5000, '3', { env: null }],
          [5002, 5001, 'sleep 9', { env: DEAD }],
        ],
      ],
      [
        'what is below it names none',
        [
          [5001, 5000, '3', hidden],
          [5002, 5001, 'sleep 9', { env: {} }],
        ],
      ],
      [
        'what is below it names another',
        [
          [5001, 5000, '3', hidden],
          [5002, 5001, 'sleep 9', { env: { CLAUDE_PID: '78' } }],
        ],
      ],
      [
        'one of two below it hides its own, and has nothing below',
        [
          [5001, 5000, '3', hidden],
          [5002, 5001, 'sleep 9', { env: DEAD }],
          [5003, 5001, 'sleep 8', hidden],
        ],
      ],
    ])('keeps its tree suspect where %s', (_, below) => expect(tree(...below)).toBe('suspect'));
  });

  it('is no leak for its parent in a pid namespace of its own, where the number that it names is another one', () => {
    const named = (pid: string): string =>
      verdict('bwrap --x', {}, [
        [5001, 5000, 'sleep 9', { env: { CLAUDE_PID: pid }, details: { innerPid: 3 } }],
      ]);
    expect([named('77'), named('78')]).toEqual(['leak', 'suspect']);
  });
});
