import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/model/finding.ts';
import type { Mark } from '../../../src/model/mark.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { MarkFinder } from '../../../src/remember/recorder/marks.ts';
import { readMarks, trimMarks } from '../../../src/remember/recorder/marks-file.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { momentAt, NOON } from './machine.ts';

const GIB = 1024 ** 3;

const withMemory = (second: number, bytes: number): Snapshot => {
  const moment = momentAt(second);
  return { ...moment, totals: { ...moment.totals, rss: bytes, swap: 0 } };
};

const marksOf = (...moments: readonly Snapshot[]): readonly Mark[] => {
  const finder = new MarkFinder();
  return moments.flatMap(moment => finder.next(moment)).filter(({ mark }) => mark !== 'boot');
};

const kinds = (marks: readonly Mark[]): string[] =>
  marks.map(({ mark, at }) => `${mark} ${(at - NOON) / 1000}`);

describe('marks', () => {
  test('a leak is marked when it appears, once', () => {
    const marks = marksOf(
      momentAt(0),
      momentAt(10),
      momentAt(20, { extra: [[410, 1, 'npx -y chroma-mcp']] }),
    );
    expect(kinds(marks)).toEqual(['leak 0', 'leak 20']);
    expect(marks[1]!.text).toMatch(/^1 leaked: /);
  });

  test('memory is marked at its height, and only after a real rise and fall', () => {
    const course = [1, 1.1, 3, 4, 3.9, 2, 2.1, 2, 1.9].map((gib, index) => withMemory(index * 10, gib * GIB));
    expect(kinds(marksOf(...course)).filter(mark => mark.startsWith('peak'))).toEqual(['peak 30']);
  });

  test('memory that only falls, or only breathes, is no peak', () => {
    for (const course of [
      [4, 2, 1, 0.5],
      [1, 1.1, 1, 1.1, 1],
      [1, 2, 3, 4],
    ])
      expect(kinds(marksOf(...course.map((gib, i) => withMemory(i, gib * GIB)))).join()).not.toContain(
        'peak',
      );
  });

  test('an OOM kill is marked at the look before it, which still shows who filled the memory', () => {
    const finder = new MarkFinder();
    finder.next(momentAt(0), 3);
    expect(finder.next(momentAt(10), 3)).toEqual([]);
    const [mark] = finder.next(momentAt(20), 4);
    expect([mark?.mark, mark?.at]).toEqual(['oom', NOON + 10_000]);
    // A counter that starts again or cannot be read says nothing.
    expect(finder.next(momentAt(30), null)).toEqual([]);
    expect(finder.next(momentAt(40), 2)).toEqual([]);
  });

  test('an agent that went silent is marked once per file', () => {
    const silent: Finding = {
      id: 'heartbeat-stale',
      severity: 'critical',
      title: 'task 688 is silent',
      why: '',
      processes: [],
      files: ['/x'],
      remedy: '',
      action: null,
    };
    const moment = { ...momentAt(10), findings: [silent] };
    expect(kinds(marksOf(momentAt(0), moment, moment)).filter(mark => mark.startsWith('silent'))).toEqual([
      'silent 10',
    ]);
  });

  test('the boot is marked by whoever looks first', () => {
    const [mark] = new MarkFinder().next(momentAt(0));
    expect(mark).toEqual({ at: NOON - 100_000_000, mark: 'boot', text: 'the machine started' });
  });
});

describe('the file of marks', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
    mkdirSync(sandbox.path('r'), { mode: 0o700 });
  });
  afterEach(() => sandbox.close());
  const write = (lines: readonly unknown[]): void =>
    writeFileSync(
      join(sandbox.path('r'), 'marks.jsonl'),
      lines.map(line => `${JSON.stringify(line)}\n`).join(''),
    );

  test('is read in the order of time, one boot told by three writers once', () => {
    const boot = (at: number) => ({ at, mark: 'boot', text: 'x' });
    write([
      boot(100_000),
      { at: 50, mark: 'oom', text: 'b\u001b' },
      boot(100_900),
      boot(101_500),
      boot(999_000),
    ]);
    expect(readMarks(sandbox.path('r')).marks).toEqual([
      { at: 50, mark: 'oom', text: 'b\\x1b' },
      boot(100_000),
      boot(999_000),
    ]);
  });

  test('passes over what is torn or wrong, and counts it', () => {
    write([{ at: 1, mark: 'leak', text: 'x' }, { at: 'x' }, { at: 1, mark: 'strange', text: '' }, null]);
    appendFileSync(join(sandbox.path('r'), 'marks.jsonl'), '{"at":2,"mar');
    const { marks, skipped } = readMarks(sandbox.path('r'));
    expect([marks.length, skipped]).toEqual([1, 4]);
  });

  test('is shortened to the recording when it is long', () => {
    const text = 'x'.repeat(190);
    write(Array.from({ length: 6000 }, (_, at) => ({ at, mark: 'leak', text })));
    trimMarks(sandbox.path('r'), 5990);
    expect(readMarks(sandbox.path('r')).marks).toHaveLength(10);
  });
});
