import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/remember/recorder/difference.ts';
import { sameOutline } from '../../src/remember/recorder/outline.ts';

const keyed = (items: Record<string, Json>): Json => ({ order: Object.keys(items), items });

const picture = (changes: Record<string, Json> = {}): Json => ({
  totals: { zombies: 0, rss: 1 },
  processes: keyed({
    '10:1': {
      name: 'claude',
      kind: 'agent',
      verdict: 'live',
      isSession: true,
      facts: { state: 'S', rss: 5 },
    },
  }),
  findings: keyed({ 'leak 10:1': { id: 'leak', processes: [{ pid: 10, start: '1' }], files: [], why: 'x' } }),
  heartbeats: keyed({ '/a': { format: 'return-meta', status: 'partial', state: 'ok', sessionId: null } }),
  ...changes,
});

const process = (changes: Record<string, Json>): Json =>
  keyed({
    '10:1': {
      name: 'claude',
      kind: 'agent',
      verdict: 'live',
      isSession: true,
      facts: { state: 'S', rss: 9 },
      ...changes,
    },
  });

describe('two recorded pictures', () => {
  it.each([
    ['weights', { totals: { zombies: 0, rss: 2 }, processes: process({}) }],
    [
      'the words of a finding',
      {
        findings: keyed({
          'leak 10:1': { id: 'leak', processes: [{ pid: 10, start: '1' }], files: [], why: 'y' },
        }),
      },
    ],
  ])('agree when nothing but %s differ', (_, changes) => {
    expect(sameOutline(picture(), picture(changes))).toBe(true);
  });

  it.each<[string, Record<string, Json>]>([
    ['a verdict', { processes: process({ verdict: 'leak' }) }],
    ['a state', { processes: process({ facts: { state: 'Z', rss: 9 } }) }],
    ['a name', { processes: process({ name: 'lake build' }) }],
    ['what is a session', { processes: process({ isSession: false }) }],
    ['who is there', { processes: keyed({}) }],
    ['the zombies', { totals: { zombies: 1, rss: 1 } }],
    ['the findings', { findings: keyed({}) }],
    [
      'whom a finding is about',
      { findings: keyed({ 'leak 10:1': { id: 'leak', processes: [], files: ['/a'], why: 'x' } }) },
    ],
    [
      'a result',
      {
        heartbeats: keyed({
          '/a': { format: 'return-meta', status: 'failed', state: 'ok', sessionId: null },
        }),
      },
    ],
    ['a part that makes no sense', { processes: 'nonsense' }],
  ])('do not agree when %s differs', (_, changes) => {
    expect(sameOutline(picture(), picture(changes))).toBe(false);
    expect(sameOutline(picture(changes), picture())).toBe(false);
  });
});
