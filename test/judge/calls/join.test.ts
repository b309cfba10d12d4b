import { expect, test } from 'vitest';
import type { LoggedCall } from '../../../src/model/call.ts';
import { readingOf } from '../../../src/model/heartbeat.ts';
import type { ConfiguredServer } from '../../../src/model/observation.ts';
import { type Around, CLOCK, type Row, session, world, ZOMBIE } from '../../support/world.ts';

const NOW = CLOCK * 1000;

const logged = (tool: string, server: string | null, extra: Partial<LoggedCall> = {}): LoggedCall => ({
  id: `${server}/${tool}`,
  tool,
  server,
  startedAt: NOW - 60_000,
  subagent: false,
  ...extra,
});

const server = (name: string, command: string, args: readonly string[] = []): ConfiguredServer => ({
  name,
  command,
  args,
  source: '/home/me/project/.mcp.json',
  rank: 'project',
});

const calls = (
  rows: readonly Row[],
  pending: readonly LoggedCall[],
  around: Around & { status?: string } = {},
) => {
  const { status = 'busy', ...rest } = around;
  const transcript = readingOf(
    { pid: 10, sessionId: 'abc', calls: { pending, model: 'm', tokens: 5 } },
    {
      path: '/home/me/.claude/projects/x/abc.jsonl',
      root: '/home/me/.claude',
      format: 'transcript',
      source: null,
      mtime: 0,
      size: 1,
      unreadable: null,
    },
  );
  const machine = world([[10, 80_001, 'claude'], ...rows], {
    sessions: [session(10, 'abc', { status, statusUpdatedAt: NOW })],
    readings: [transcript],
    ...rest,
  });
  return machine.at(10).session!;
};

const joined = (...args: Parameters<typeof calls>) =>
  calls(...args).calls!.map(({ process, join }) => `${process?.pid ?? '-'} ${join}`);

const LEAN: Row = [20, 10, 'uvx lean-lsp-mcp'];
const LEAN_BELOW: Row = [21, 20, 'python3 /home/me/.venv/bin/lean-lsp-mcp'];
const MEMORY: Row = [30, 10, 'node /usr/lib/node_modules/.bin/mcp-server-memory'];
const CONFIG = [server('lean-lsp', 'uvx', ['lean-lsp-mcp']), server('memory', 'mcp-server-memory')];
const GOAL = logged('lean_goal', 'lean-lsp');

test('a server is found by the name that it is configured by, with the whole tree it runs in', () => {
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [GOAL], { servers: CONFIG })).toEqual(['20 name']);
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [logged('x', 'memory')], { servers: CONFIG })).toEqual([
    '30 name',
  ]);
});

test('names are compared as agents write them into the names of tools', () => {
  const odd = [server('claude.ai lean-lsp', 'uvx', ['lean-lsp-mcp']), server('memory', 'mcp-server-memory')];
  const goal = logged('lean_goal', 'claude_ai_lean-lsp');
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [goal], { servers: odd })).toEqual(['20 name']);
});

test('without a configured name one that is called like it is meant', () => {
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [GOAL])).toEqual(['20 name']);
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [logged('x', 'lean_lsp')])).toEqual(['20 name']);
  // Too short to tell anything.
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [logged('x', 'me')])).toEqual(['- unknown']);
});

test('else the only one that is not another by name; of two it is not known which', () => {
  const search = logged('find', 'search');
  expect(joined([LEAN, LEAN_BELOW], [search])).toEqual(['20 only']);
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [search])).toEqual(['- unknown']);
  expect(calls([LEAN, LEAN_BELOW, MEMORY], [search]).calls![0]?.candidates).toBe(2);
  const others = { servers: [server('memory', 'mcp-server-memory')] };
  expect(joined([LEAN, LEAN_BELOW, MEMORY], [search], others)).toEqual(['20 only']);
});

test('the same server twice below one agent: which of them works on the call is not known', () => {
  const twin: Row = [40, 10, 'uvx lean-lsp-mcp'];
  expect(joined([LEAN, LEAN_BELOW, twin, MEMORY], [GOAL], { servers: CONFIG })).toEqual(['- unknown']);
});

