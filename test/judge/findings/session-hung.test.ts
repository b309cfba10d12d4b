import { expect, it } from 'vitest';
import { NO_PAST, type Past } from '../../../src/judge/history.ts';
import { judge } from '../../../src/judge/judge.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Reading, readingOf } from '../../../src/model/heartbeat.ts';
import { AGENT, logged, NOW } from '../../support/hung-call.ts';
import { type Row, session, world, ZOMBIE } from '../../support/world.ts';

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

const found = (
  reading: Reading | readonly Reading[],
  past: Partial<Past>,
  status: string | null = 'busy',
  since: number | null = NOW - 700_000,
  below: readonly Row[] = [],
) => {
  const { observation, tree, lineage } = world([[AGENT, 80_001, 'claude', { born: 10 }], ...below], {
    sessions: [session(AGENT, 'abc', { status, statusUpdatedAt: since })],
    readings: [reading].flat(),
  });
  const { findings } = judge({
    observation,
    tree,
    lineage,
    config: DEFAULT_CONFIG,
    past: { ...NO_PAST, ...past },
  });
  for (const finding of findings) expect(finding).toMatchObject({ id: expect.any(String) });
  return findings.filter(({ id }) => id === 'session-hung');
};

it('a session that says it is busy, without a call, a word or CPU for ten minutes, is hung', () => {
  expect(found(transcript(), watched(0.5))).toMatchObject([
    { severity: 'warn', processes: [{ pid: AGENT }], title: expect.stringContaining('done nothing for 11m') },
  ]);
});

it.each<[string, () => ReturnType<typeof found>]>([
  ['it is idle', () => found(transcript(), watched(0), 'idle')],
  ['it waits for its user', () => found(transcript(), watched(0), 'waiting')],
  ['it became busy a moment ago', () => found(transcript(), watched(0), 'busy', NOW - 5000)],
  ['it wrote to its transcript', () => found(transcript({ mtime: NOW - 500_000 }), watched(0))],
  ['it uses the CPU', () => found(transcript(), watched(3))],
  ['it was watched for a shorter time', () => found(transcript(), watched(0, 9))],
  ['it was not watched', () => found(transcript(), {})],
  [
    'a call is pending',
    () => found({ ...transcript(), calls: { ...CALLS, pending: [logged()] } }, watched(0)),
  ],
  ['its calls are not known', () => found({ ...transcript(), calls: undefined }, watched(0))],
])('says nothing when %s', (_, findings) => {
  expect(findings()).toEqual([]);
});

it('says nothing when a process below it works, and does when that one is a zombie', () => {
  const child = (options: Row[3] = {}): Row[] => [[AGENT + 1, AGENT, 'lake build', options]];
  const past: Partial<Past> = {
    memory: key => watched(key.startsWith(`${AGENT + 1}:`) ? 50 : 0).memory!(key),
  };
  const since = NOW - 700_000;
  expect(found(transcript(), past, 'busy', since, child())).toEqual([]);
  expect(found(transcript(), past, 'busy', since, child(ZOMBIE))).toHaveLength(1);
});

it('says nothing when its file does not say since when it is busy, or a second transcript is written', () => {
  expect(found(transcript(), watched(0), 'busy', null)).toEqual([]);
  const subagent = transcript({ path: '/home/me/.claude/projects/x/abc/agent-1.jsonl', mtime: NOW - 1000 });
  expect(found([transcript(), subagent], watched(0))).toEqual([]);
});

it('counts from the limit on: ten minutes of silence, less than one percent of a core', () => {
  const at = NOW - 600_000;
  expect(found(transcript({ mtime: at }), watched(0.99), 'busy', at)).toHaveLength(1);
  expect(found(transcript({ mtime: at + 1000 }), watched(0.99), 'busy', at)).toEqual([]);
  expect(found(transcript({ mtime: at }), watched(0.99), 'busy', at + 1)).toEqual([]);
  expect(found(transcript({ mtime: at }), watched(1), 'busy', at)).toEqual([]);
});

it('work from before those ten minutes does not count, and an unread sample is not idle', () => {
  const points = (cpu: (at: number) => number | null): Partial<Past> => ({
    memory: () =>
      Array.from({ length: 16 }, (_, n) => NOW - (15 - n) * 60_000).map(at => ({
        at,
        bytes: 1,
        cpu: cpu(at),
      })),
  });
  expect(
    found(
      transcript(),
      points(at => (at < NOW - 600_000 ? 90 : 0)),
    ),
  ).toHaveLength(1);
  expect(
    found(
      transcript(),
      points(at => (at === NOW - 120_000 ? null : 0)),
    ),
  ).toEqual([]);
});

it('what other files of the session say is no word of it, and work at the very limit counts', () => {
  const beat = {
    ...transcript({ path: '/tmp/beat.json', format: 'agent-progress', mtime: NOW - 1000 }),
    calls: undefined,
  };
  expect(found([transcript(), beat], watched(0))).toHaveLength(1);
  const past: Partial<Past> = {
    memory: () => [
      { at: NOW - 600_000, bytes: 1, cpu: 90 },
      { at: NOW, bytes: 1, cpu: 0 },
    ],
  };
  expect(found(transcript(), past)).toEqual([]);
});
