import { describe, expect, it } from 'vitest';
import { judgeWith } from '../../../src/judge/rules/verdict.ts';
import { verdictContext } from '../../../src/judge/rules/verdict-context.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Extra, type Row, tmux, UNREADABLE, world, ZOMBIE } from '../../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'dead' };

it('every process is judged once', () => {
  const { observation, tree, node } = world([[1000, 1, SERVER]]);
  const judge = judgeWith(verdictContext({ observation, tree, config: DEFAULT_CONFIG }), () => true);
  expect(judge(node(1000))).toBe(judge(node(1000)));
});

it('looks for an owner of all processes except protected unrelated ones', () => {
  const rows: Row[] = [
    [600, 1, 'tmux', { comm: 'tmux: server' }],
    [700, 600, '-zsh', { tty: 'pts/0' }],
    [800, 700, 'claude'],
    [1000, 700, 'npx vite'],
    [1001, 700, SERVER],
  ];
  const owners = (protect: readonly string[]) =>
    [1000, 1001].map(
      pid => world(rows, { tmux: [tmux(600, [700])], config: { protect } }).at(pid).owner?.pid,
    );
  expect(owners([])).toEqual([800, 800]);
  expect(owners(['vite', '/opt/*'])).toEqual([undefined, 800]);
});

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
    expect(world([[1000, 1, SERVER, { details: { realUid: null } }]]).verdict(1000)).toBe('unknown');
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
