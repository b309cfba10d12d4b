import { describe, expect, it } from 'vitest';
import { type Extra, type Row, session, UID, UNREADABLE, world, ZOMBIE } from '../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'dead' };

describe('rules 1 to 3: before anything else', () => {
  it('hard protection wins over every evidence of a leak', () => {
    const rows: Row[] = [[1000, 1, 'claude daemon run', { env: DEAD, details: { lostTerminal: true } }]];
    expect(world(rows).at(1000)).toMatchObject({ verdict: 'protected', protection: 'hard' });
  });

  it.each<[string, Row[]]>([
    ['leak', [[1000, 1, SERVER]]],
    [
      'live',
      [
        [900, 80_001, 'claude'],
        [1000, 900, SERVER],
      ],
    ],
    ['suspect', [[1000, 1, 'claude -p work']]],
    [
      'unknown',
      [
        [999, 1, '/opt/gateway'],
        [1000, 999, SERVER],
      ],
    ],
  ])('a zombie has the verdict of its parent: %s', (verdict, rows) => {
    const judged = world([...rows, [1001, 1000, '[node]', ZOMBIE]]);
    expect(judged.verdict(1001)).toBe(verdict);
    expect(judged.at(1000).zombies).toBe(1);
    expect(judged.why(1001)).toContain('(1000)');
  });

  it('a zombie without a parent in the table is unknown', () => {
    expect(world([[1001, 4711, '[node]', ZOMBIE]]).verdict(1001)).toBe('unknown');
  });

  it('what cannot be read is unknown, wherever it hangs', () => {
    const rows: Row[] = [
      [1000, 1, SERVER, UNREADABLE],
      [900, 80_001, 'claude'],
      [1001, 900, SERVER, UNREADABLE],
    ];
    expect([1000, 1001].map(world(rows).verdict)).toEqual(['unknown', 'unknown']);
  });
});

describe('rule 4: below a running agent', () => {
  const below = (agent: Row, extra: Extra = {}) => world([agent, [1001, agent[0], SERVER, extra]]).at(1001);

  it.each<[string, string, Row]>([
    ['live', 'of a terminal', [1000, 80_001, 'claude']],
    ['live', 'that we do not know about', [1000, 4711, 'claude']],
    ['live', 'that is protected', [1000, 1, 'claude daemon run']],
    ['live', 'of another user', [1000, 80_001, 'claude', { uid: 1001 }]],
    ['leak', 'that is leaked', [1000, 1, 'claude', { env: DEAD }]],
    ['suspect', 'that is suspect', [1000, 1, 'claude -p x']],
  ])('%s below an agent %s', (verdict, _, agent) => {
    expect(below(agent)).toMatchObject({ verdict, owner: { pid: 1000, how: 'ancestor', alive: true } });
  });

  it('a dead session in its environment does not matter below a live agent', () => {
    expect(below([1000, 80_001, 'claude'], { env: DEAD }).verdict).toBe('live');
  });

  it('the nearest agent decides', () => {
    const { at } = world([
      [900, 80_001, 'claude'],
      [1000, 900, 'codex exec task'],
      [1001, 1000, SERVER],
    ]);
    expect(at(1001).owner).toMatchObject({ pid: 1000 });
  });

  it('an agent that has ended and was not reaped owns nothing', () => {
    const { verdict } = world([
      [900, 1, '[claude]', ZOMBIE],
      [1000, 1, 'yes', { env: DEAD }],
    ]);
    expect(verdict(1000)).toBe('leak');
  });
});

describe('rule 5: somebody or something live is responsible', () => {
  it.each<[string, Row]>([
    ['a terminal', [500, 1, 'gnome-terminal-server']],
    ['a terminal nobody has heard of', [500, 1, '/opt/myterm']],
    ['sshd', [500, 1, 'sshd: me@notty', { comm: 'sshd', uid: 0 }]],
    ['login', [500, 1, 'login', { uid: 0 }]],
    ['cron', [500, 1, '/usr/sbin/cron -f', { uid: 0 }]],
    ['an editor', [500, 1, 'nvim notes.md']],
    ['a service of its own', [500, 1, '/opt/bot', { details: { cgroup: '/system.slice/bot.service' } }]],
    ['a container runtime', [500, 1, 'containerd-shim-runc-v2', { uid: 0 }]],
  ])('what climbs to %s is live when an agent is concerned, else unknown', (_, anchor) => {
    const { verdict } = world([
      anchor,
      [600, 500, '-zsh', { tty: 'pts/3' }],
      [700, 600, SERVER, { tty: 'pts/3', sid: 600, env: DEAD }],
      [701, 600, 'htop', { tty: 'pts/3', sid: 600 }],
    ]);
    expect([verdict(700), verdict(701)]).toEqual(['live', 'unknown']);
  });

  it('an ordinary program on the way holds it just as well', () => {
    const { verdict } = world([
      [700, 80_001, 'python3 orchestrate.py', { sid: 80_001 }],
      [701, 700, 'claude -p task', { env: DEAD }],
      [702, 701, SERVER],
    ]);
    expect([701, 702].map(verdict)).toEqual(['live', 'live']);
  });

  it('a child of a worker daemon is live: its parent is protected and lives', () => {
    const { at, verdict } = world([
      [500, 1, 'bun /x/claude-mem/scripts/worker-service.cjs --daemon'],
      [600, 500, 'claude --output-format stream-json', { env: DEAD }],
      [601, 500, 'uvx chroma-mcp', { env: DEAD }],
    ]);
    expect(at(500)).toMatchObject({ verdict: 'protected', protection: 'soft' });
    expect([600, 601].map(verdict)).toEqual(['live', 'live']);
  });
});

