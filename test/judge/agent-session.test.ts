import { describe, expect, test } from 'vitest';
import { type AgentSigns, agentSession } from '../../src/judge/judge.ts';
import type { Node } from '../../src/judge/rules/tree.ts';
import type { LoggedCall, LoggedCalls } from '../../src/model/call.ts';
import type { Reading } from '../../src/model/heartbeat.ts';
import type { ClaudeSession, Observation, TmuxPane } from '../../src/model/observation.ts';
import { sessionDoing } from '../../src/model/snapshot.ts';
import { session, tmux, world } from '../support/world.ts';

const NOW = 1_700_000_000_000;
const agent = { facts: { details: { cwd: '/home/me/src/proofs' } } } as unknown as Node;
const observation = { takenAt: NOW } as Observation;
const NONE: AgentSigns = { session: null, knownId: null, transcript: null, pane: null };
const seen = (signs: Partial<AgentSigns>) => agentSession(agent, { ...NONE, ...signs }, observation);
const ago = (seconds: number): number => NOW - seconds * 1000;
const transcript = (seconds: number): Reading => ({ mtime: ago(seconds) }) as Reading;
const pane = (seconds: number): TmuxPane => ({ activity: ago(seconds) / 1000 }) as TmuxPane;

test("Claude's own record says what a session does, since when, and what it waits for", () => {
  const record = (status: string) =>
    session(7, 'abc', { status, statusUpdatedAt: ago(720), waitingFor: 'permission prompt', name: 'fix it' });
  expect(seen({ session: record('waiting') })).toEqual({
    id: 'abc',
    project: 'proofs',
    name: 'fix it',
    doing: 'waiting',
    waitingFor: 'permission prompt',
    seconds: 720,
  });
  expect(seen({ session: record('busy') })).toMatchObject({ doing: 'busy', waitingFor: null });
  expect(seen({ session: record('shell') })).toMatchObject({ doing: 'idle', seconds: 720, shell: true });
  expect(sessionDoing(seen({ session: record('shell') }))).toBe('idle 12m, with a shell');
  expect(seen({ session: record('idle') }).doing).toBe('idle');
});

test('without a word of its own, transcript and pane tell busy from idle, and never say that it waits', () => {
  expect(seen({ transcript: transcript(5) })).toMatchObject({ doing: 'busy', seconds: 5 });
  expect(seen({ transcript: transcript(2400), pane: pane(1) })).toMatchObject({
    doing: 'idle',
    seconds: 2400,
  });
  expect(seen({ pane: pane(2400) })).toMatchObject({ doing: 'idle', seconds: 2400 });
  expect(seen({ session: session(7, 'abc', { status: 'pondering' }), pane: pane(3) }).doing).toBe('busy');
});

test('a member of a team is called by the name it was started with, unless its session has one', () => {
  const argv = ['claude', '--agent-id', 'researcher@team', '--agent-name', 'researcher'];
  const member = { facts: { ...agent.facts, argv } } as unknown as Node;
  expect(agentSession(member, NONE, observation).name).toBe('researcher');
  const named = { ...NONE, session: session(7, 'abc', { name: 'fix it' }) };
  expect(agentSession(member, named, observation).name).toBe('fix it');
});

test('where nothing tells, it says nothing', () => {
  expect(seen({ knownId: 'started-with' })).toEqual({
    id: 'started-with',
    project: 'proofs',
    name: null,
    doing: null,
    waitingFor: null,
    seconds: null,
  });
});

test('an agent whose build uses the CPU is busy, however long it has been silent; what waits for you goes on waiting', () => {
  const worker = agent;
  const record = (status: string) => session(7, 'abc', { status, statusUpdatedAt: ago(720) });
  expect(seen({ transcript: transcript(2400), worker })).toMatchObject({ doing: 'busy', seconds: null });
  expect(seen({ session: record('idle'), worker })).toMatchObject({ doing: 'busy', seconds: null });
  expect(seen({ session: record('waiting'), worker })).toMatchObject({ doing: 'waiting', seconds: 720 });
  expect(seen({ worker }).doing).toBe(null);
});

