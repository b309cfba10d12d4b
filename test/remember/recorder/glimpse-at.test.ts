import { describe, expect, test } from 'vitest';
import { glimpseOf } from '../../../src/judge/report/glimpse.ts';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import type { Glimpse } from '../../../src/model/report.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { glimpseAt } from '../../../src/remember/recorder/glimpse-at.ts';
import { decodeLines, type Json, LineWriter, passLines } from '../../../src/remember/recorder/lines.ts';
import { snapshotOf } from '../../../src/remember/recorder/stored-snapshot.ts';
import { ZOMBIE } from '../../support/world.ts';
import { momentAt } from './machine.ts';

const partial = (status: string): Heartbeat => ({
  path: '/home/me/project/.return-meta.json',
  format: 'return-meta',
  state: 'fine',
  reason: null,
  ageSeconds: 1,
  sessionId: 's',
  task: null,
  phase: null,
  operation: null,
  proof: null,
  status,
  counters: {},
  agent: null,
});

const MOMENTS: readonly Snapshot[] = [
  momentAt(0),
  momentAt(10, { extra: [[400, 1, 'npx -y chroma-mcp', { rss: 5e7 }]] }),
  { ...momentAt(20, { extra: [[500, 300, 'lake build']] }), heartbeats: [partial('partial')] },
  momentAt(30, { extra: [[501, 300, '[lake.orig]', ZOMBIE]] }),
  { ...momentAt(40), heartbeats: [partial('failed')], tmux: [] },
];

const written = (moments: readonly Snapshot[]): string => {
  const writer = new LineWriter();
  return moments.map(moment => writer.next(moment)).join('');
};

const passed = (text: string): (Glimpse | null)[] => {
  const seen: (Glimpse | null)[] = [];
  passLines(text, frame => seen.push(glimpseAt(frame)));
  return seen;
};

/** One full picture, changed before it is read. */
const tampered = (change: (picture: Record<string, Json>) => void): Glimpse | null => {
  const line = JSON.parse(written([MOMENTS[1]!]));
  change(line.full);
  return passed(`${JSON.stringify(line)}\n`)[0] ?? null;
};

type Items = Record<string, Record<string, Json>>;
const processesIn = (picture: Record<string, Json>): Items => (picture.processes as { items: Items }).items;

describe('a glimpse of a recorded moment', () => {
  test('is the one that the whole moment would give, moment by moment', () => {
    const text = written(MOMENTS);
    const whole = decodeLines(text).frames.map(frame => glimpseOf(snapshotOf(frame)!));
    expect(passed(text)).toEqual(whole);
    expect(whole.map(({ leaks, builds, results }) => [leaks.length, builds, results[0]?.result])).toEqual([
      [1, 0, undefined],
      [2, 0, undefined],
      [1, 1, 'partial'],
      [1, 0, undefined],
      [1, 0, 'none'],
    ]);
  });

  test.each<[string, (process: Record<string, Json>) => void]>([
    ['a kind that nobody knows', p => Object.assign(p, { kind: 'evil' })],
    ['a verdict that is no word', p => Object.assign(p, { verdict: 7 })],
    ['no facts', p => Object.assign(p, { facts: null })],
    ['a start that is no text', p => Object.assign(p.facts as object, { start: 1 })],
    ['memory that is no number', p => Object.assign(p.facts as object, { rss: '1e9' })],
    ['a place that is none', p => Object.assign(p.facts as object, { details: { cwd: 1, swap: 0 } })],
    ['a session that may be', p => Object.assign(p, { isSession: 'yes' })],
  ])('leaves out a process with %s', (_, change) => {
    const agents = tampered(() => {})!.agents.map(({ key }) => key);
    expect(agents).toContain('300:30000');
    expect(tampered(picture => change(processesIn(picture)['300:30000']!))!.agents).toHaveLength(
      agents.length - 1,
    );
  });

  test('shows no control characters of a file', () => {
    const glimpse = tampered(picture => {
      const { facts } = processesIn(picture)['300:30000'] as unknown as { facts: { details: object } };
      Object.assign(facts.details, { cwd: '/home/evil\u001b[2J' });
    });
    expect(glimpse!.agents.map(({ project }) => project)).toContain('evil\\x1b[2J');
  });

  test.each<[string, (picture: Record<string, Json>) => void]>([
    ['totals', picture => Object.assign(picture, { totals: { related: 'many' } })],
    ['a host', picture => Object.assign(picture, { host: null })],
  ])('is none of a picture without %s', (_, change) => expect(tampered(change)).toBeNull());

  test('does without findings, heartbeats and panes that make no sense', () => {
    const glimpse = tampered(picture => {
      picture.findings = { order: ['x'], items: { x: { id: 'leak', processes: 'all', files: [] } } };
      picture.heartbeats = { order: ['__proto__', 'y'], items: { y: { path: 1 } } };
      picture.tmux = [{ socket: '/s', panes: [{}] }];
    });
    expect(glimpse).toMatchObject({ findings: [], results: [], tmuxSessions: 0 });
  });
});
