import { describe, expect, it } from 'vitest';
import { climber } from '../../../src/judge/rules/climb.ts';
import { panesOf } from '../../../src/judge/rules/tmux-pane.ts';
import { type Around, type Extra, type Row, SELF, session, tmux, UID, world } from '../../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';
const LOGIN = 80_001;
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'dead' };

/** One process at PID 1, or wherever `rows` put it; it is always 1000. */
const judged = (rows: readonly Row[], around: Around = {}) => world(rows, around).at(1000);
const orphan = (command: string, extra: Extra = {}, around: Around = {}) =>
  judged([[1000, 1, command, extra]], around);

describe('hard protection, rule by rule', () => {
  it('pids 1 and 2, whatever they are', () => {
    const { at } = world([[2, 1, SERVER]]);
    for (const pid of [1, 2]) expect(at(pid).protectedBecause).toContain('first two processes');
    expect(world([[3, 1, SERVER]]).at(3).verdict).toBe('leak');
  });

  it('reaptop itself is called so, and no ancestor of itself', () => {
    expect(world([]).at(SELF).protectedBecause).toBe('reaptop itself');
    expect(world([]).at(LOGIN).protectedBecause).toBe('an ancestor of reaptop');
  });

  it('no process group is ours where ours is not known', () => {
    const self = { pid: SELF, uid: UID, pgid: null, cgroup: null };
    expect(orphan(SERVER, {}, { self }).verdict).toBe('leak');
    expect(orphan(SERVER, { pgid: null }, { self }).verdict).toBe('suspect');
  });

  it('a spare that was claimed is stopped by its job', () => {
    const spare = '/h/.local/share/claude/versions/2.1.201 --bg-spare /tmp/x';
    const sessions = [session(1000, 'abc', { jobId: '1a2b3c4d' })];
    expect(orphan(spare, {}, { sessions }).protectedBecause).toContain('claude stop 1a2b3c4d');
  });

  it('a background session whose job is told nowhere', () => {
    for (const env of [null, {}, { CLAUDE_JOB_DIR: '/home/me/.claude/jobs/9f8e7d6c/logs' }])
      expect(orphan('claude --bg', { env }).protectedBecause).toContain('claude stop ID');
  });

  it.each<[string, string, boolean]>([
    ['special.js', 'node /opt/x/special.js', true],
    ['/opt/x/*', 'node /opt/x/special.js', true],
    ['pecial.js', 'node /opt/x/special.js', false],
    ['keepme', '[keepme]', true],
    ['nothing-*', SERVER, false],
    ['* *', '[keepme]', false],
  ])('the pattern %s and %s: %s', (pattern, command, keeps) => {
    const { protection, protectedBecause } = orphan(command, {}, { config: { protect: [pattern] } });
    expect(protection).toBe(keeps ? 'hard' : null);
    if (keeps) expect(protectedBecause).toBe(`protected by the config (${pattern})`);
  });
});

