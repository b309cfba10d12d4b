import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownerOf } from '../../src/act/record/file-lock.ts';
import {
  forgetOwed,
  forgetSession,
  newSession,
  owe,
  owedCounts,
  readSession,
  updateSession,
  withCount,
} from '../../src/hooks/session-state.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  path = join(directory, 'sessions/one.json');
  mkdirSync(join(directory, 'sessions'), { recursive: true });
});
afterEach(() => sandbox.close());

const fresh = () => newSession('one', '/work', null, 5);
const PLAIN = { session: 'one', cwd: '/work', startedAt: 5 };
const readBack = (fields: object) => {
  writeFileSync(path, JSON.stringify(fields));
  return readSession(directory, 'one');
};

test('a new session has done nothing yet', () =>
  expect(fresh()).toEqual({
    session: 'one',
    agent: null,
    byPlugin: false,
    cwd: '/work',
    startedAt: 5,
    beatAt: 5,
    operation: 'starting',
    turns: {},
    askedAt: { memory: null, turns: null },
    tasks: [],
    works: [],
    diagnosticCalls: 0,
    skippedDiagnostics: 0,
    denials: 0,
    throttle: { checks: 0, skips: 0 },
    locks: [],
    below: [],
    blocks: {},
    inARow: {},
  }));

describe('what is read of a session', () => {
  test('is all that was written', () => {
    const full = {
      ...fresh(),
      agent: { pid: 7, start: '70' },
      beatAt: 9,
      operation: 'Bash',
      turns: { '': 3, a: 0 },
      askedAt: { memory: 1, turns: 2 },
      tasks: ['/work/specs/1_a'],
      diagnosticCalls: 4,
      skippedDiagnostics: 2,
      denials: 2,
      throttle: { checks: 6, skips: 1 },
      locks: [
        { key: 'k', toolUseId: 't', agentId: 'a', beside: { root: '/work', directory: '/work/specs' } },
      ],
      below: [{ pid: 8, start: '80', parent: { pid: 7, start: '70' } }],
      blocks: { stop: { count: 1, marker: 'm', print: 'p' } },
      inARow: { stop: 2 },
    };
    expect(readBack(full)).toEqual(full);
  });

  test('is nothing where the file is nobody’s: no session, no place, no time, no object, no text', () => {
    for (const wrong of [{ session: 7 }, { cwd: null }, { startedAt: '5' }, { startedAt: null }])
      expect(readBack({ ...PLAIN, ...wrong })).toBeNull();
    const never = '{"session":"one","cwd":"/work","startedAt":1e999}';
    for (const text of ['', '{"session":', 'null', '7', '"text"', '[]', never]) {
      writeFileSync(path, text);
      expect(readSession(directory, 'one')).toBeNull();
    }
    expect(readSession(directory, 'another')).toBeNull();
    symlinkSync(sandbox.write('victim', JSON.stringify(PLAIN)), join(directory, 'sessions/two.json'));
    expect(readSession(directory, 'two')).toBeNull();
  });

  test.each<[string, object]>([
    ['an agent without a pid', { agent: { start: '70' } }],
    ['an agent with half a pid', { agent: { pid: 1.5, start: '70' } }],
    ['an agent below zero', { agent: { pid: -7, start: '70' } }],
    ['an agent without a start', { agent: { pid: 7, start: 70 } }],
    ['a beat at no time', { beatAt: 'now' }],
    ['an operation that is none', { operation: 7 }],
    ['turns that are no counts', { turns: { a: -1, b: '2', c: 1.5 } }],
    ['turns that are no list', { turns: 'many' }],
    ['questions at no time', { askedAt: { memory: '1', turns: true } }],
    ['questions that are none', { askedAt: null }],
    ['tasks that are no list', { tasks: 'all' }],
    ['tasks that are no paths', { tasks: [7, null] }],
    ['calls that are no count', { diagnosticCalls: -4, skippedDiagnostics: '2' }],
    ['denials of an earlier version', { denials: { count: 1, since: 8 } }],
    ['a throttle that is none', { throttle: { checks: -6, skips: null } }],
    ['locks that are no list', { locks: { key: 'k' } }],
    ['locks without a key', { locks: [{ toolUseId: 't' }, { key: '' }, { key: 7 }, null, 'k'] }],
    ['processes that are no list', { below: 'x' }],
    ['processes without a parent', { below: [{ pid: 8, start: '80' }, null] }],
    ['processes that are none', { below: [{ parent: { pid: 7, start: '70' } }] }],
    [
      'blocks that are none',
      {
        blocks: { a: { count: 1, marker: 'm' }, b: { count: 1, print: 'p' }, c: { marker: 'm', print: 'p' } },
      },
    ],
    ['rows that are no counts', { inARow: { stop: 'x' } }],
  ])('is without what makes no sense: %s', (_, wrong) =>
    expect(readBack({ ...PLAIN, ...wrong })).toEqual(fresh()),
  );

  test('is, of a lock, whose it is where that is said', () => {
    const rows: readonly [object, object][] = [
      [{ key: 'k' }, { toolUseId: null, agentId: null, beside: null }],
      [
        { key: 'k', toolUseId: 7, agentId: 'a' },
        { toolUseId: null, agentId: 'a', beside: null },
      ],
      [
        { key: 'k', toolUseId: 't', beside: { root: '/r' } },
        { toolUseId: 't', agentId: null, beside: null },
      ],
      [
        { key: 'k', beside: { directory: '/d' } },
        { toolUseId: null, agentId: null, beside: null },
      ],
    ];
    for (const [lock, rest] of rows)
      expect(readBack({ ...PLAIN, locks: [lock] })?.locks).toEqual([{ key: 'k', ...rest }]);
  });

  test('is bounded: of locks and tasks the last sixteen, of subagents the last sixty-four', () => {
    const many = Array.from({ length: 20 }, (_, n) => `k${n}`);
    const read = readBack({ ...PLAIN, tasks: many, locks: many.map(key => ({ key })) });
    expect(read?.tasks).toEqual(many.slice(4));
    expect(read?.locks.map(({ key }) => key)).toEqual(many.slice(4));
    const counts = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`a${n}`, n]));
    expect(Object.keys(withCount(counts, 'new', 1))).toEqual([...Object.keys(counts).slice(1), 'new']);
    expect(Object.keys(withCount(counts, 'a0', 1))).toEqual([...Object.keys(counts).slice(1), 'a0']);
    expect(Object.entries(withCount({ a: 1, b: 2 }, 'a', 5))).toEqual([
      ['b', 2],
      ['a', 5],
    ]);
  });
});

