import { describe, expect, test } from 'vitest';
import { type LineAgent, type LineFacts, type LineOptions, statusLine } from '../../src/judge/status-line.ts';
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
const agent = (extra: Partial<AgentSession>, more: Partial<LineAgent> = {}): LineAgent => ({
  pid: 5,
  start: '5',
  name: 'claude',
  session: session(extra),
  ...more,
});
const CALM: LineFacts = { totals: { leaks: 0, reclaimable: 0 }, stale: 0, hung: 0, agents: [] };
const PLAIN: LineOptions = { own: null, style: 'tmux', color: false, width: null, always: false };
const line = (facts: Partial<LineFacts>, options: Partial<LineOptions> = {}): string =>
  statusLine({ ...CALM, ...facts }, { ...PLAIN, ...options });
const LEAKS = { leaks: 1, reclaimable: 300 * 1024 ** 2 };
const GIB = 1024 ** 3;
const MINE = agent({ id: 'me', doing: 'busy' }, { bytes: 1.2 * GIB, shells: 2 });

test.each<[string, Partial<LineFacts>]>([
  ['', {}],
  ['', { agents: [agent({ doing: 'busy' }), { pid: 6, start: '6', name: 'codex', session: null }] }],
  ['1 leak 300M', { totals: LEAKS }],
  ['3 stale', { stale: 3 }],
  ['2 hung', { hung: 2 }],
  ['app waits 12m', { agents: [agent({})] }],
  [
    'b waits 1h00m | a waits 2m | 1 more wait | 1 hung | 1 leak 300M | 1 stale',
    {
      agents: [
        agent({ project: 'a', seconds: 120 }),
        agent({ project: 'b', seconds: 3600 }),
        agent({ project: 'c', seconds: 5 }),
      ],
      totals: LEAKS,
      hung: 1,
      stale: 1,
    },
  ],
  ['claude waits', { agents: [agent({ project: null, seconds: null })] }],
])('"%s"', (shown, facts) => expect(line(facts)).toBe(shown));

describe('the session that asks', () => {
  test.each<[string, Partial<LineFacts>]>([
    ['mine 1.2G, 2 shells', { agents: [MINE] }],
    ['mine 1.2G, 2 shells | app waits 12m | 1 leak 300M', { agents: [MINE, agent({})], totals: LEAKS }],
    ['', { agents: [{ ...MINE, shells: 0 }] }],
    ['', { agents: [{ ...MINE, shells: null }] }],
    ['mine ? | 1 hung', { agents: [agent({ id: 'me', doing: 'waiting' })], hung: 1 }],
  ])('sees "%s"', (shown, facts) => expect(line(facts, { own: 'me' })).toBe(shown));
});

test('with --always it says ok when all is calm', () => {
  expect(line({}, { always: true })).toBe('ok');
  expect(line({ agents: [{ ...MINE, shells: 0 }] }, { always: true, own: 'me' })).toBe('mine 1.2G | ok');
  expect(line({ stale: 1 }, { always: true })).toBe('1 stale');
});

test('colours are tmux’s own for tmux, and ANSI for Claude', () => {
  const facts = { agents: [agent({})], totals: LEAKS };
  expect(line(facts, { color: true })).toBe(
    '#[fg=yellow]app waits 12m#[default] | #[fg=red]1 leak 300M#[default]',
  );
  expect(line(facts, { color: true, style: 'claude' })).toBe(
    '\u001b[33mapp waits 12m\u001b[0m | \u001b[1;31m1 leak 300M\u001b[0m',
  );
});

test.each([
  [100, 'mine 1.2G, 2 shells | app waits 12m | 1 leak 300M'],
  [40, 'mine 1.2G, 2 shells | app waits 12m'],
  [34, 'mine 1.2G, 2 shells'],
  [10, 'mine 1.2G…'],
])('fits %i columns, what comes first stays', (width, shown) => {
  const facts = { agents: [MINE, agent({})], totals: LEAKS };
  expect(line(facts, { own: 'me', width })).toBe(shown);
  expect(
    line(facts, { own: 'me', width, color: true, style: 'claude' }).replace(/\u001b\[[\d;]*m/g, ''),
  ).toBe(shown);
});

test('a project’s name cannot break the bar', () => {
  const shown = line({ agents: [agent({ project: `a\n\u001b[31m${'x'.repeat(200)}` })] });
  expect(shown).not.toMatch(/[\n\u001b]/);
  expect(shown.length).toBeLessThan(60);
});

test('tmux is given no format in a project’s name, others the name as it is', () => {
  const agents = [agent({ project: '#[fg=red]#{pid}#(id)' })];
  expect(line({ agents })).toBe('##[fg=red]##{pid}##(id) waits 12m');
  expect(line({ agents }, { style: 'claude' })).toBe('#[fg=red]#{pid}#(id) waits 12m');
});