test('a daemon that sessions share has no session of its own', () => {
  const { at } = world(
    [
      [900, 1, 'codex app-server --listen unix:// --managed-daemon'],
      [1000, 500, 'codex'],
    ],
    { tmux: [tmux(500, [1000])] },
  );
  expect(at(1000).session).not.toBe(null);
  expect(at(900).kind).toBe('agent');
  expect(at(900).session).toBe(null);
});

describe('what is not finished in a session', () => {
  const here = { takenAt: NOW, clock: 1000 } as Observation;
  const of = (family: string) =>
    ({ agent: family, facts: { born: 900, details: { cwd: '/p' } } }) as unknown as Node;
  const log = (calls: Partial<LoggedCalls>, more: Partial<Reading> = {}): Reading =>
    ({
      mtime: ago(900),
      subagentAt: null,
      calls: { pending: [], model: null, tokens: null, ...calls },
      ...more,
    }) as Reading;
  const pending = (seconds: number): LoggedCall => ({
    id: 'c',
    tool: 'Bash',
    server: null,
    startedAt: ago(seconds),
    subagent: false,
  });
  const claude = (status: string, reading: Reading | null, part: Partial<ClaudeSession> = {}) => {
    const record = session(7, 'abc', { status, statusUpdatedAt: ago(720), ...part });
    return agentSession(of('claude'), { ...NONE, session: record, transcript: reading }, here).unfinished;
  };
  const codex = (reading: Reading | null) =>
    agentSession(of('codex'), { ...NONE, knownId: 'abc', transcript: reading }, here).unfinished;

  test('nothing, when Claude says that it is idle and its transcript has nothing open', () => {
    expect(claude('idle', log({}))).toBeNull();
  });

  test.each([
    ['a shell in the background', 'shell', log({}), {}, /background/],
    ['a call', 'idle', log({ pending: [pending(50)] }), {}, /call is pending/],
    ['a call of a subagent', 'idle', log({ behind: [pending(50)] }), {}, /subagent/],
    ['a subagent that wrote lately', 'idle', log({}, { subagentAt: ago(500) }), {}, /subagent/],
    ['a session that is not interactive', 'idle', log({}), { kind: 'sdk' }, /not interactive/],
  ] as const)('%s', (_, status, reading, part, why) => {
    expect(claude(status, reading, part)).toMatch(why);
  });

  test.each([
    ['no transcript', 'idle', null, {}],
    ['a transcript that was not read', 'idle', { mtime: ago(900) } as Reading, {}],
    ['a transcript of a subagent that was not read', 'idle', log({ behind: 'unread' }), {}],
    ['a word that we do not know', 'dreaming', log({}), {}],
    ['no kind', 'idle', log({}), { kind: null }],
  ] as const)('is not known with %s', (_, status, reading, part) => {
    expect(claude(status, reading, part)).toBeUndefined();
  });

  test("a call from before its start was another process's, and so was a subagent of hours ago", () => {
    const before = log({ pending: [pending(200)], behind: [pending(200)] }, { subagentAt: ago(5000) });
    expect(claude('idle', before)).toBeNull();
  });

  test('codex is at its prompt when its log says that the turn is over', () => {
    const logId = 'abc';
    expect(codex(log({ turn: 'over' }, { logId }))).toBeNull();
    expect(codex(log({ turn: 'open' }, { logId }))).toMatch(/turn is not over/);
    expect(codex(log({ turn: 'over', pending: [pending(50)] }, { logId }))).toMatch(/call is pending/);
    expect(codex(log({}, { logId }))).toBeUndefined();
    expect(codex(log({ turn: 'over' }))).toBeUndefined();
    expect(codex(null)).toBeUndefined();
  });

  test('the place of its log tells the id of its session before its command line does', () => {
    const signs = { ...NONE, knownId: 'old', transcript: log({}, { logId: 'new' }) };
    expect(agentSession(of('codex'), signs, here).id).toBe('new');
  });
});
