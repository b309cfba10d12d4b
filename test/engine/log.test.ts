import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FindingLog } from '../../src/engine/alerts.ts';
import { ActLog } from '../../src/engine/log.ts';
import type { Finding } from '../../src/model/finding.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  mkdirSync(directory, { mode: 0o700 });
});
afterEach(() => sandbox.close());

const MIB = 1024 ** 2;
const write = (line: object | string): void =>
  appendFileSync(
    join(directory, 'audit.jsonl'),
    `${typeof line === 'string' ? line : JSON.stringify({ time: '2026-01-27T10:00:00Z', ...line })}\n`,
    { mode: 0o600 },
  );
const outcome = (pid: number, name: string, more: object = {}) => ({
  pid,
  start: '1',
  name,
  outcome: 'ended',
  why: 'ended after SIGTERM',
  freed: 48 * MIB,
  ...more,
});

describe('acts', () => {
  it('tell who asked, how many, how much, and whom; the entry has all of it', () => {
    const log = new ActLog(directory);
    expect(log.next()).toEqual([]);
    write({ event: 'intent', id: 'a', by: 'clean', why: 'clean --force', writer: { pid: 1, start: '1' } });
    expect(log.next()).toEqual([]);
    const outcomes = [outcome(3402, 'lean-lsp-mcp'), outcome(3440, 'lake serve'), outcome(3450, 'lean')];
    write({ event: 'outcome', id: 'a', by: 'clean', outcomes, freed: 144 * MIB, sessions: [], files: [] });
    const [line] = log.next();
    expect(line).toMatchObject({
      text: 'clean: 3 ended, 144 MiB freed: lean-lsp-mcp (3402), lake serve (3440) and 1 more',
      tone: 'plain',
      entry: {
        by: 'clean',
        why: 'clean --force',
        rows: [{ pid: 3402, what: 'ended', bytes: 48 * MIB }, {}, {}],
      },
    });
    expect(log.next()).toEqual([]);
  });

  it('what another writes while we look is told at the next look, our own acts are not told twice', () => {
    const log = new ActLog(directory);
    write({ event: 'intent', id: 'o', by: 'tui', writer: { pid: process.pid, start: '1' } });
    write({ event: 'outcome', id: 'o', by: 'tui', outcomes: [outcome(1, 'ours')] });
    write({ event: 'intent', id: 'g', by: 'guard', writer: { pid: 1, start: '1' } });
    write({
      event: 'outcome',
      id: 'g',
      by: 'guard',
      outcomes: [outcome(2, 'theirs', { outcome: 'survived' })],
    });
    expect(log.next()).toMatchObject([
      { text: expect.stringMatching(/^guard: 1 survived.*theirs \(2\)/), tone: 'bad' },
    ]);
  });

  it('files and sessions are rows of the entry', () => {
    const log = new ActLog(directory);
    const files = [{ act: 'remove', path: '/p/.diagnostic-lock', outcome: 'done', why: 'old' }];
    write({ event: 'outcome', id: 's', by: 'sweep', outcomes: [], files, sessions: [] });
    expect(log.next()[0]?.entry?.rows).toMatchObject([{ name: 'remove /p/.diagnostic-lock', what: 'done' }]);
  });

  it('a file is named by its path, else its target, else its session, and by its act', () => {
    const log = new ActLog(directory);
    write({
      event: 'outcome',
      id: 's',
      by: 'sweep',
      outcomes: [],
      sessions: [{ act: 'end-session', session: 'main', outcome: 'ended' }, { session: 'other' }],
      files: [{ act: 'archive', target: '/p/specs/1', outcome: 'done' }],
    });
    expect(log.next()[0]?.entry?.rows.map(({ name }) => name)).toEqual([
      'end-session main',
      'other',
      'archive /p/specs/1',
    ]);
  });

  it.each([
    ['survived', 'bad'],
    ['denied', 'bad'],
    ['failed', 'bad'],
    ['ended', 'plain'],
    ['refused', 'plain'],
  ])('one of whom something %s is %s', (word, tone) => {
    const log = new ActLog(directory);
    write({ event: 'outcome', id: 'a', by: 'clean', outcomes: [outcome(1, 'x', { outcome: word })] });
    write({ event: 'outcome', id: 'b', by: 'clean', outcomes: [], files: [{ path: '/p', outcome: word }] });
    expect(log.next().map(line => line.tone)).toEqual([tone, tone]);
  });

  it('one of several that failed makes the act bad; one without rows names nobody', () => {
    const log = new ActLog(directory);
    const outcomes = [outcome(1, 'x'), outcome(2, 'y', { outcome: 'denied' })];
    write({ event: 'outcome', id: 'a', by: 'clean', outcomes });
    write({ event: 'outcome', id: 'b', by: 'guard', outcomes: [] });
    const [mixed, empty] = log.next();
    expect(mixed?.tone).toBe('bad');
    expect(empty?.text).toMatch(/^guard: [^:]*$/);
  });

  it('a row tells what became of it, else the signal; without a number no pid and no bytes', () => {
    const log = new ActLog(directory);
    const outcomes = [
      { pid: 3, name: 'a', signal: 'SIGUSR1' },
      { pid: '4', name: 'b', outcome: 'ended', freed: '9', why: 7 },
    ];
    write({ event: 'outcome', id: 'a', by: '', outcomes, note: 'cut short' });
    const [line] = log.next();
    expect(line?.entry).toEqual({
      by: '?',
      why: '',
      note: 'cut short',
      rows: [
        { what: 'SIGUSR1', pid: 3, name: 'a', bytes: 0, why: '' },
        { what: 'ended', pid: null, name: 'b', bytes: 0, why: '' },
      ],
    });
    expect(line?.text).toMatch(/: a \(3\), b$/);
  });

  it('an act of ours is known for as long as sixty-four others begin after it, and no longer', () => {
    const begin = (id: string, pid: number) => write({ event: 'intent', id, by: 'tui', writer: { pid } });
    const ended = (id: string) => write({ event: 'outcome', id, by: 'tui', outcomes: [] });
    const told = (others: number): number => {
      const log = new ActLog(directory);
      log.next();
      begin('ours', process.pid);
      for (let n = 0; n < others; n += 1) begin(`${others}-${n}`, 1);
      ended('ours');
      return log.next().length;
    };
    expect([told(63), told(64)]).toEqual([0, 1]);
  });

  it('torn, strange and hostile lines neither throw nor reach the terminal raw', () => {
    const log = new ActLog(directory);
    for (const line of ['{"time":', 'null', '[]', '7', '{"outcomes":[]}']) write(line);
    write({
      event: 'outcome',
      id: 7,
      by: 'x\u001b[2J',
      outcomes: [null, 4, { name: '\u001b]0;x\u0007', pid: 'no' }],
    });
    const lines = log.next();
    expect(lines).toHaveLength(1);
    expect(lines[0]?.entry?.rows).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/\\u001b|\\u0007/);
  });

  it('no state directory: no log', () => {
    expect(new ActLog(null).next()).toEqual([]);
  });
});

