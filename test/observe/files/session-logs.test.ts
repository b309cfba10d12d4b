import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SESSION_LOGS } from '../../../src/agents/session-logs.ts';
import { type LoggingAgent, SessionLogs } from '../../../src/observe/files/session-logs.ts';

const NOW = Date.parse('2026-11-17T10:00:00');
const MINUTE = 60_000;
const CWD = '/home/ada/work';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reaptop-logs-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A file below the home, last written to so many minutes ago. */
const write = (path: string, minutesAgo: number, text = ''): string => {
  const at = join(home, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
  utimesSync(at, (NOW - minutesAgo * MINUTE) / 1000, (NOW - minutesAgo * MINUTE) / 1000);
  return at;
};

const agent = (name: string, extra: Partial<LoggingAgent> = {}): LoggingAgent => ({
  agent: name,
  pid: 7,
  start: '700',
  cwd: CWD,
  home,
  born: NOW - 60 * MINUTE,
  holds: [],
  daemon: false,
  ...extra,
});

const ages = (...agents: readonly LoggingAgent[]): Record<number, number> =>
  Object.fromEntries(
    new SessionLogs()
      .readings(agents, NOW)
      .map(({ pid, mtime }) => [pid, Math.round((NOW - mtime) / MINUTE)]),
  );

/** The first line of a rollout of codex 0.166.0, cut where its instructions begin. */
const rollout = (cwd: string): string =>
  `{"timestamp":"2026-11-17T03:34:06.413Z","ordinal":0,"type":"session_meta","payload":{"session_id":"01a1e791-ad09-7de1-a8f1-12dd42ed172e","id":"01a1e791-ad09-7de1-a8f1-12dd42ed172e","timestamp":"2026-11-17T03:34:06.346Z","cwd":${JSON.stringify(cwd)},"runtime_workspace_roots":["/"],"originator":"codex-tui","cli_version":"0.166.0","source":"vscode","base_instructions":{"text":"${'You are a coding agent. '.repeat(500)}"}}}\n`;
const TODAY = '.codex/sessions/2026/11/17';

describe('codex', () => {
  it('the name of its log is the id of its session, unless it holds several', () => {
    const id = '01a1e791-ad09-7de1-a8f1-12dd42ed172e';
    const own = write(`${TODAY}/rollout-2026-11-17T09-00-00-${id}.jsonl`, 40, rollout(CWD));
    const idOf = (...holds: string[]) =>
      new SessionLogs().readings([agent('codex', { holds })], NOW)[0]?.logId;
    expect(idOf(own)).toBe(id);
    const sub = write(
      `${TODAY}/rollout-2026-11-17T09-10-00-${id.replace('01a', '01b')}.jsonl`,
      3,
      rollout(CWD),
    );
    expect(idOf(own, sub)).toBeUndefined();
  });

  it('`codex exec` holds the log of its session open: that one counts, also beside another in its directory', () => {
    const own = write(`${TODAY}/rollout-2026-11-17T09-00-00-a.jsonl`, 40, rollout(CWD));
    const other = write(`${TODAY}/rollout-2026-11-17T09-30-00-b.jsonl`, 2, rollout(CWD));
    expect(
      ages(
        agent('codex', { pid: 7, holds: [own] }),
        agent('codex', { pid: 8, start: '800', holds: [other] }),
      ),
    ).toEqual({ 7: 40, 8: 2 });
  });

  it('the newest of several that it holds: its subagents write to their own', () => {
    const own = write(`${TODAY}/rollout-2026-11-17T09-00-00-a.jsonl`, 40, rollout(CWD));
    const sub = write(`${TODAY}/rollout-2026-11-17T09-10-00-b.jsonl`, 3, rollout(CWD));
    expect(ages(agent('codex', { holds: [own, sub] }))).toEqual({ 7: 3 });
  });

  it("a TUI's log is found by the directory that its head names, also when a daemon holds an old one open", () => {
    write(`${TODAY}/rollout-2026-11-17T09-00-00-a.jsonl`, 40, rollout(CWD));
    write(`${TODAY}/rollout-2026-11-17T09-30-00-b.jsonl`, 1, rollout('/home/ada/elsewhere'));
    expect(ages(agent('codex'))).toEqual({ 7: 40 });
    const resumed = write(`.codex/sessions/2026/10/02/rollout-x.jsonl`, 5, rollout('/home/ada/old'));
    const daemon = agent('codex', { pid: 9, start: '900', cwd: '/', daemon: true, holds: [resumed] });
    expect(ages(agent('codex', { cwd: '/home/ada/old' }), daemon)).toEqual({ 7: 5 });
  });

  it('two sessions in one directory are never told apart by a guess', () => {
    write(`${TODAY}/rollout-2026-11-17T09-00-00-a.jsonl`, 40, rollout(CWD));
    expect(ages(agent('codex', { pid: 7 }), agent('codex', { pid: 8, start: '800' }))).toEqual({});
    write(`${TODAY}/rollout-2026-11-17T09-30-00-b.jsonl`, 1, rollout(CWD));
    expect(ages(agent('codex'))).toEqual({});
  });

  it('a log that was last written to before the process started is another session', () => {
    write(`${TODAY}/rollout-2026-11-17T08-00-00-a.jsonl`, 90, rollout(CWD));
    expect(ages(agent('codex'))).toEqual({});
  });

  it('one that a running `codex exec` holds is not the log of the TUI beside it', () => {
    const held = write(`${TODAY}/rollout-2026-11-17T09-00-00-a.jsonl`, 10, rollout(CWD));
    write(`${TODAY}/rollout-2026-11-17T09-10-00-b.jsonl`, 30, rollout(CWD));
    expect(ages(agent('codex'), agent('codex', { pid: 8, start: '800', holds: [held] }))).toEqual({
      7: 30,
      8: 10,
    });
  });

  it('heads that are strange, empty, or links to somewhere else tell nothing', () => {
    write(`${TODAY}/rollout-a.jsonl`, 1, '{"cwd":');
    write(`${TODAY}/rollout-b.jsonl`, 1, '');
    write(`${TODAY}/rollout-c.jsonl`, 1, '{"cwd":"\\ud800\\x"}');
    const real = write('elsewhere.jsonl', 1, rollout(CWD));
    symlinkSync(real, join(home, TODAY, 'rollout-d.jsonl'));
    mkdirSync(join(home, TODAY, 'rollout-e.jsonl'));
    expect(ages(agent('codex'))).toEqual({});
  });
});

describe('gemini', () => {
  const CHAT =
    '{"sessionId":"39621629","projectHash":"5010","startTime":"2026-11-17T03:34:57.955Z","kind":"main"}\n';
  const projects = (value: unknown): string =>
    write('.gemini/projects.json', 1, typeof value === 'string' ? value : JSON.stringify(value));

  it('writes below the name that its own file gives to the project', () => {
    projects({ projects: { [CWD]: 'work-1', '/home/ada/other': 'work' } });
    write('.gemini/tmp/work-1/chats/session-2026-11-17T09-34-39621629.jsonl', 25, CHAT);
    write('.gemini/tmp/work/chats/session-2026-11-17T09-50-11111111.jsonl', 1, CHAT);
    expect(ages(agent('gemini'))).toEqual({ 7: 25 });
    expect(ages(agent('gemini', { cwd: '/home/ada/nowhere' }))).toEqual({});
  });

  it.each([
    ['a path out of the directory', { projects: { [CWD]: '../../elsewhere' } }],
    ['no text', { projects: { [CWD]: 7 } }],
    ['no table', { projects: null }],
    ['no JSON', '{"projects":'],
    ['nothing', 'null'],
  ])('a project file that says %s leads nowhere', (_, value) => {
    projects(value);
    write('elsewhere/chats/session-1.jsonl', 1, CHAT);
    expect(ages(agent('gemini'))).toEqual({});
  });
});

describe('opencode', () => {
  it('has one log for all: it counts while one session alone holds it', () => {
    const log = write('.local/share/opencode/log/opencode.log', 12);
    const wal = write('.local/share/opencode/opencode.db-wal', 9);
    const one = agent('opencode', { holds: [log, wal] });
    expect(ages(one)).toEqual({ 7: 9 });
    expect(ages(one, agent('opencode', { pid: 8, start: '800', holds: [log, wal] }))).toEqual({});
  });
});

describe('copilot', () => {
  it('holds a file beside the log of its session', () => {
    const hold = write('.copilot/session-state/42a6c8dc-81ff/inuse.63.hold', 50);
    write('.copilot/session-state/42a6c8dc-81ff/events.jsonl', 33);
    expect(ages(agent('copilot', { holds: [hold] }))).toEqual({ 7: 33 });
  });
});

describe('what it costs', () => {
  it('checks the owner of a log every ten seconds and its age every time', () => {
    const logs = new SessionLogs();
    const path = write(`${TODAY}/rollout-a.jsonl`, 40, rollout(CWD));
    const look = (seconds: number) => logs.readings([agent('codex')], NOW + seconds * 1000);
    expect(look(0)).toHaveLength(1);
    write(`${TODAY}/rollout-b.jsonl`, 1, rollout(CWD));
    utimesSync(path, NOW / 1000, NOW / 1000);
    expect(look(9)).toMatchObject([{ mtime: NOW, path: expect.stringContaining('rollout-a') }]);
    expect(look(11)).toEqual([]);
    rmSync(join(home, TODAY, 'rollout-b.jsonl'));
    expect(look(22)).toHaveLength(1);
  });

  it('a log that vanishes is no log', () => {
    expect(ages(agent('codex', { holds: [join(home, 'sessions/gone.jsonl')] }))).toEqual({});
  });
});

it('the patterns take the paths that were seen, and not what lies beside them', () => {
  const held = (name: string): RegExp => SESSION_LOGS.find(log => log.agent === name)!.held!.file;
  expect('/home/ada/.codex/sessions/2026/11/17/rollout-2026-11-17T03-34-09-01a1e791.jsonl').toMatch(
    held('codex'),
  );
  expect('/home/ada/.codex/state_5.sqlite-wal').not.toMatch(held('codex'));
  expect('/home/ada/.local/share/opencode/log/opencode.log').toMatch(held('opencode'));
  expect('/home/ada/.local/share/opencode/opencode.db-wal').toMatch(held('opencode'));
  expect('/home/ada/.local/share/opencode/opencode.db-shm').not.toMatch(held('opencode'));
  expect('/home/ada/.copilot/session-state/42a6c8dc-81ff-4a7a-8a7c-4c0845ab4d75/inuse.63.hold').toMatch(
    held('copilot'),
  );
  expect('/home/ada/.copilot/logs/process-1794886653023-63.log').not.toMatch(held('copilot'));
});
