import { type ProcessDetails, UNKNOWN_DETAILS } from '../../../src/model/process.ts';
import type { AgentSession, JudgedProcess } from '../../../src/model/snapshot.ts';
import { invent } from './machine.ts';

/** An idle session of claude below the login shell of the invented machine, of which all is known, and its server. */
export const ID = '5d1f0c3e-1111-4222-8333-444455556666';
export const MIB = 1024 ** 2;

export const READ: ProcessDetails = {
  ...UNKNOWN_DETAILS,
  cwd: '/home/me/proofs',
  stdin: 'tty',
  listening: { ports: [], clients: 0 },
  uses: [],
};
export const IDLE: AgentSession = {
  id: ID,
  project: 'proofs',
  name: 'fix the lemma',
  doing: 'idle',
  waitingFor: null,
  seconds: 7200,
  calls: [],
  unfinished: null,
};

type Part = Parameters<typeof invent>[2];

export const claude = (part: Part = {}): JudgedProcess =>
  invent(1000, 800, {
    kind: 'agent',
    agent: 'claude',
    name: 'claude',
    verdict: 'live',
    session: IDLE,
    ...part,
    facts: {
      argv: ['claude', '--dangerously-skip-permissions'],
      details: READ,
      env: { HOME: '/home/me' },
      rss: 300 * MIB,
      ...part.facts,
    },
  });
export const server = (part: Part = {}): JudgedProcess =>
  invent(1001, 1000, {
    kind: 'mcp',
    name: 'memory',
    verdict: 'live',
    ...part,
    facts: {
      details: { ...READ, stdin: 'socket' },
      activity: { cpu: 0, bytes: 0 },
      rss: 80 * MIB,
      ...part.facts,
    },
  });