describe('a session’s file', () => {
  const update = (options: { owed?: null | undefined; waitMs: number } = { waitMs: 1000 }) =>
    updateSession(
      directory,
      'one',
      fresh,
      before => ({ after: { ...before, operation: 'x' }, result: 7 }),
      options,
    );

  test('is replaced as a whole, and what the change gives is given', () => {
    expect(update()).toBe(7);
    expect(readFileSync(path, 'utf8')).toMatch(/^\{.*"operation":"x".*\}\n$/);
    expect(readdirSync(join(directory, 'sessions'))).toEqual(['one.json']);
  });

  test('leaves nothing behind when it cannot be locked and nothing is pending', () => {
    writeFileSync(`${path}.lock`, JSON.stringify(ownerOf()));
    for (const owed of [undefined, null]) expect(update({ owed, waitMs: 5 })).toBeNull();
    expect(readdirSync(join(directory, 'sessions'))).toEqual(['one.json.lock']);
  });

  test('is optional: the hook works when it cannot be written', () => {
    writeFileSync(sandbox.path('file'), '');
    const done = updateSession(sandbox.path('file'), 'one', fresh, before => ({ after: before, result: 1 }), {
      waitMs: 1000,
    });
    expect(done).toBe(null);
  });

  test('is forgotten alone, also when it is not there or cannot be', () => {
    update();
    writeFileSync(join(directory, 'sessions/two.json'), '{}');
    forgetSession(directory, 'one');
    forgetSession(directory, 'one');
    forgetSession(sandbox.path('nowhere'), 'one');
    expect(readdirSync(join(directory, 'sessions'))).toEqual(['two.json']);
    owe(path, { what: 'call' });
    forgetSession(directory, 'one');
    expect(existsSync(`${path}.owed`)).toBe(false);
    mkdirSync(path);
    forgetSession(directory, 'one');
    expect(existsSync(path)).toBe(true);
  });

  test('stays while another hook has it', () => {
    update();
    writeFileSync(`${path}.lock`, JSON.stringify(ownerOf()));
    forgetSession(directory, 'one');
    expect(existsSync(path)).toBe(true);
  });
});

describe('what is owed', () => {
  test('is a turn or a call, and nothing else', () => {
    owe(path, { what: 'turn', who: 'a' });
    owe(path, { what: 'call' });
    const strange = [{ what: 'turn' }, { what: 'other', who: 'a' }, {}, null];
    for (const [n, one] of strange.entries())
      writeFileSync(join(`${path}.owed`, `${n}.json`), JSON.stringify(one));
    const { counts } = owedCounts(path);
    expect(counts).toHaveLength(2);
    expect(counts).toEqual(expect.arrayContaining([{ what: 'turn', who: 'a' }, { what: 'call' }]));
  });

  test('is settled once it is counted: that, and nothing that came later or is no count', () => {
    owe(path, { what: 'call' });
    writeFileSync(join(`${path}.owed`, 'draft.tmp'), '');
    const { settle } = owedCounts(path);
    owe(path, { what: 'turn', who: 'later' });
    settle();
    settle();
    expect(owedCounts(path).counts).toEqual([{ what: 'turn', who: 'later' }]);
    expect(readdirSync(`${path}.owed`)).toContain('draft.tmp');
    forgetOwed(path);
    expect(existsSync(`${path}.owed`)).toBe(false);
    forgetOwed(path);
  });

  test('is counted a thousand at a time', () => {
    mkdirSync(`${path}.owed`);
    for (let n = 0; n < 1001; n += 1) writeFileSync(join(`${path}.owed`, `${n}.json`), '{"what":"call"}');
    const first = owedCounts(path);
    expect(first.counts).toHaveLength(1000);
    first.settle();
    expect(owedCounts(path).counts).toHaveLength(1);
  });

  test('is nothing where nobody ever had to leave one', () => {
    const none = owedCounts(path);
    none.settle();
    expect(none.counts).toEqual([]);
  });
});
