import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/model/finding.ts';
import type { Mark } from '../../../src/model/report.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { MarkFinder, readMarks, trimMarks } from '../../../src/remember/recorder/timeline-marks.ts';
import { HOUSE, invent, snapshotOf } from '../../judge/plan/machine.ts';
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

describe('what is worth a mark, to the letter', () => {
  const MIB = 1024 ** 2;
  const at = (seconds: number, part: Partial<Snapshot> = {}): Snapshot => ({
    ...snapshotOf([...HOUSE]),
    takenAt: seconds * 1000,
    clock: seconds,
    ...part,
  });
  const textsOf = (marks: readonly Mark[]): string[] => marks.map(({ mark, text }) => `${mark}: ${text}`);
  /** A finder past its first moment, which marks the boot. */
  const begun = (part: Partial<Snapshot> = {}): MarkFinder => {
    const finder = new MarkFinder();
    finder.next(at(0, part), 0);
    return finder;
  };

  test('a boot is marked once, and only where its time is known', () => {
    const finder = new MarkFinder();
    expect(finder.next(at(100))).toEqual([{ at: 0, mark: 'boot', text: 'the machine started' }]);
    expect(finder.next(at(110))).toEqual([]);
    const { host } = snapshotOf([]);
    expect(new MarkFinder().next(at(100, { host: { ...host, backend: 'portable' } }))).toEqual([]);
  });

  test('OOM kills are marked at the moment before, with how many', () => {
    const finder = begun();
    finder.next(at(10), 2);
    expect(finder.next(at(20), 5)).toEqual([
      { at: 10_000, mark: 'oom', text: 'the kernel killed 3 processes because memory ran out' },
    ]);
    expect(finder.next(at(30), 5)).toEqual([]);
    expect(finder.next(at(40), null)).toEqual([]);
    expect(finder.next(at(50), 9)).toEqual([]);
  });

  test('leaks are marked when they are new, by name, zombies and others not', () => {
    const leak = (pid: number, name: string, part: object = {}) => invent(pid, 1, { name, ...part });
    const finder = begun();
    const first = [leak(10, 'a'), leak(11, 'a'), leak(12, 'b'), leak(13, 'c', { facts: { state: 'Z' } })];
    const live = leak(14, 'd', { verdict: 'live' });
    expect(textsOf(finder.next(at(10, { processes: [...first, live] })))).toEqual(['leak: 3 leaked: a, b']);
    expect(finder.next(at(20, { processes: [...first, live] }))).toEqual([]);
    expect(textsOf(finder.next(at(30, { processes: [...first, leak(15, 'e')] })))).toEqual([
      'leak: 1 leaked: e',
    ]);
  });

  test('an agent that fell silent is marked once for each of its files', () => {
    const silent = (title: string, file: string | null, part: Partial<Finding> = {}): Finding => ({
      id: 'heartbeat-stale',
      severity: 'critical',
      title,
      why: '',
      processes: [],
      files: file === null ? [] : [file],
      remedy: '',
      action: null,
      ...part,
    });
    const finder = begun();
    const findings = [
      silent('x'.repeat(200), '/a'),
      silent('no file', null),
      silent('late', '/b', { severity: 'warn' }),
      silent('other', '/c', { id: 'spinning' }),
    ];
    expect(textsOf(finder.next(at(10, { findings })))).toEqual([
      `silent: ${'x'.repeat(120)}`,
      'silent: no file',
    ]);
    const again = [silent('another title', '/a'), silent('no file', null), silent('new', '/d')];
    expect(textsOf(finder.next(at(20, { findings: again })))).toEqual(['silent: new']);
  });

  test.each([
    [
      'a rise and a fall of 256 MiB',
      [
        [100, 0],
        [356, 0],
        [100, 0],
      ],
      ['memory peaked at 356M at 10'],
    ],
    [
      'swap counts',
      [
        [50, 50],
        [300, 56],
        [100, 0],
      ],
      ['memory peaked at 356M at 10'],
    ],
    [
      'a smaller rise is none',
      [
        [101, 0],
        [356, 0],
        [100, 0],
      ],
      [],
    ],
    [
      'a fall to three quarters is one',
      [
        [0, 0],
        [1024, 0],
        [768, 0],
      ],
      ['memory peaked at 1.0G at 10'],
    ],
    [
      'a fall to a little more is none',
      [
        [0, 0],
        [1024, 0],
        [769, 0],
      ],
      [],
    ],
    [
      'a fall of less than 256 MiB is none',
      [
        [0, 0],
        [300, 0],
        [45, 0],
      ],
      [],
    ],
    [
      'the first of two equal moments',
      [
        [0, 0],
        [512, 0],
        [512, 0],
        [100, 0],
      ],
      ['memory peaked at 512M at 10'],
    ],
    [
      'a low in between starts anew',
      [
        [400, 0],
        [300, 0],
        [600, 0],
        [300, 0],
      ],
      ['memory peaked at 600M at 20'],
    ],
  ] as const)('a peak: %s', (_, moments, wanted) => {
    const finder = new MarkFinder();
    const { totals } = snapshotOf([]);
    const marks = moments.flatMap(([rss, swap], n) =>
      finder.next(at(10 * n, { totals: { ...totals, rss: rss * MIB, swap: swap * MIB } })),
    );
    expect(
      marks.filter(({ mark }) => mark === 'peak').map(({ text, at: when }) => `${text} at ${when / 1000}`),
    ).toEqual(wanted);
  });
});
