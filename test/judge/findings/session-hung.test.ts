import { expect, it } from 'vitest';
import { NO_PAST, type Past } from '../../../src/judge/history.ts';
import { judge } from '../../../src/judge/judge.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Reading, readingOf } from '../../../src/model/heartbeat.ts';
import { AGENT, logged, NOW } from '../../support/hung-call.ts';
import { session, world } from '../../support/world.ts';

const CALLS = { pending: [], model: null, tokens: null };

const transcript = (extra: Partial<Reading> = {}): Reading =>
  readingOf(
    { pid: AGENT, sessionId: 'abc', calls: CALLS },
    {
      path: '/home/me/.claude/projects/x/abc.jsonl',
      root: '/home/me/.claude',
      format: 'transcript',
      source: null,
      mtime: NOW - 700_000,
      size: 1,
      unreadable: null,
      ...extra,
    },
  );

/** Ten minutes of samples, with this much CPU in each. */
const watched = (cpu: number, minutes = 10): Partial<Past> => ({
  memory: () =>
    Array.from({ length: minutes + 1 }, (_, n) => ({ at: NOW - (minutes - n) * 60_000, bytes: 1, cpu })),
});

const found = (reading: Reading, past: Partial<Past>, status = 'busy', since = NOW - 700_000) => {
  const { observation, tree, lineage } = world([[AGENT, 80_001, 'claude', { born: 10 }]], {
    sessions: [session(AGENT, 'abc', { status, statusUpdatedAt: since })],
    readings: [reading],
  });
  const { findings } = judge({
    observation,
    tree,
    lineage,
    config: DEFAULT_CONFIG,
    past: { ...NO_PAST, ...past },
  });
  return findings.filter(({ id }) => id === 'session-hung');
};

it('a session that says it is busy, without a call, a word or CPU for ten minutes, is hung', () => {
  expect(found(transcript(), watched(0.5))).toMatchObject([
    { severity: 'warn', processes: [{ pid: AGENT }], title: expect.stringContaining('done nothing for 11m') },
  ]);
});

it.each<[string, ReturnType<typeof found>]>([
  ['it is idle', found(transcript(), watched(0), 'idle')],
  ['it waits for its user', found(transcript(), watched(0), 'waiting')],
  ['it became busy a moment ago', found(transcript(), watched(0), 'busy', NOW - 5000)],
  ['it wrote to its transcript', found(transcript({ mtime: NOW - 500_000 }), watched(0))],
  ['it uses the CPU', found(transcript(), watched(3))],
  ['it was not watched for so long', found(transcript(), watched(0, 9))],
  ['nobody watched', found(transcript(), {})],
  ['a call is pending', found({ ...transcript(), calls: { ...CALLS, pending: [logged()] } }, watched(0))],
  ['its calls are not known', found({ ...transcript(), calls: undefined }, watched(0))],
])('says nothing when %s', (_, findings) => {
  expect(findings).toEqual([]);
});
