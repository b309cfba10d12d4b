import { expect, test } from 'vitest';
import { type AgentSigns, agentSession } from '../../src/judge/judge.ts';
import type { Node } from '../../src/judge/rules/tree.ts';
import type { Reading } from '../../src/model/heartbeat.ts';
import type { Observation, TmuxPane } from '../../src/model/observation.ts';
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
