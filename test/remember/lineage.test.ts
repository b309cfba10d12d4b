import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { keyOf } from '../../src/model/identity.ts';
import type { Sample } from '../../src/model/observation.ts';
import {
  appendLineage,
  type LineageLine,
  linesFrom,
  lineText,
  MOST_ENTRIES,
  parseLine,
  pruneSessionLineage,
  writeSessionLineage,
} from '../../src/remember/lineage-files.ts';
import { LineageReader } from '../../src/remember/lineage-reader.ts';
import { compactLineage, worthKeeping } from '../../src/remember/lineage-writer.ts';
import { CLOCK, factsOf, type Row, remembered, SELF, UID, world } from '../support/world.ts';

const BOOT = 'b3f1c7c4-0000-4000-8000-000000000001';

let directory: string;
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'reaptop-lineage-')), 'reaptop');
  mkdirSync(directory, { mode: 0o700 });
});
afterEach(() => rmSync(join(directory, '..'), { recursive: true }));

const line = (pid: number, extra: Partial<LineageLine> = {}): LineageLine => ({
  pid,
  start: `${pid}00`,
  agent: { pid: 1000, start: '100000' },
  session: 'a-session',
  family: 'claude',
  project: 'proofs',
  parent: { pid: 1000, start: '100000' },
  boot: BOOT,
  seen: 50_000,
  gone: null,
  ...extra,
});