test('a configured server that does not run is gone; one that nothing knows is not known', () => {
  expect(joined([MEMORY], [GOAL], { servers: CONFIG })).toEqual(['- gone']);
  expect(joined([], [GOAL])).toEqual(['- unknown']);
});

test('servers of another session, and what a command started, are nobody that is meant', () => {
  const inner: Row[] = [
    [50, 10, '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval "claude -p x"'],
    [51, 50, 'claude -p x'],
    [52, 51, 'uvx lean-lsp-mcp'],
  ];
  expect(joined([LEAN, LEAN_BELOW, ...inner], [GOAL])).toEqual(['20 name']);
});

test('a command is joined to the shell that started when its call did; of two it is not known which', () => {
  const shell = (pid: number, secondsAgo: number): Row => [
    pid,
    10,
    '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval sleep',
    { born: CLOCK - secondsAgo },
  ];
  const bash = logged('Bash', null);
  expect(joined([shell(60, 59), shell(61, 3000)], [bash])).toEqual(['60 only']);
  // The one before it was started 80 ms earlier.
  expect(joined([shell(60, 60.08), shell(61, 59.98)], [bash])).toEqual(['61 only']);
  expect(joined([shell(60, 60.02), shell(61, 59.98)], [bash])).toEqual(['- unknown']);
  expect(joined([shell(60, 60.09), shell(61, 60.04)], [bash])).toEqual(['- unknown']);
  expect(joined([shell(60, 60.09)], [bash])).toEqual(['60 only']);
  expect(joined([shell(60, 59), shell(61, 30)], [bash])).toEqual(['- unknown']);
  expect(joined([shell(61, 3000)], [bash])).toEqual(['- unknown']);
});

test('what the agent does itself has no process of its own', () => {
  expect(joined([LEAN], [logged('Read', null)])).toEqual(['- itself']);
});

test('a call from before the start of its process is not its own, and at its prompt a session waits for nothing', () => {
  expect(joined([LEAN], [logged('lean_goal', 'lean-lsp', { startedAt: 5000 })])).toEqual([]);
  for (const status of ['idle', 'shell']) expect(joined([LEAN], [GOAL], { status })).toEqual([]);
  expect(joined([LEAN], [GOAL], { status: 'waiting' })).toEqual(['20 name']);
});

test('how long it has taken, the model and the context are told with it', () => {
  const told = calls([LEAN], [GOAL]);
  expect(told).toMatchObject({ doing: 'busy', model: 'm', context: { tokens: 5 } });
  expect(told.calls![0]).toMatchObject({ tool: 'lean_goal', server: 'lean-lsp', seconds: 60 });
});

test('servers of codex run below the daemon that its sessions share', () => {
  const rows: Row[] = [
    [70, 80_001, 'codex'],
    [71, 1, 'codex app-server --listen unix:// --managed-daemon'],
    [72, 71, 'uvx lean-lsp-mcp'],
  ];
  const transcript = readingOf(
    { pid: 70, calls: { pending: [logged('lean_goal', 'lean_lsp')], model: null, tokens: null } },
    {
      path: '/home/me/.codex/sessions/rollout.jsonl',
      root: '/home/me/.codex',
      format: 'transcript',
      source: null,
      mtime: NOW - 60_000,
      size: 1,
      unreadable: null,
    },
  );
  const codex = world(rows, { readings: [transcript] }).at(70).session!;
  // Its log has been still for a minute, and it is not idle.
  expect(codex.doing).toBe('busy');
  expect(codex.calls![0]).toMatchObject({ join: 'name', process: { pid: 72 } });
});

test('a browser, a zombie and what is not a server do not stand for one', () => {
  const search = logged('find', 'search');
  const rows: Row[] = [
    LEAN,
    LEAN_BELOW,
    [80, 10, '[mcp-server-x]', ZOMBIE],
    [81, 10, 'sleep 100'],
    [82, 10, 'chromium --headless --remote-debugging-pipe'],
  ];
  expect(joined(rows, [search])).toEqual(['20 only']);
});

