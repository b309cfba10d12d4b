import { expect, test } from 'vitest';
import { episodesOf } from '../../../src/judge/report/report.ts';
import type { Glimpse, RecordedAct } from '../../../src/model/report.ts';

const glimpse = (at: number, ...findings: Glimpse['findings']): Glimpse => ({
  at,
  related: 0,
  zombies: 0,
  builds: 0,
  tmuxSessions: 0,
  memory: 0,
  agents: [],
  leaks: [],
  results: [],
  hungCalls: [],
  findings,
});
const leak = (...about: string[]) => ({ id: 'leak', about }) as const;

test('what a session leaked is one episode, though its processes end one after another', () => {
  const seen = [glimpse(0, leak('1:a', '2:b')), glimpse(10, leak('2:b')), glimpse(20, leak('2:b', '3:c'))];
  expect(episodesOf(seen, [])).toEqual([{ id: 'leak', from: 0, to: 20, ended: 'open' }]);
  expect(episodesOf([...seen, glimpse(30)], [])).toEqual([{ id: 'leak', from: 0, to: 30, ended: 'itself' }]);
});

test('other processes are another episode, and so is another finding about the same', () => {
  const seen = [
    glimpse(0, leak('1:a')),
    glimpse(10, leak('2:b')),
    glimpse(20, { id: 'zombie', about: ['2:b'] }),
  ];
  expect(episodesOf(seen, []).map(({ id, from, to }) => [id, from, to])).toEqual([
    ['leak', 0, 10],
    ['leak', 10, 20],
    ['zombie', 20, 20],
  ]);
});

test('an act on any process it was ever about ended it', () => {
  const act = { at: 15, freed: 0, outcomes: [{ key: '1:a', outcome: 'ended', verdict: 'leak' }] };
  const seen = [glimpse(0, leak('1:a', '2:b')), glimpse(10, leak('2:b')), glimpse(20)];
  expect(episodesOf(seen, [act as unknown as RecordedAct])).toEqual([
    { id: 'leak', from: 0, to: 20, ended: 'act' },
  ]);
});

test('what only describes is no episode', () => {
  expect(episodesOf([glimpse(0, { id: 'idle-agent', about: ['1:a'] })], [])).toEqual([]);
});
