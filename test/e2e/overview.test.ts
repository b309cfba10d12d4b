import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { REAPTOP } from '../support/cli.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const PROJECTS = ['proofs', 'webapp', 'prices', 'docs', 'atlas', 'notes'] as const;
/** Which of them waits for its user. */
const WAITS = 3;
const server = (name: string): string => `${sandbox.sleeper(name)} 600`;
/** A server that never waits for what it started: three zombies below it. */
const OWING = 'for n in 1 2 3; do sleep 0 & done; exec ';

/** Six sessions, one of which waits; 20 processes that two dead sessions left; three zombies. */
const crowd = async (
  start: (...of: Parameters<typeof startAgent>) => Promise<RawProcess & { session: string }> = startAgent,
): Promise<{ left: readonly RawProcess[]; sessions: readonly RawProcess[] }> => {
  const left = [
    ...(await leaveBehind(sandbox, ...Array.from({ length: 8 }, (_, n) => server(`mcp-a${n}`)))),
    ...(await leaveBehind(sandbox, ...Array.from({ length: 12 }, (_, n) => server(`mcp-b${n}`)))),
  ];
  const sessions: RawProcess[] = [];
  for (const [n, project] of PROJECTS.entries()) {
    mkdirSync(sandbox.path(project), { recursive: true });
    const owing = n === 2 ? [`sh -c '${OWING}${server('lean-lsp-mcp')}'`] : [];
    const children = [server('mcp-server-files'), server('mcp-server-hub'), ...owing];
    const agent = await (n === WAITS ? start : startAgent)(sandbox, { children, cwd: sandbox.path(project) });
    sessions.push(agent);
    if (n !== WAITS) continue;
    sandbox.write(
      `home/.claude/sessions/${agent.pid}.json`,
      JSON.stringify({
        pid: agent.pid,
        sessionId: agent.session,
        procStart: agent.start,
        cwd: sandbox.path(project),
        kind: 'interactive',
        status: 'waiting',
        waitingFor: 'permission prompt',
        statusUpdatedAt: Date.now() - 12 * 60_000,
      }),
    );
  }
  return { left, sessions };
};

/** The same stand-in as the process of a tmux pane; its programs are there already. */
const startInPane = async (
  ...[, { children = [], cwd = sandbox.path('work') } = {}]: Parameters<typeof startAgent>
): Promise<RawProcess & { session: string }> => {
  const session = randomUUID();
  const program = sandbox.path('bin/register-agent');
  sandbox.tmux('new-session', '-d', '-s', 'asks', '-c', cwd, program, '--register', session, ...children);
  const pid = Number(sandbox.tmux('list-panes', '-t', 'asks', '-F', '#{pane_pid}'));
  await until('the agent to be called claude with its children below', () =>
    childrenOf(pid).some(child => child.comm === 'sleep' && child.state !== 'Z'),
  );
  return { ...rawProcess(pid)!, session };
};

const RUN = `exec ${REAPTOP} --interval 0.5`;

/** The rows of the tree that are on the screen. */
const rowsOf = (pty: Pty): readonly string[] => pty.lines().filter(line => /^│/.test(line));
const sessionsIn = (pty: Pty): readonly string[] =>
  PROJECTS.filter(project => rowsOf(pty).some(row => new RegExp(`claude.* ${project}\\b`).test(row)));
const leakRows = (pty: Pty): readonly string[] =>
  rowsOf(pty).filter(row => /LEAK .*session [0-9a-f]{8}/.test(row));

describe('on a machine with six sessions, 20 leaked processes and three zombies', () => {
  it('who waits, all sessions and what leaked are on the first screen', async () => {
    await crowd();
    for (const [columns, rows] of [
      [60, 40],
      [120, 40],
      [200, 50],
    ] as const) {
      const pty = new Pty(sandbox, { columns, rows, level: 2 });
      await pty.shows('20 leaked', '1 waiting', '3 zombies');
      await pty.until(
        `all of it at ${columns}×${rows}`,
        () => sessionsIn(pty).length === 6 && leakRows(pty).length === 2,
      );
      // Below the names of the columns: who waits, before everything else.
      expect(rowsOf(pty)[1]).toMatch(/WAIT .*claude +docs.*waits/);
      pty.press('q');
      expect(await pty.exit()).toBe(0);
    }
  });

  it('at 80×24 who waits and what leaked need no key, and all sessions one', async () => {
    await crowd();
    const pty = new Pty(sandbox, { columns: 80, rows: 24, level: 2 });
    await pty.shows('20 leaked', '1 waiting', /WAIT .*claude .*waits/);
    await pty.until('what leaked', () => leakRows(pty).length === 2);
    pty.press('1');
    await pty.until('all of it', () => sessionsIn(pty).length === 6 && leakRows(pty).length === 2);
    pty.press('q');
    expect(await pty.exit()).toBe(0);
  });

  it.each([
    [60, 40],
    [80, 24],
    [120, 40],
    [200, 50],
  ])('at %i×%i two keys, w and o, bring you to the pane of the session that waits', async (columns, rows) => {
    const { sessions } = await crowd(startInPane);
    sandbox.tmux('new-session', '-d', '-s', 'view', '-x', `${columns}`, '-y', `${rows}`, RUN);
    sandbox.tmux('set', '-g', 'status', 'off');
    const pty = new Pty(sandbox, {
      columns,
      rows,
      command: ['tmux', '-L', 'reaptop-test', 'attach', '-t', 'view'],
    });
    const shown = (): string => sandbox.tmux('list-clients', '-F', '#{session_name} #{pane_pid}').trim();
    await pty.shows('1 waiting', /WAIT .*claude.*waits/);
    expect(shown()).toMatch(/^view /);
    pty.press('w');
    await pty.shows(/▌ WAIT .*waits/);
    pty.press('o');
    // A test is quicker than anybody who reads: tmux may not have been asked yet.
    await pty.until('its pane to be shown', () => {
      if (pty.text().replace(/\s+/g, ' ').includes('tmux has not answered yet')) pty.press('o');
      return shown() === `asks ${sessions[WAITS]!.pid}`;
    });
  });

  it('the biggest hog is one key away and Esc comes back; w goes to who waits; c and y clean all', async () => {
    const { left, sessions } = await crowd();
    const pty = new Pty(sandbox, { columns: 120, rows: 40, level: 2 });
    await pty.shows('20 leaked');
    await pty.until('all of it', () => sessionsIn(pty).length === 6);
    pty.press('M');
    await pty.shows('one list', '▼MEM');
    pty.press(KEY.escape);
    await pty.shows('by tmux', /WAIT .*docs/);
    pty.press('G');
    pty.press('w');
    await pty.shows(/^│▌ WAIT .*docs/m);
    pty.press('c');
    await pty.shows('Clean what is proven leaked: 20');
    await pty.confirm();
    await until('them to end', () => left.every(p => !isRunning(p.pid, p.start)));
    await pty.shows('20 ended');
    expect(sessions.every(p => isRunning(p.pid, p.start))).toBe(true);
    pty.press(KEY.escape);
    pty.press('q');
    expect(await pty.exit()).toBe(0);
  });
});
