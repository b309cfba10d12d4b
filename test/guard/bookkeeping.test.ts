import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SweepResult } from '../../src/act/sweep/execute-sweep.ts';
import { Account, AuditFollower, endingText, sweepText } from '../../src/guard/bookkeeping.ts';
import { OUTCOMES, type Outcome, type OutcomeKind } from '../../src/model/plan.ts';
import { Sandbox } from '../support/sandbox.ts';

const outcome = (pid: number, kind: OutcomeKind, freed = 0, name = `p${pid}`): Outcome => ({
  pid,
  start: `s${pid}`,
  name,
  outcome: kind,
  why: '',
  freed,
});

describe('the account', () => {
  test('counts what ended and was killed, and every byte', () => {
    const account = new Account();
    account.take(
      OUTCOMES.map((kind, n) => outcome(n, kind, 10)),
      new Map(),
      0,
    );
    expect([account.ended, account.reclaimedBytes]).toEqual([2, 10 * OUTCOMES.length]);
  });

  test('lets the roots of what is not over rest for ten minutes', () => {
    const account = new Account();
    const all = OUTCOMES.map((kind, n) => outcome(n, kind));
    account.take(all, new Map([['0:s0', 'root']]), 100);
    const over = new Set<OutcomeKind>(['ended', 'killed', 'gone', 'zombie']);
    const restless = all
      .filter(({ outcome: kind }) => !over.has(kind))
      .map(({ pid, start }) => `${pid}:${start}`);
    expect([...account.resting(699)]).toEqual(restless);
    expect(restless.length).toBeGreaterThan(2);
    expect(account.resting(700).size).toBe(0);
    account.take([outcome(0, 'survived')], new Map([['0:s0', 'root']]), 800);
    expect([...account.resting(801)]).toEqual(['root']);
  });

  test('keeps its last ten acts', () => {
    const account = new Account();
    for (let n = 0; n < 12; n += 1) account.note(`act ${n}`, n);
    expect(account.acts).toHaveLength(10);
    expect(account.acts[0]).toEqual({ at: 2, text: 'act 2' });
  });
});

describe('an act in one line', () => {
  test.each([
    [
      [outcome(1, 'ended', 2048, 'a'), outcome(2, 'killed', 0, 'a')],
      'leaks: 1 ended, 1 killed, 2.0 KiB freed: a',
    ],
    [[outcome(1, 'survived', 0, 'a'), outcome(2, 'gone', 0, 'b')], 'leaks: 1 gone, 1 survived: b'],
    [[outcome(1, 'refused', 0, 'a')], 'leaks: 1 refused'],
    [[1, 2, 3, 4, 5].map(n => outcome(n, 'ended')), 'leaks: 5 ended: p1, p2, p3, p4, p5'],
    [[1, 2, 3, 4, 5, 6].map(n => outcome(n, 'ended')), 'leaks: 6 ended: p1, p2, p3, p4, p5, …'],
  ])('%#', (outcomes, text) => expect(endingText('leaks', outcomes)).toBe(text));

  test('a sweep tells processes, sessions and files that are over', () => {
    const result = {
      outcomes: [outcome(1, 'ended')],
      sessions: [{ outcome: 'ended' }, { outcome: 'gone' }, { outcome: 'refused' }],
      files: [{ outcome: 'done' }, { outcome: 'skipped' }],
    } as unknown as SweepResult;
    expect(sweepText(result)).toBe('sweep: 1 ended, 2 sessions, 1 file');
    expect(sweepText({ ...result, outcomes: [], sessions: [], files: [] })).toBe('sweep: 0 files');
  });
});

describe('the audit log as guard reads it', () => {
  const read = async (...lines: unknown[]) => {
    const sandbox = new Sandbox();
    try {
      const directory = sandbox.path('state');
      mkdirSync(directory, { mode: 0o700 });
      const text = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line)));
      writeFileSync(`${directory}/audit.jsonl`, text.map(line => `${line}\n`).join(''), { mode: 0o600 });
      const follower = new AuditFollower(directory);
      const found = follower.next();
      expect(follower.next()).toEqual([]);
      return found;
    } finally {
      await sandbox.close();
    }
  };
  const time = '2026-11-16T12:00:00.000Z';
  const at = Date.parse(time);
  const NOTHING = { roots: 0, outcomes: {}, freed: 0, slept: 0 };

  test('an intent tells how many trees, an outcome what became of them', async () => {
    const root = (pid: number) => ({ root: { pid, start: 's' } });
    const steps = [root(1), root(1), root(2), null];
    const outcomes = [
      { outcome: 'ended' },
      { outcome: 'ended' },
      { outcome: 'gone' },
      { outcome: 'eaten' },
      null,
      7,
    ];
    expect(
      await read(
        { time, event: 'intent', by: 'guard', plan: { steps } },
        { time, event: 'outcome', by: 'clean', outcomes, freed: 4096 },
      ),
    ).toEqual([
      { ...NOTHING, at, event: 'intent', by: 'guard', roots: 3 },
      { ...NOTHING, at, event: 'outcome', by: 'clean', outcomes: { ended: 2, gone: 1 }, freed: 4096 },
    ]);
  });

  test('what is torn, of another kind or without a time is passed over', async () => {
    const good = { time, event: 'outcome', by: 'tui' };
    expect(
      await read('{"time"', 'null', '[]', { ...good, time: 'yesterday' }, { ...good, event: 'note' }, good),
    ).toEqual([{ ...NOTHING, at, event: 'outcome', by: 'tui' }]);
  });

  test.each([
    [{ freed: -5, outcomes: 'x', plan: null }],
    [{ freed: '5', outcomes: {}, plan: { steps: 'many' } }],
    [{ freed: null, outcomes: null, plan: 7 }],
  ])('%j counts nothing', async part => {
    expect(await read({ time, event: 'outcome', by: 'tui', ...part })).toEqual([
      { ...NOTHING, at, event: 'outcome', by: 'tui' },
    ]);
  });

  test('without a directory there is none', () => expect(new AuditFollower(null).next()).toEqual([]));
});