describe('findings', () => {
  const finding = (id: Finding['id'], pid: number, more: Partial<Finding> = {}): Finding => ({
    id,
    severity: 'warn',
    title: `${id} ${pid}`,
    why: '',
    processes: [{ pid, start: '1' }],
    files: [],
    remedy: '',
    action: null,
    ...more,
  });
  const look = (log: FindingLog, ...findings: Finding[]): string[] =>
    log.look({ findings, takenAt: 0 }).map(line => `${line.tone} ${line.text}`);

  it('come and go, each told once; those of the first look are no news', () => {
    const log = new FindingLog();
    expect(look(log, finding('leak', 1))).toEqual([]);
    expect(look(log, finding('leak', 1), finding('zombie', 2, { severity: 'critical' }))).toEqual([
      'bad found: zombie 2',
    ]);
    expect(look(log, finding('leak', 1), finding('zombie', 2))).toEqual([]);
    expect(look(log, finding('zombie', 2))).toEqual(['good resolved: leak 1']);
  });

  it('are told with the process they are about and the time of the look; without one they are known by file or title', () => {
    const log = new FindingLog();
    const lock = finding('lock-stale', 0, { processes: [], files: ['/a'], title: 'lock' });
    const other = finding('stopped', 0, { processes: [], title: 'a title' });
    log.look({ findings: [], takenAt: 0 });
    expect(log.look({ findings: [finding('leak', 1), lock, other], takenAt: 7 })).toEqual([
      { at: 7, text: 'found: leak 1', tone: 'warn', about: { pid: 1, start: '1' } },
      { at: 7, text: 'found: lock', tone: 'warn', about: null },
      { at: 7, text: 'found: a title', tone: 'warn', about: null },
    ]);
    expect(look(log, finding('leak', 1), lock, other)).toEqual([]);
    const moved = { ...lock, files: ['/b'], title: 'lock b', severity: 'info' as const };
    expect(look(log, finding('leak', 1), moved, other)).toEqual([
      'good resolved: lock',
      'plain found: lock b',
    ]);
  });

  it('one that lost its first process is the same', () => {
    const two = [
      { pid: 1, start: '1' },
      { pid: 2, start: '1' },
    ];
    const log = new FindingLog();
    look(log, finding('leak', 1, { processes: two }));
    expect(look(log, finding('leak', 2))).toEqual([]);
  });
});
