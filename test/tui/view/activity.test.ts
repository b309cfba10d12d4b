import { describe, expect, test } from 'vitest';
import type { AgentSession } from '../../../src/model/snapshot.ts';
import { sessionBrief, sessionDoing, sessionLastActive, sessionName } from '../../../src/words/session.ts';

const session = (change: Partial<AgentSession> = {}): AgentSession => ({
  id: 's',
  project: 'proofs',
  name: null,
  doing: null,
  waitingFor: null,
  seconds: null,
  ...change,
});

describe('which session it is and what it does', () => {
  test.each<[Partial<AgentSession>, string, string]>([
    [{ doing: 'busy', seconds: 4 }, 'busy', 'busy'],
    [{ doing: 'idle', seconds: 2400 }, 'idle 40m', 'idle 40m'],
    [
      { doing: 'waiting', waitingFor: 'permission prompt', seconds: 720 },
      'waits for you: permission prompt 12m',
      'waits 12m',
    ],
    [{ doing: 'waiting' }, 'waits for you', 'waits'],
    [{}, '', ''],
  ])('%o', (change, whole, brief) => {
    expect(sessionDoing(session(change))).toBe(whole);
    expect(sessionBrief(session(change))).toBe(brief);
  });

  test('a name of its own stands beside the project', () => {
    expect(sessionName(session())).toBe('proofs');
    expect(sessionName(session({ name: 'fix the lemma' }))).toBe('proofs “fix the lemma”');
    expect(sessionName(session({ project: null, name: 'x' }))).toBe('“x”');
  });

  test('for whoever is about to end it: when it was last active', () => {
    expect(sessionLastActive(session({ doing: 'idle', seconds: 40 }))).toBe('last active 40s ago');
    expect(sessionLastActive(session({ doing: 'busy' }))).toBe('busy now');
  });
});