describe('rule 7: adopted', () => {
  const orphan = (command: string, extra: Extra = {}, rest: Row[] = []): string =>
    world([[1000, 1, command, extra], ...rest]).verdict(1000);
  const listening = { details: { listening: { ports: [3000], clients: 0 } } };

  it.each([
    ['java', 'java -jar ls.jar'],
    ['an agent', 'claude -p x'],
    ['a build', 'lake build'],
    ['a server', SERVER],
    ['a shell of the Bash tool', '/bin/zsh'],
    ['a wrapper', 'npm exec something'],
  ])('%s whose owner is proven dead is leaked', (_, command) => {
    expect(orphan(command, { env: DEAD })).toBe('leak');
  });

  it('of a dead owner, what listens itself or below is only suspect: somebody may want that dev server', () => {
    expect(orphan('node dev-server.js', { env: DEAD, ...listening })).toBe('suspect');
    expect(orphan('/bin/zsh', { env: DEAD }, [[1001, 1000, 'node dev-server.js', listening]])).toBe(
      'suspect',
    );
    expect(orphan(SERVER, { env: DEAD, ...listening })).toBe('leak');
  });

  it('below a leaked server, too, what listens is only suspect', () => {
    const { verdict } = world([
      [1000, 1, SERVER],
      [1001, 1000, 'node dashboard.js', listening],
      [1002, 1000, 'node helper.js'],
    ]);
    expect([1000, 1001, 1002].map(verdict)).toEqual(['leak', 'suspect', 'leak']);
  });

  it.each([
    ['mcp', SERVER],
    ['lean-lsp', 'lean-lsp-mcp'],
    ['lean', '/t/bin/lean --worker file:///X.lean'],
    ['lake serve, which only wraps lean --server', 'lake serve --'],
    ['browser', '/c/ms-playwright/chromium-1/chrome --headless --remote-debugging-pipe'],
    ['a wrapper around a server', 'npx -y chroma-mcp'],
  ])('without any owner, %s is leaked', (_, command) => {
    expect(orphan(command)).toBe('leak');
  });

  it('without any owner, an agent or a build is suspect: nohup is how people detach work', () => {
    expect([orphan('claude -p work'), orphan('lake build'), orphan('codex exec x')]).toEqual(
      Array(3).fill('suspect'),
    );
  });

  it('an agent or a build that lost its terminal is leaked, with or without a wrapper around it', () => {
    const lost = { details: { lostTerminal: true } };
    expect([orphan('claude', lost), orphan('lake build', lost)]).toEqual(['leak', 'leak']);
    const { verdict } = world([
      [1000, 1, 'sh -c claude', lost],
      [1001, 1000, 'claude', lost],
    ]);
    expect([1000, 1001].map(verdict)).toEqual(['leak', 'leak']);
  });

  it('a lost terminal says nothing about anything else', () => {
    expect(orphan('some-helper', { details: { lostTerminal: true } })).toBe('unknown');
  });

  it('anything else is unknown', () => {
    expect([orphan('yes'), orphan('/bin/zsh'), orphan('npm exec something')]).toEqual(
      Array(3).fill('unknown'),
    );
  });

  it('no tty, high age, high memory, zombies and idleness together prove nothing', () => {
    const rows: Row[] = [
      [1000, 80_001, 'claude', { tty: null, born: 5, rss: 64 * 1024 ** 3, cpu: 0 }],
      ...[1, 2, 3, 4, 5, 6].map((n): Row => [1000 + n, 1000, '[node]', ZOMBIE]),
    ];
    expect(world(rows).verdict(1000)).toBe('live');
  });

  it('what hangs below a protected parent was orphaned by nobody', () => {
    const sudo: Row[] = [
      [1000, 1, 'sudo -u me npx chroma-mcp', { uid: 0 }],
      [1001, 1000, 'npx chroma-mcp'],
    ];
    expect(world(sudo).verdict(1001)).toBe('live');
    expect(world(sudo, { self: { pid: 4711, uid: 0, pgid: null, cgroup: null } }).verdict(1001)).toBe(
      'protected',
    );
  });
});

describe('rule 8: any other top', () => {
  const STRANGER: Row = [999, 1, '/opt/subreaper'];

  it('a dead owner makes suspect, none makes unknown, a live one live', () => {
    const { verdict } = world(
      [
        [500, 80_001, 'claude'],
        STRANGER,
        [1000, 999, SERVER, { env: DEAD }],
        [1001, 999, SERVER],
        [1002, 999, SERVER, { env: { CLAUDE_CODE_SESSION_ID: 'alive' } }],
      ],
      { sessions: [session(500, 'alive')] },
    );
    expect([1000, 1001, 1002].map(verdict)).toEqual(['suspect', 'unknown', 'live']);
  });

  it('a parent that a recorded table does not show is unknown, not dead', () => {
    const { verdict } = world([[1000, 4711, SERVER]], { host: { backend: 'recorded' }, self: null });
    expect(verdict(1000)).toBe('unknown');
  });

  it('unrelated processes are unknown', () => {
    const { verdict } = world([
      [1000, 1, 'nginx'],
      [1001, 80_001, 'vim CLAUDE.md'],
    ]);
    expect([1000, 1001].map(verdict)).toEqual(['unknown', 'unknown']);
  });

  it('what hangs below a leaked process of any kind is leaked with it', () => {
    const { verdict } = world([
      [1000, 1, 'java -jar x.jar', { env: DEAD }],
      [1001, 1000, 'helper', { uid: UID }],
    ]);
    expect([1000, 1001].map(verdict)).toEqual(['leak', 'leak']);
  });
});