test('servers below a daemon of codex are none of claude’s', () => {
  const daemon: Row[] = [
    [71, 1, 'codex app-server --listen unix:// --managed-daemon'],
    [72, 71, 'uvx lean-lsp-mcp'],
  ];
  expect(joined(daemon, [GOAL])).toEqual(['- unknown']);
});

test('a server that a command started is not the one that is asked', () => {
  const inner: Row[] = [
    [50, 10, '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval uvx'],
    [51, 50, 'uvx lean-lsp-mcp'],
  ];
  expect(joined(inner, [GOAL])).toEqual(['- unknown']);
});

test('a command is not joined to a server, a zombie or a program that is not a shell', () => {
  const born = { born: CLOCK - 30 };
  const bash = logged('Bash', null);
  const shell: Row = [
    60,
    10,
    '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval sleep',
    born,
  ];
  const others: Row[] = [
    [61, 10, 'npm exec mcp-server-memory', born],
    [62, 61, 'node /usr/lib/node_modules/.bin/mcp-server-memory', born],
    [63, 10, '[bash]', { ...ZOMBIE, ...born }],
    [64, 10, 'sleep 5', born],
  ];
  expect(joined([shell, ...others], [bash])).toEqual(['60 only']);
  expect(joined(others, [bash])).toEqual(['- unknown']);
});

test('a shell whose birth is not known, and a call without a time, are not joined', () => {
  const shell = (born: number | null): Row => [
    60,
    10,
    '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval sleep',
    { born },
  ];
  expect(joined([shell(null)], [logged('Bash', null)])).toEqual(['- unknown']);
  expect(joined([shell(CLOCK)], [logged('Bash', null, { startedAt: null })])).toEqual(['- unknown']);
  expect(calls([LEAN], [logged('lean_goal', 'lean-lsp', { startedAt: null })]).calls).toMatchObject([
    { seconds: null, join: 'name' },
  ]);
});

test('servers of other sessions are none of codex’s, which shares its daemon alone', () => {
  const rows: Row[] = [
    [70, 80_001, 'codex'],
    [73, 80_001, 'claude'],
    [74, 73, 'uvx lean-lsp-mcp'],
  ];
  const transcript = readingOf(
    { pid: 70, calls: { pending: [logged('find', 'search')], model: null, tokens: null } },
    {
      path: '/home/me/.codex/sessions/rollout.jsonl',
      root: '/home/me/.codex',
      format: 'transcript',
      source: null,
      mtime: NOW - 60_000,
      size: 1,
      unreadable: null,
    },
  );
  const codex = world(rows, { readings: [transcript] }).at(70).session!;
  expect(codex.calls![0]).toMatchObject({ join: 'unknown', process: null });
});

test('three letters are enough for a name that resembles', () => {
  const git: Row = [31, 10, 'node /usr/lib/node_modules/.bin/mcp-server-git'];
  expect(joined([LEAN, LEAN_BELOW, git], [logged('log', 'git')])).toEqual(['31 name']);
});

test('a server that nobody configured is not gone when it is not there', () => {
  const servers = [server('memory', 'mcp-server-memory')];
  expect(joined([MEMORY], [GOAL], { servers })).toEqual(['- unknown']);
});

test('of two servers with its name, how many there are is told', () => {
  const twin: Row = [40, 10, 'uvx lean-lsp-mcp'];
  const [call] = calls([LEAN, twin, MEMORY], [GOAL], { servers: CONFIG }).calls!;
  expect(call).toMatchObject({ join: 'unknown', candidates: 2 });
});

test('a plain shell of the agent is its command’s as well', () => {
  const shell: Row = [60, 10, '/bin/bash', { born: CLOCK - 30 }];
  expect(joined([shell], [logged('Bash', null)])).toEqual(['60 only']);
});

test('a call may be dated up to two seconds before the start of its process, as clocks differ', () => {
  const at = (ms: number): LoggedCall => logged('lean_goal', 'lean-lsp', { startedAt: 10_000 - ms });
  expect(joined([LEAN], [at(2000)])).toEqual(['20 name']);
  expect(joined([LEAN], [at(2001)])).toEqual([]);
});
