import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readAuditHistory } from '../../src/remember/audit-history.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  mkdirSync(directory, { mode: 0o700 });
});
afterEach(() => sandbox.close());

const TIME = '2026-11-16T12:00:00.000Z';
const AT = Date.parse(TIME);
const log = (name: string, ...lines: readonly unknown[]): string => {
  const text = lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  writeFileSync(join(directory, name), text, { mode: 0o600 });
  return text;
};
const act = (part: object = {}): object => ({
  time: TIME,
  event: 'outcome',
  by: 'clean',
  outcomes: [],
  ...part,
});
const ended = { pid: 7, start: 's7', kind: 'mcp', agent: 'claude', verdict: 'leak', cwd: '/home/me/site/' };

test('an act has who asked, what became of each process, and the bytes', () => {
  log('audit.jsonl', act({ outcomes: [{ ...ended, outcome: 'ended', freed: 10 }], freed: 30 }));
  expect(readAuditHistory(directory, 0).acts).toEqual([
    {
      at: AT,
      by: 'clean',
      freed: 30,
      slept: 0,
      outcomes: [
        {
          key: '7:s7',
          kind: 'mcp',
          agent: 'claude',
          verdict: 'leak',
          project: 'site',
          outcome: 'ended',
          freed: 10,
        },
      ],
    },
  ]);
});

test('what is not of its kind is null, nothing or no outcome, and no escape sequence', () => {
  const outcomes = [
    null,
    7,
    { ...ended, pid: '7', outcome: 'ended' },
    { ...ended, start: 7, outcome: 'ended' },
    { ...ended, outcome: null },
    {
      pid: 7,
      start: 's7',
      outcome: 'ended',
      kind: 7,
      agent: {},
      verdict: '\u001b[31m',
      cwd: null,
      freed: -1,
    },
    { pid: 8, start: 's8', outcome: 'ended', cwd: '/', kind: 'x'.repeat(500), freed: '5' },
  ];
  log('audit.jsonl', act({ by: 7, outcomes, freed: null }));
  const { by, freed, outcomes: found } = readAuditHistory(directory, 0).acts[0]!;
  expect([by, freed]).toEqual(['unknown', 0]);
  expect(found).toMatchObject([
    { key: '7:s7', kind: null, agent: null, project: null, freed: 0 },
    { key: '8:s8', agent: null, verdict: null, project: null, freed: 0 },
  ]);
  expect(found[0]?.verdict).not.toContain('\u001b');
  expect(found[1]?.kind).toHaveLength(200);
});

test('all three files are read, oldest act first, none before the time that is asked for', () => {
  const later = (seconds: number) => act({ time: new Date(AT + seconds * 1000).toISOString() });
  const texts = [
    log('audit.jsonl', later(30), later(20)),
    log('audit.1.jsonl', later(10)),
    log('audit.2.jsonl', later(0), later(-1)),
  ];
  const { acts, files, bytes, skipped } = readAuditHistory(directory, AT);
  expect(acts.map(({ at }) => (at - AT) / 1000)).toEqual([0, 10, 20, 30]);
  expect([files, bytes, skipped]).toEqual([3, texts.join('').length, 0]);
});

test('torn lines and files that are not ours to read are counted, intents and empty lines are not', () => {
  log(
    'audit.jsonl',
    '{"time"',
    '',
    'null',
    '7',
    act({ event: 'intent', time: 'never' }),
    act({ time: 'yesterday' }),
    act({ outcomes: 'none' }),
    act(),
  );
  symlinkSync('audit.jsonl', join(directory, 'audit.1.jsonl'));
  expect(readAuditHistory(directory, 0)).toMatchObject({ acts: [{ at: AT }], files: 1, skipped: 6 });
});

test('without a log there is nothing', () =>
  expect(readAuditHistory(directory, 0)).toEqual({ acts: [], bytes: 0, files: 0, skipped: 0 }));
