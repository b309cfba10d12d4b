import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { completeRecord } from '../../../src/act/record/unfinished.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { FakeSystem } from '../fake-system.ts';

let sandbox: Sandbox;
let machine: FakeSystem;
beforeEach(() => {
  sandbox = new Sandbox();
  machine = new FakeSystem();
});
afterEach(() => sandbox.close());

const INTENT = {
  event: 'intent',
  id: 'one',
  by: 'clean',
  writer: { pid: 600, start: 's600' },
  boot: 'now',
  plan: { steps: [{ pid: 700, start: 's700', name: 'server' }] },
};

/** What is written of an act that was cut off: each outcome of it. */
const completed = async (boot: string | null, ...lines: unknown[]) => {
  const directory = sandbox.path('state', 'reaptop');
  mkdirSync(directory, { recursive: true });
  const text = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  writeFileSync(join(directory, 'audit.jsonl'), `${text}\n`);
  const written: unknown[] = [];
  const by = { pid: 650, start: 's650', by: 'clean' } as const;
  await completeRecord(machine, by, { directory, boot, write: line => written.push(line) });
  return written;
};
const outcome = (kind: 'gone' | 'survived') => [
  { id: 'one', outcomes: [{ pid: 700, outcome: kind, name: 'server' }], sessions: [], files: [] },
];

test('what was planned runs, or is gone; unreadable is not gone', async () => {
  expect(await completed('now', INTENT)).toMatchObject(outcome('gone'));
  machine.add(700, 1);
  expect(await completed('now', INTENT)).toMatchObject(outcome('survived'));
  machine.unreadable.add(700);
  expect(await completed('now', INTENT)).toMatchObject(outcome('survived'));
});

test('an act whose writer runs is its own to complete; after another boot nobody runs', async () => {
  machine.add(600, 1);
  machine.add(700, 1);
  for (const [then, now] of [
    ['now', 'now'],
    [null, 'now'],
    ['now', null],
    [7, 'now'],
  ])
    expect(await completed(now as string | null, { ...INTENT, boot: then })).toEqual([]);
  machine.unreadable.add(600);
  expect(await completed('now', INTENT)).toEqual([]);
  expect(await completed('another', INTENT)).toMatchObject(outcome('gone'));
});

test('a log that is no file of ours leaves nothing to complete', async () => {
  const directory = sandbox.path('elsewhere');
  mkdirSync(join(directory, 'audit.jsonl'), { recursive: true });
  const by = { pid: 650, start: 's650', by: 'clean' } as const;
  const written: unknown[] = [];
  await completeRecord(machine, by, { directory, boot: null, write: line => written.push(line) });
  expect(written).toEqual([]);
});

test('what is no intent, no act or no step of one is passed over', async () => {
  const odd = ['half a li', 'null', '7', { ...INTENT, id: 7 }, { ...INTENT, event: 'note' }];
  expect(await completed('now', ...odd)).toEqual([]);
  expect(await completed('now', INTENT, { event: 'outcome', id: 'one' })).toEqual([]);
  for (const steps of [
    undefined,
    'x',
    [null, { pid: 7.5, start: 's' }, { pid: '7', start: 's' }, { pid: 7 }],
  ])
    expect(await completed('now', { ...INTENT, plan: { steps } })).toMatchObject([{ outcomes: [] }]);
  expect(await completed('now', { ...INTENT, writer: null })).toMatchObject(outcome('gone'));
});
