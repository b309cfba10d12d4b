import { describe, expect, it } from 'vitest';
import { type Extra, type Row, session, UID, world, ZOMBIE } from '../../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'dead' };

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

  it('only suspects what a dead owner left when it or a child listens', () => {
    expect(orphan('node dev-server.js', { env: DEAD, ...listening })).toBe('suspect');
    expect(orphan('/bin/zsh', { env: DEAD }, [[1001, 1000, 'node dev-server.js', listening]])).toBe(
      'suspect',
    );
    expect(orphan(SERVER, { env: DEAD, ...listening })).toBe('suspect');
    expect(orphan(`${SERVER} --stdio`, { env: DEAD, ...listening })).toBe('leak');
  });

  it('only suspects what a dead owner left when its sockets cannot be read', () => {
    const hidden = { details: { listening: null } };
    for (const command of ['caddy run', SERVER, `${SERVER} --stdio`, 'lean --server'])
      expect(orphan(command, { env: DEAD, ...hidden }), command).toBe('suspect');
  });

  it.each<[string, Row[]]>([
    [
      'the environment of a child cannot be read',
      [
        [1000, 1, SERVER],
        [1001, 1000, SERVER, { env: null }],
      ],
    ],
    [
      'the user of a child cannot be read',
      [
        [1000, 1, SERVER],
        [1001, 1000, SERVER, { details: { realUid: null } }],
      ],
    ],
    [
      'the user two levels above cannot be read',
      [
        [998, 1, SERVER, { details: { realUid: null } }],
        [999, 998, SERVER],
        [1000, 999, SERVER],
      ],
    ],
    [
      'nothing of its unproven parent could be read',
      [
        [999, 1, 'chrome --remote-debugging-pipe', { details: null }],
        [1000, 999, SERVER],
      ],
    ],
    [
      'the environment of its unproven parent cannot be read',
      [
        [999, 1, 'chrome --remote-debugging-pipe', { env: null }],
        [1000, 999, SERVER],
      ],
    ],
  ])('is no leak when %s', (_, rows) => {
    expect(world(rows).verdict(1000)).not.toBe('leak');
  });

  it('an ordinary program below another is leaked with it, though its environment is not asked for', () => {
    const { verdict } = world([
      [1000, 1, 'java -jar ls.jar', { env: DEAD }],
      [1001, 1000, 'java -jar worker.jar', { env: null }],
    ]);
    expect([1000, 1001].map(verdict)).toEqual(['leak', 'leak']);
  });

  it('what names another session, perhaps a running one, is not leaked with its parent', () => {
    const { verdict } = world(
      [
        [900, 80_001, 'claude'],
        [1000, 1, SERVER],
        [1001, 1000, SERVER, { env: DEAD }],
      ],
      { sessions: [] },
    );
    expect([1000, 1001].map(verdict)).toEqual(['suspect', 'suspect']);
  });

  it('what goes with a live process is live, whatever it listens on', () => {
    const { at } = world([
      [900, 80_001, 'claude'],
      [1000, 1, '/bin/zsh', { env: { CLAUDE_PID: '900' } }],
      [1001, 1000, 'npx vite', { ...listening, env: null }],
    ]);
    expect(at(1001)).toMatchObject({
      verdict: 'live',
      why: [expect.stringContaining('goes with zsh (1000)')],
    });
  });

  it('a server is leaked though the browser that it drives listens for debuggers', () => {
    const { verdict } = world([
      [1000, 1, SERVER],
      [1001, 1000, 'chromium --headless --remote-debugging-port=9222'],
    ]);
    expect([1000, 1001].map(verdict)).toEqual(['leak', 'leak']);
  });

  it('the helper of a browser of which nothing may be read is unknown: its own words say nothing', () => {
    const { at } = world([
      [1000, 1, '/c/ms-playwright/webkit-1/Foo', { uid: null }],
      [1001, 1000, 'Foo --child'],
    ]);
    expect(at(1001)).toMatchObject({ kind: 'browser', verdict: 'unknown' });
  });

  it('a server below which something listens is only suspect, with all that is below it', () => {
    const { verdict } = world([
      [1000, 1, SERVER],
      [1001, 1000, 'node dashboard.js', listening],
      [1002, 1000, 'node helper.js'],
    ]);
    expect([1000, 1001, 1002].map(verdict)).toEqual(['suspect', 'suspect', 'suspect']);
  });

  it.each([
    ['mcp', SERVER],
    ['lean-lsp', 'lean-lsp-mcp'],
    ['lean', '/t/bin/lean --worker file:///X.lean'],
    ['lake serve, which only wraps lean --server', 'lake serve --'],
    ['a wrapper around a server', 'npx -y chroma-mcp'],
    ['the repl of Lean', '/w/.lake/build/bin/repl'],
    ['loogle', 'loogle --json --interactive --index-file x'],
  ])('without any owner, %s is leaked once nobody can talk to it any more', (_, command) => {
    for (const stdin of ['abandoned-socket', 'abandoned-pipe'] as const)
      expect(orphan(command, { details: { stdin } }), stdin).toBe('leak');
    for (const stdin of ['socket', 'pipe', 'file', 'tty', 'unknown'] as const)
      expect(orphan(command, { details: { stdin } }), stdin).toBe('suspect');
    expect(orphan(command, { env: null })).toBe('suspect');
    expect(orphan(command, { details: null })).toBe('suspect');
  });

  it('a browser is leaked when the pipe that drives it is closed, not for its standard input', () => {
    const piped = '/c/ms-playwright/chromium-1/chrome --headless --remote-debugging-pipe';
    const driven = (drivingPipe: 'abandoned-pipe' | 'pipe'): Extra => ({ details: { drivingPipe } });
    expect(orphan(piped, driven('abandoned-pipe'))).toBe('leak');
    expect(orphan(piped, driven('pipe'))).toBe('unknown');
    expect(orphan(piped)).toBe('unknown');
    expect(orphan('chromium --headless --print-to-pdf x.html', driven('abandoned-pipe'))).toBe('unknown');
  });

  it.each(['lean Heavy.lean', 'lake env lean Heavy.lean', 'chromium --headless --dump-dom x'])(
    '%s talks to nobody: no closed pipe makes it a leak',
    command => {
      const closed = { details: { stdin: 'abandoned-pipe', drivingPipe: 'abandoned-pipe' } } as const;
      expect(['unknown', 'suspect']).toContain(orphan(command, closed));
      const below = world([
        [1000, 1, '/bin/bash script.sh', closed],
        [1001, 1000, command, closed],
      ]);
      expect(['unknown', 'suspect']).toContain(below.verdict(1001));
    },
  );

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

  it('what hangs below a process that cannot be judged is unknown, whatever it is itself', () => {
    for (const unread of [{ uid: null }, { argv: null, env: null }] as const) {
      const { verdict } = world([
        [1000, 1, 'sh -c x', unread],
        [1001, 1000, SERVER],
      ]);
      expect(verdict(1001), JSON.stringify(unread)).not.toBe('leak');
    }
    expect(
      world([
        [1000, 1, 'sh -c x'],
        [1001, 1000, SERVER],
      ]).verdict(1001),
    ).toBe('leak');
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