describe('soft protection, rule by rule', () => {
  it('is for agents in an editor, not for what else runs there, nor for agents of a terminal', () => {
    const editor: Row = [900, LOGIN, '/usr/share/code/code --type=utility', { details: null }];
    expect(judged([editor, [1000, 900, 'claude']]).protectedBecause).toMatch(/^run by code/);
    expect(judged([editor, [1000, 900, SERVER]]).protection).toBeNull();
    expect(judged([[1000, LOGIN, 'claude']]).protection).toBeNull();
  });

  it('is for an agent that a program of a terminal or a pane hosts', () => {
    const env = { CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' };
    const rows: Row[] = [
      [900, LOGIN, '/opt/app'],
      [1000, 900, 'claude', { env }],
    ];
    expect(judged(rows).protectedBecause).toBe('run by app (900)');
    const inPane: Row[] = [
      [500, 1, 'tmux', { comm: 'tmux: server' }],
      [900, 500, '/opt/app'],
      [1000, 900, 'claude', { env }],
    ];
    expect(judged(inPane, { tmux: [tmux(500, [900])] }).protectedBecause).toBe('run by app (900)');
    expect(orphan('claude', { env }).protection).toBeNull();
  });

  it.each<[string, string | null, string | null]>([
    ['/system.slice/foo.service', null, 'managed by foo.service'],
    ['/system.slice/foo.service/bar.scope.d', null, 'managed by foo.service'],
    ['/system.slice/foo.service', '/system.slice/foo.service', null],
    ['/system.slice/foo.service', '/system.slice/bar.service', 'managed by foo.service'],
    ['/user.slice/user@1000.service', null, null],
    ['/user.slice/myuser@1000.service', null, 'managed by myuser@1000.service'],
    ['/user.slice/user@1000.service.service', null, 'managed by user@1000.service.service'],
    ['/user.slice/user@me.service', null, 'managed by user@me.service'],
    ['/docker/0123456789abcdef', null, 'runs in a container'],
    ['/docker/0123456789abcdef', '/docker/0123456789abcdef', null],
    ['/user.slice/session-2.scope', '/system.slice/cron.service', null],
  ])('in the cgroup %s, and we in %s: %s', (cgroup, ours, because) => {
    const self = { pid: SELF, uid: UID, pgid: SELF, cgroup: ours };
    expect(orphan(SERVER, { details: { cgroup } }, { self }).protectedBecause).toBe(because);
  });

  it.each(['/system.slice/foo.service', '/docker/0123456789abcdef'])(
    'the cgroup %s of a recorded table, which has no reaptop in it',
    cgroup => {
      const around: Around = { self: null, host: { backend: 'recorded' } };
      expect(orphan(SERVER, { details: { cgroup } }, around).protection).toBe('soft');
    },
  );
});

describe('where a climb ends', () => {
  it('a session leader on a terminal below a user manager was adopted; below WSL it is where somebody types', () => {
    const onTerminal = { tty: 'pts/3', sid: 1000 };
    const manager: Row = [700, 1, '/lib/systemd/systemd --user', { comm: 'systemd' }];
    expect(judged([manager, [1000, 700, SERVER, onTerminal]]).verdict).toBe('leak');
    const wsl: Row = [700, 1, '/init', { comm: 'init' }];
    expect(judged([wsl, [1000, 700, '-bash', onTerminal]]).verdict).not.toBe('leak');
  });

  it('an ordinary program in a pane holds what it started', () => {
    const rows: Row[] = [
      [500, 1, 'tmux', { comm: 'tmux: server' }],
      [900, 500, '/opt/gateway'],
      [1000, 900, SERVER, { env: DEAD }],
    ];
    expect(judged(rows, { tmux: [tmux(500, [900])] })).toMatchObject({
      verdict: 'live',
      why: ['sits in tmux pane main:%0'],
    });
  });

  it.each<[string, Extra, boolean]>([
    ['leads a session on a terminal', { tty: 'pts/3', sid: 1000 }, true],
    ['leads a session without one', { tty: null, sid: 1000 }, false],
    ['is in another session on a terminal', { tty: 'pts/3', sid: 999 }, false],
    ['is on a terminal in a listing without sessions', { tty: 'pts/3', sid: null }, false],
    ['is on none in a listing without sessions', { tty: null, sid: null }, false],
  ])('below a program that we do not know, a server that %s: held = %s', (_, extra, held) => {
    const { why, verdict } = judged([
      [999, 1, '/opt/gateway'],
      [1000, 999, SERVER, extra],
    ]);
    expect([verdict, why]).toEqual(
      held
        ? ['live', ['run by gateway (999), on pts/3']]
        : ['unknown', ['its parent gateway (999) is alive, and reaptop does not know what it is']],
    );
  });

  it('below a program that we do not know, a shell on a terminal in a listing without sessions is held', () => {
    const rows: Row[] = [
      [998, 1, '/opt/gateway'],
      [999, 998, '-bash', { tty: 'pts/3', sid: null }],
      [1000, 999, SERVER],
    ];
    expect(judged(rows).verdict).toBe('live');
  });

  it.each<[string, Row, Row, string]>([
    [
      'an agent on its terminal',
      [1, 0, 'bash', { tty: 'pts/0' }],
      [1000, 1, 'claude', { tty: 'pts/0' }],
      'live',
    ],
    [
      'an agent on another',
      [1, 0, 'bash', { tty: 'pts/0' }],
      [1000, 1, 'claude', { tty: 'pts/1' }],
      'suspect',
    ],
    [
      'an agent on none, as PID 1',
      [1, 0, 'bash', { tty: null }],
      [1000, 1, 'claude', { tty: null }],
      'suspect',
    ],
    [
      'a server on its terminal',
      [1, 0, 'bash', { tty: 'pts/0' }],
      [1000, 1, SERVER, { tty: 'pts/0' }],
      'leak',
    ],
    [
      'an agent, but PID 1 is no shell',
      [1, 0, '/sbin/init', { tty: 'pts/0' }],
      [1000, 1, 'claude', { tty: 'pts/0' }],
      'suspect',
    ],
  ])('PID 1 is a shell, and below it %s', (_, first, row, verdict) => {
    expect(judged([first, row]).verdict).toBe(verdict);
  });

  it('a shell on the terminal of the first shell holds what runs in it', () => {
    const rows: Row[] = [
      [1, 0, 'bash', { tty: 'pts/0' }],
      [900, 1, 'bash', { tty: 'pts/0' }],
      [1000, 900, 'claude', { tty: 'pts/0' }],
    ];
    expect(judged(rows).verdict).toBe('live');
  });

  it('what a shared server started is held by it', () => {
    const rows: Row[] = [
      [900, 1, 'lean-lsp-mcp --transport streamable-http'],
      [1000, 900, 'lake serve'],
    ];
    expect(judged(rows)).toMatchObject({ verdict: 'live', why: ['run by lean-lsp-mcp (900)'] });
  });

  it('a parent outside this namespace holds; one that the table lacks is unknown', () => {
    expect(judged([[1000, 0, SERVER]])).toMatchObject({ verdict: 'live' });
    expect(judged([[1000, 4711, SERVER]])).toMatchObject({
      verdict: 'unknown',
      why: ['its parent is not in the table'],
    });
  });

  it('the first two processes have no parent outside: what the second one runs is nobody’s that we know', () => {
    const rows: Row[] = [
      [2, 0, 'bash'],
      [1000, 2, SERVER],
    ];
    expect(judged(rows).verdict).toBe('unknown');
  });

  it('says so where it does not know', () => {
    const { node } = world([[1000, 4711, SERVER]]);
    expect(climber(panesOf([]), () => null)(node(1000))).toEqual({ end: 'unknown' });
  });
});

describe('reasons say what was found', () => {
  it('below an agent: its verdict, or what speaks against the process itself', () => {
    const leaked = world([
      [900, 1, 'claude', { env: DEAD }],
      [1000, 900, SERVER],
    ]);
    expect(leaked.why(1000)).toMatch(/^runs below claude \(900\), which is leaked: /);
    const suspect = world([
      [900, 1, 'claude -p x'],
      [1000, 900, SERVER],
    ]);
    expect(suspect.why(1000)).toMatch(/^runs below claude \(900\), which is suspect: /);
    const abandoned: Row[] = [
      [900, LOGIN, 'claude'],
      [1000, 900, SERVER, { details: { stdin: 'abandoned-pipe' } }],
      [1001, 1000, 'sleep 9'],
    ];
    const { at } = world(abandoned);
    expect(at(1000).why[0]).not.toContain('goes with');
    expect(at(1001).why[0]).toMatch(/^goes with github-mcp-server \(1000\): /);
    expect(at(1001).verdict).toBe('suspect');
  });

  it('far below a leaked root: whom it goes with and why, not everybody in between', () => {
    const { why, verdict } = world([
      [1000, 1, SERVER, { env: DEAD }],
      [1001, 1000, 'sh run.sh'],
      [1002, 1001, 'make'],
      [1003, 1002, 'sleep 9'],
    ]);
    expect(verdict(1003)).toBe('leak');
    expect(why(1003)).toBe(`goes with github-mcp-server (1000): ${why(1000).split('; ')[0]}`);
  });

  it('in a pane, below a tmux server that does not answer, and from a terminal', () => {
    const rows: Row[] = [
      [500, 1, 'tmux', { comm: 'tmux: server' }],
      [1000, 500, 'claude'],
    ];
    expect(judged(rows, { tmux: [tmux(500, [1000])] }).why).toEqual(['sits in tmux pane main:%0']);
    expect(judged(rows, { tmux: [tmux(500, [], { reachable: false })] }).why).toEqual([
      'sits below a tmux server',
    ]);
  });

  it('what only a name or a file describes', () => {
    const described = orphan('/opt/tool mcp');
    expect(described).toMatchObject({ verdict: 'suspect' });
    expect(described.why[0]).toContain('a sub-command called mcp');
  });

  it('below a program that is leaked itself, and below one that is not', () => {
    const below = (env: Extra['env']) =>
      judged([
        [900, 1, '/opt/helper', { env: env ?? null }],
        [1000, 900, SERVER],
      ]);
    expect(below(DEAD)).toMatchObject({ verdict: 'leak' });
    expect(below(DEAD).why[0]).toMatch(/^goes with helper \(900\): /);
    expect(below({})).toMatchObject({ verdict: 'unknown' });
  });

  it('an agent of which nothing more can be read is a suspect, not a leak', () => {
    expect(orphan('claude', { details: null }).verdict).toBe('suspect');
  });
});
