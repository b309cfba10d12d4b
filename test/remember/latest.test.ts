import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { status } from '../../src/commands/guard-status.ts';
import { lineFactsOf } from '../../src/judge/line-facts.ts';
import { statusLine } from '../../src/judge/status-line.ts';
import { isFresh, type Latest, latestOf, readLatest, writeLatest } from '../../src/remember/latest.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { Sandbox } from '../support/sandbox.ts';
import { momentAt, NOON } from './recorder/machine.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const SAMPLE: Latest = latestOf(momentAt(0), lineFactsOf(momentAt(0)), {
  writer: { pid: 10, start: 's10' },
  since: NOON,
  intervalSeconds: 10,
  held: { since: NOON, why: 'a reason' },
  paused: 'it has just started',
  endsLastHour: 1,
  endsPerHour: 60,
  waiting: 2,
  ended: 3,
  reclaimedBytes: 4096,
  acts: [{ at: NOON, text: 'leaks: 1 ended' }],
  warnings: ['a warning'],
});

/** Everything that shows it, as far as it is believed. */
const show = async (value: unknown): Promise<boolean> => {
  const directory = sandbox.path('state');
  writeLatest(directory, value as Latest);
  const latest = readLatest(directory);
  if (latest !== null) {
    isFresh(latest, NOON);
    for (const style of ['tmux', 'claude'] as const)
      statusLine(latest, { own: null, style, color: true, width: 20, always: true });
  }
  const system = new FakeSystem();
  const holder = system.add(10, 1, { argv: null });
  const lock = { ...holder, by: 'guard', since: NOON };
  sandbox.write(join('state', 'guard.lock'), JSON.stringify(lock), 0o600);
  const said: string[] = [];
  const out = { isTTY: false, write: (text: string) => said.push(text) > 0 };
  for (const json of [true, false]) await status({ system, directory, out, now: NOON }, { json });
  expect(said.join('')).toContain('guard has been running since');
  return latest !== null;
};

/** Every value in it, by the way to it. */
const waysIn = (value: unknown, way: readonly string[] = []): (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [way]
    : [way, ...Object.entries(value).flatMap(([name, inner]) => waysIn(inner, [...way, name]))];

const changed = (value: unknown, [name, ...way]: readonly string[], by: unknown): unknown => {
  if (name === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = changed(copy[name], way, by);
  return copy;
};

test('guard’s own sample is believed', async () => {
  expect(await show(SAMPLE)).toBe(true);
});

test('a sample that is forged anywhere is not believed, or does no harm', async () => {
  let refused = 0;
  for (const way of waysIn(SAMPLE))
    for (const by of [undefined, null, true, 'x', -1e300, [], [null], {}])
      if (!(await show(changed(SAMPLE, way, by)))) refused += 1;
  expect(refused).toBeGreaterThan(100);
});

test.each([
  ['agents', [null]],
  ['agents', [{ name: 'claude', session: { doing: 'waiting', project: 7, seconds: 1 } }]],
  ['findings', [7]],
  ['totals', { agents: 1 }],
  ['guard', { ...SAMPLE.guard, acts: [null] }],
  ['guard', { ...SAMPLE.guard, held: 'yes' }],
])('with %s that are %j it is not believed', async (name, value) => {
  expect(await show({ ...SAMPLE, [name]: value })).toBe(false);
});

test('it is fresh for three intervals, and a second before its time', () => {
  const fresh = (ms: number): boolean => isFresh(SAMPLE, NOON + ms);
  expect([-1001, -1000, 0, 30_000, 30_001].map(fresh)).toEqual([false, true, true, true, false]);
});

test('it holds sessions, late heartbeats, and of findings only what is shown', () => {
  const moment = momentAt(0);
  const [beat] = moment.heartbeats;
  const states = ['fine', 'warn', 'critical', 'leftover'] as const;
  const late = { ...moment, heartbeats: states.map(state => ({ ...beat!, state })) };
  const latest = latestOf(late, lineFactsOf(late), SAMPLE.guard);
  expect(latest.stale).toBe(2);
  expect(latest.agents.map(({ pid }) => pid)).toEqual([300]);
  expect(latest.findings.length).toBeGreaterThan(0);
  for (const finding of latest.findings) expect(Object.keys(finding)).toEqual(['id', 'severity', 'title']);
});

test('one that cannot be written is a warning, and where there is no place for it there is none', () => {
  const file = sandbox.write('file', '');
  expect(writeLatest(join(file, 'below'), SAMPLE)).toContain('latest.json could not be written');
  expect(readLatest(null)).toBeNull();
  expect(readLatest(join(file, 'below'))).toBeNull();
});
