import { describe, expect, test } from 'vitest';
import { beatOnRow } from '../../../src/judge/heartbeats/judge-files.ts';
import { NO_PAST } from '../../../src/judge/history.ts';
import type { Heartbeat, Reading } from '../../../src/model/heartbeat.ts';
import { agent, agentFiles, ago, file, type Props, sceneOf } from './scene.ts';

const DIR = '/p/specs/688_x';
const progress = (age: number, part: Partial<Reading> = {}): Reading =>
  file(`${DIR}/.agent-progress.json`, 'agent-progress', age, part);
const marker = (age: number): Reading =>
  file(`${DIR}/.postflight-pending`, 'postflight-marker', 1, { createdAt: ago(age) });

const first = (readings: readonly Reading[], more: Partial<Props> = {}) => {
  const { state, reason } = sceneOf({ readings, ...more }).files.joined[0]!;
  return [state, reason];
};

const processes = [agent(7)];
const past = { ...NO_PAST, quietSeconds: () => 600 };
const PENDING = 'the work after the subagent has been pending for';

describe('a marker', () => {
  test.each<[string, number, Partial<Props>, string, string | null]>([
    ['that is young', 89, {}, 'fine', null],
    ['whose creation lies ahead', -9, { processes, past }, 'fine', null],
    ['while its agent may move', 100, { processes }, 'fine', `${PENDING} 1m`],
    ['that is old, too, while its agent may move', 200, { processes }, 'fine', `${PENDING} 3m`],
    ['of nobody', 100, {}, 'warn', `${PENDING} 1m, and no agent is running`],
    [
      'of an agent that stands still',
      200,
      { processes, past },
      'critical',
      `${PENDING} 3m, and its agent has done nothing for 3m`,
    ],
  ])('%s', (_, age, more, state, reason) => expect(first([marker(age)], more)).toEqual([state, reason]));

  test('is unreadable when its times are in the future', () =>
    expect(first([file(`${DIR}/m`, 'postflight-marker', -9)])).toEqual([
      'unreadable',
      'its times are in the future',
    ]));
});

describe('a progress log', () => {
  const [stream, log] = agentFiles('a', 400, false) as [Reading, Reading];
  const grown = (age: number): Reading => ({ ...stream, mtime: ago(age) });
  const OLD = ['critical', 'no heartbeat for 6m'];

  test.each<[string, readonly Reading[], readonly (string | null)[]]>([
    ['with a stream log that grows', [log, grown(89)], ['fine', null]],
    ['with one that does not any more', [log, grown(90)], OLD],
    ['with one whose time lies ahead', [log, grown(-9)], OLD],
    ['alone', [log], OLD],
    ['of no task of an orchestrator', [{ ...log, path: '/p/x/a_progress.jsonl' }], OLD],
  ])('%s', (_, readings, expected) => expect(first(readings)).toEqual(expected));
});

test('a file that cannot be read and has no time is told to be unreadable, once', () =>
  expect(first([progress(-3600, { unreadable: 'empty' })])).toEqual(['unreadable', 'unreadable: empty']));

describe('the heartbeats', () => {
  const at = (n: number, age: number): Reading => ({ ...progress(age), path: `/p/specs/${n}_x/p.json` });

  test('come worst first', () => {
    const ages = [5, 200, -3600, 100].map((age, n) => at(n, age));
    expect(sceneOf({ readings: ages }).heartbeats.map(({ state }) => state)).toEqual([
      'critical',
      'warn',
      'unreadable',
      'fine',
    ]);
  });

  test('name their task, or the agent that it was given to', () => {
    const task = (part: Partial<Reading>) => sceneOf({ readings: [progress(5, part)] }).heartbeats[0]?.task;
    expect(task({ task: '688', agentId: 'a' })).toBe('688');
    expect(task({ agentId: 'a' })).toBe('a');
    expect(task({ task: '688' })).toBe('688');
  });

  test('without an agent, or left over, are on no row; of two equal ones the first is shown', () => {
    const rows = (readings: readonly Reading[], more: Partial<Props> = { processes }): Heartbeat[] => [
      ...beatOnRow(sceneOf({ readings, ...more }).heartbeats).values(),
    ];
    expect(rows([progress(200)], {})).toEqual([]);
    expect(rows([progress(9)])).toHaveLength(1);
    expect(rows([progress(9, { terminal: true, status: 'completed' })])).toEqual([]);
    expect(rows([at(1, 200), at(2, 200)]).map(({ path }) => path)).toEqual(['/p/specs/1_x/p.json']);
  });
});
