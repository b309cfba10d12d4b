import { expect, test } from 'vitest';
import { type StatusFacts, statusLine } from '../../src/judge/status-line.ts';
import type { AgentSession } from '../../src/model/snapshot.ts';

const session = (extra: Partial<AgentSession>): AgentSession => ({
  id: 's',
  project: 'app',
  name: null,
  doing: 'waiting',
  waitingFor: null,
  seconds: 720,
  ...extra,
});
const agent = (extra: Partial<AgentSession>) => ({ name: 'claude', session: session(extra) });
const QUIET: StatusFacts = {
  totals: { agents: 0, rss: 0, swap: 0, leaks: 0, reclaimable: 0 },
  stale: 0,
  agents: [],
  own: null,
  style: 'tmux',
};
const BUSY = { agents: 2, rss: 1024 ** 3, swap: 0, leaks: 1, reclaimable: 300 * 1024 ** 2 };

test.each<[string, Partial<StatusFacts>]>([
  ['0 agents 0', {}],
  ['2 agents 1.0G | 1 leak 300M', { totals: BUSY }],
  ['0 agents 0 | 3 stale', { stale: 3 }],
  [
    '0 agents 0 | app waits 12m',
    { agents: [agent({}), agent({ doing: 'busy' }), { name: 'codex', session: null }] },
  ],
  ['0 agents 0', { agents: [agent({ id: 'mine' })], own: 'mine' }],
  [
    '0 agents 0 | b waits 1h00m | a waits 2m | 1 more wait',
    {
      agents: [
        agent({ project: 'a', seconds: 120 }),
        agent({ project: 'b', seconds: 3600 }),
        agent({ project: 'c', seconds: 5 }),
      ],
    },
  ],
  ['0 agents 0 | claude waits', { agents: [agent({ project: null, seconds: null })] }],
])('%s', (line, facts) => {
  expect(statusLine({ ...QUIET, ...facts })).toBe(line);
});

test('a project’s name cannot break the bar', () => {
  const line = statusLine({ ...QUIET, agents: [agent({ project: `a\n\u001b[31m${'x'.repeat(200)}` })] });
  expect(line).not.toMatch(/[\n\u001b]/);
  expect(line.length).toBeLessThan(60);
});

test('tmux is given no format in a project’s name, others the name as it is', () => {
  const agents = [agent({ project: '#[fg=red]#{pid}#(id)' })];
  expect(statusLine({ ...QUIET, agents })).toBe('0 agents 0 | ##[fg=red]##{pid}##(id) waits 12m');
  expect(statusLine({ ...QUIET, agents, style: 'claude' })).toBe(
    '0 agents 0 | #[fg=red]#{pid}#(id) waits 12m',
  );
});