const lookAt = (...rows: readonly Row[]): Sample => ({
  takenAt: CLOCK * 1000,
  clock: CLOCK,
  host: {
    name: 'here',
    platform: 'linux',
    backend: 'procfs',
    container: false,
    bootId: BOOT,
    memTotal: null,
    memAvailable: null,
    swapUsed: null,
  },
  self: { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
  processes: rows.map(factsOf),
  complete: true,
  warnings: [],
});

const JAVA: Row = [1500, 1, 'java'];
const file = (): string => join(directory, 'lineage.jsonl');
const recall = (look = lookAt(JAVA)) => new LineageReader(directory).recall(look);
const keysIn = (look?: Sample): string[] => recall(look).entries.map(([key]) => key);

describe('a line', () => {
  it('comes back as it was written', () => {
    for (const written of [
      line(1500),
      line(1501, { session: null, family: null, parent: null, gone: 60_000 }),
    ])
      expect(parseLine(lineText(written).trimEnd())).toEqual(written);
  });

  it('is nothing when it is cut anywhere', () => {
    const text = lineText(line(1500)).trimEnd();
    for (let length = 0; length < text.length; length += 1)
      expect(parseLine(text.slice(0, length))).toBeNull();
  });

  test.each<[string, Partial<Record<keyof LineageLine, unknown>>]>([
    ['no pid', { pid: '1500' }],
    ['PID 1', { pid: 1 }],
    ['half a pid', { pid: 1500.5 }],
    ['a pid that no kernel gives', { pid: 5_000_000 }],
    ['a start that is no count of ticks', { start: 'yesterday' }],
    ['a start that is a number', { start: 150000 }],
    ['no agent', { agent: null }],
    ['an agent without a start', { agent: { pid: 1000 } }],
    ['PID 1 as agent', { agent: { pid: 1, start: '0' } }],
    ['itself as agent', { agent: { pid: 1500, start: '150000' } }],
    ['an agent that is younger', { agent: { pid: 1000, start: '150001' } }],
    ['a parent that is no identity', { parent: 7 }],
    ['a session with an escape in it', { session: '\u001b[31mred' }],
    ['a session that is an object', { session: {} }],
    ['no boot', { boot: null }],
    ['a time that is none', { seen: -1 }],
    ['an end that is none', { gone: 'yes' }],
  ])('is nothing with %s', (_, wrong) => {
    expect(parseLine(JSON.stringify({ ...line(1500), ...wrong }))).toBeNull();
  });

  it('counts ticks, however many digits they have', () => {
    const of = (start: string, agent: string) =>
      parseLine(JSON.stringify({ ...line(1500), start, agent: { pid: 1000, start: agent } }));
    expect(of('1000', '999')).not.toBeNull();
    expect(of('999', '1000')).toBeNull();
  });

  test.each(['', 'null', '7', '[]', '"x"', '{}', `{"pid":1500${' '.repeat(2000)}}`])('%j is none', text => {
    expect(parseLine(text)).toBeNull();
  });

  it('is made of what the ledger in memory knows', () => {
    const past = world([
      [1000, 80_001, 'claude', { tty: 'pts/9' }],
      [1500, 1000, 'java'],
    ]);
    const [made] = linesFrom(remembered(past).entries(), () => 'claude', { boot: BOOT, clock: 50_000 });
    expect(made).toEqual(line(1500, { session: null, project: 'project' }));
    expect(parseLine(lineText(made!).trimEnd())).toEqual(made);
  });
});

describe('what is read back', () => {
  it('is what guard and ended sessions wrote, both', () => {
    appendLineage(directory, [line(1500)]);
    writeSessionLineage(directory, 'other', [line(1501)]);
    expect(keysIn()).toEqual(['1500:150000', '1501:150100']);
    expect(recall().warnings).toEqual([]);
  });

  it('is told once, and again only when a file has changed', () => {
    appendLineage(directory, [line(1500)]);
    const reader = new LineageReader(directory);
    expect(reader.recall(lookAt()).entries).toHaveLength(1);
    expect(reader.recall(lookAt()).entries).toHaveLength(0);
    appendLineage(directory, [line(1501)]);
    expect(reader.recall(lookAt()).entries).toHaveLength(2);
  });

  it('leaves out torn lines and counts them in one warning that stays', () => {
    appendLineage(directory, [line(1500)]);
    appendFileSync(file(), `{"pid":15\nnonsense\n${lineText(line(1501))}{"pid":`);
    const reader = new LineageReader(directory);
    const { entries, warnings } = reader.recall(lookAt());
    expect(entries.map(([key]) => key)).toEqual(['1500:150000', '1501:150100']);
    expect(warnings).toEqual([expect.stringContaining('3 lines are torn or wrong and not used')]);
    expect(reader.recall(lookAt()).warnings).toEqual(warnings);
  });

  it('a torn end does not swallow the next line that is written', () => {
    writeFileSync(file(), '{"pid":', { mode: 0o600 });
    appendLineage(directory, [line(1500)]);
    expect(keysIn()).toEqual(['1500:150000']);
  });

  it('nothing of another boot, which is no mistake', () => {
    appendLineage(directory, [line(1500, { boot: 'another' }), line(1501)]);
    expect(recall()).toMatchObject({ entries: [['1501:150100', {}]], warnings: [] });
  });

  it('nothing where boots have no names, and nothing for a recorded table', () => {
    appendLineage(directory, [line(1500)]);
    const look = lookAt(JAVA);
    expect(keysIn({ ...look, host: { ...look.host, bootId: null } })).toEqual([]);
    expect(keysIn({ ...look, self: null })).toEqual([]);
  });

  test.each<[string, Row, Partial<LineageLine>]>([
    ['was written before the process was there', [1500, 1, 'java', { born: 60_000 }], {}],
    ['comes from the future', JAVA, { seen: CLOCK + 60 }],
  ])('a line that %s is forged', (_, row, extra) => {
    appendLineage(directory, [line(1500, extra)]);
    expect(recall(lookAt(row))).toMatchObject({
      entries: [],
      warnings: [expect.stringContaining('1 line is')],
    });
  });

  it('a line written before its agent was there is forged', () => {
    appendLineage(directory, [line(1500)]);
    const look = lookAt([1000, 1, 'claude', { born: 60_000 }], JAVA);
    expect(recall(look).entries).toEqual([]);
  });

  it('the newest 20,000 are used, and that is said', () => {
    const many = Array.from({ length: MOST_ENTRIES + 5 }, (_, index) => line(2000 + index));
    appendLineage(directory, many);
    const { entries, warnings } = recall();
    expect(entries).toHaveLength(MOST_ENTRIES);
    expect(entries.at(-1)?.[0]).toBe(keyOf(many.at(-1)!));
    expect(warnings).toEqual([expect.stringContaining('only the newest 20000 entries are used')]);
  });
});

describe('who wrote it', () => {
  it('is for this user alone', () => {
    appendLineage(directory, [line(1500)]);
    writeSessionLineage(directory, 's', [line(1501)]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'lineage.d')).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'lineage.d/s.jsonl')).mode & 0o777).toBe(0o600);
  });

  test.each<[string, () => void, string]>([
    ['a file that others may write', () => chmodSync(file(), 0o606), 'others may write it'],
    ['a file that its group may write', () => chmodSync(file(), 0o660), 'others may write it'],
    [
      'a link',
      () => {
        rmSync(file());
        writeFileSync(join(directory, 'elsewhere'), lineText(line(1500)));
        symlinkSync('elsewhere', file());
      },
      'it is a symbolic link',
    ],
    ['a directory that others may write', () => chmodSync(directory, 0o707), 'others may write there'],
    ['a directory that its group may write', () => chmodSync(directory, 0o770), 'others may write there'],
    [
      'a directory in its place',
      () => {
        rmSync(file());
        mkdirSync(file());
      },
      'it is not a regular file',
    ],
  ])('%s is not believed', (_, spoil, why) => {
    appendLineage(directory, [line(1500)]);
    spoil();
    expect(recall()).toMatchObject({ entries: [], warnings: [expect.stringContaining(why)] });
  });

  it.skipIf(process.geteuid?.() !== 0)("another user's file is not believed", () => {
    appendLineage(directory, [line(1500)]);
    chownSync(file(), 65534, 65534);
    expect(recall()).toMatchObject({
      entries: [],
      warnings: [expect.stringContaining('it belongs to another user')],
    });
  });

  test.each(['../../escape', '', '..', 'a/b', 'x'.repeat(200)])('the session %j names no file', session => {
    expect(writeSessionLineage(directory, session, [line(1500)])).toContain('not written');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('a place that cannot be written is one warning', () => {
    writeFileSync(join(directory, 'file'), '');
    expect(appendLineage(join(directory, 'file', 'below'), [line(1500)])).toContain('could not be written');
  });
});

describe('compaction', () => {
  const running =
    (...pids: number[]) =>
    (key: string): boolean =>
      pids.some(pid => key === `${pid}:${pid}00`);
  const now = (isRunning: (key: string) => boolean, clock = 60_000) => ({ boot: BOOT, clock, isRunning });

  it('folds the files of ended sessions into one', () => {
    appendLineage(directory, [line(1500)]);
    writeSessionLineage(directory, 's', [line(1500, { session: 'later' }), line(1501)]);
    expect(compactLineage(directory, now(running(1500, 1501)))).toEqual({ kept: 2, warning: null });
    expect(readdirSync(join(directory, 'lineage.d'))).toEqual([]);
    expect(readFileSync(file(), 'utf8')).toBe(lineText(line(1500)) + lineText(line(1501)));
  });

  it('drops another boot, and who ended a day before, but not a link to who runs', () => {
    const link = line(1600, { gone: 1 });
    const kept = worthKeeping(
      [
        line(1500),
        line(1501, { boot: 'another' }),
        line(1502),
        line(1503, { gone: 60_000 }),
        link,
        line(1601, { parent: link }),
      ],
      now(running(1500, 1601), 60_000 + 24 * 3600),
    );
    expect(kept.map(({ pid, gone }) => [pid, gone])).toEqual([
      [1500, null],
      [1502, 60_000 + 24 * 3600],
      [1600, 1],
      [1601, null],
    ]);
  });

  it('keeps 20,000 at most, whoever runs first', () => {
    const many = Array.from({ length: MOST_ENTRIES + 100 }, (_, index) =>
      line(2000 + index, { seen: index }),
    );
    const kept = worthKeeping(many, now(running(2000)));
    expect(kept).toHaveLength(MOST_ENTRIES);
    expect(kept[0]?.pid).toBe(2000);
  });

  it("leaves everything where it is when it may not write, and a stranger's file always", () => {
    writeSessionLineage(directory, 's', [line(1500)]);
    chmodSync(join(directory, 'lineage.d/s.jsonl'), 0o666);
    mkdirSync(file());
    expect(compactLineage(directory, now(running(1500))).warning).toContain('could not be compacted');
    rmSync(file(), { recursive: true });
    compactLineage(directory, now(running(1500)));
    expect(existsSync(join(directory, 'lineage.d/s.jsonl'))).toBe(true);
    expect(readFileSync(file(), 'utf8')).toBe('');
  });
});

describe('a fold that cannot be written', () => {
  it('leaves what ended sessions wrote as it was', () => {
    writeSessionLineage(directory, 's', [line(1500)]);
    mkdirSync(file());
    const { warning } = compactLineage(directory, { boot: BOOT, clock: 60_000, isRunning: () => true });
    expect(warning).toContain('could not be compacted');
    expect(readFileSync(join(directory, 'lineage.d/s.jsonl'), 'utf8')).toBe(lineText(line(1500)));
  });
});

describe('where no guard folds them in', () => {
  it('the file of the first session goes like the others, also where guard has written nothing', () => {
    for (const name of ['a', 'b']) writeSessionLineage(directory, name, [line(2000)]);
    pruneSessionLineage(directory, BOOT, () => false);
    expect(readdirSync(join(directory, 'lineage.d'))).toEqual([]);
  });

  it('files of ended sessions go when nothing in them runs, and stay while one process does', () => {
    writeSessionLineage(directory, 'ended', [line(2000), line(2001)]);
    writeSessionLineage(directory, 'outlived', [line(3000), line(3001)]);
    writeSessionLineage(directory, 'other-boot', [line(3001, { boot: 'another' })]);
    appendLineage(directory, [line(4000)]);
    pruneSessionLineage(directory, BOOT, ({ pid, start }) => pid === 3001 && start === '300100');
    expect(readdirSync(join(directory, 'lineage.d'))).toEqual([expect.stringMatching(/outlived/)]);
    expect(existsSync(join(directory, 'lineage.jsonl'))).toBe(true);
  });
});
