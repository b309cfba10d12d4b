import { describe, expect, test } from 'vitest';
import { orchestratedAgents } from '../../../src/judge/heartbeats/orchestrated.ts';
import { indexFiles, lifeOf, vitalsOf } from '../../../src/judge/heartbeats/signs-of-life.ts';
import { NO_PAST } from '../../../src/judge/history.ts';
import { fileThreshold } from '../../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { forestOf } from '../../../src/model/forest.ts';
import type { Reading } from '../../../src/model/heartbeat.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { planFor } from '../plan/sweep-scene.ts';
import {
  agent,
  agentFiles,
  ago,
  file,
  member,
  type Props,
  pane,
  registry,
  sceneOf,
  server,
  TASK,
} from './scene.ts';

const LIMIT = fileThreshold(DEFAULT_CONFIG, 'heartbeat-stale', '/p').leftoverSeconds;
const DIR = '/p/specs/1_a';

/** Why the first of these files is left over; null: it is not. */
const why = (readings: readonly Reading[], props: Omit<Props, 'readings'> = {}): string | null => {
  const { state, reason } = sceneOf({ readings, ...props }).files.joined[0]!;
  return state === 'leftover' ? reason : null;
};
const progress = (age: number, part: Partial<Reading> = {}): Reading =>
  file(`${DIR}/.agent-progress.json`, 'agent-progress', age, part);

describe('a heartbeat that says ended', () => {
  const ENDED = { status: 'ended', terminal: true };
  const live = agent(1100, { facts: { born: 1 } });

  test('is left over when no agent that lives could have written it', () => {
    expect(why([progress(9, ENDED)])).toBe('it says ended');
  });

  test.each<[string, Partial<Reading>]>([
    ['by its place', ENDED],
    ['by its pid', { ...ENDED, pid: 1100 }],
  ])('is not believed while a live agent may use it: %s', (_, part) => {
    const { files } = sceneOf({ readings: [progress(9, part)], processes: [live] });
    expect(files.joined[0]).toMatchObject({
      state: 'fine',
      reason: expect.stringContaining('marked as ended'),
    });
    expect(planFor({ readings: [progress(4000, part)], processes: [live] }).files).toEqual([]);
  });

  test('is believed when it says completed, which only its own agent writes', () => {
    expect(why([progress(9, { status: 'completed', terminal: true })], { processes: [live] })).toBe(
      'it says completed',
    );
  });
});

describe('a file whose task is over', () => {
  const returned = (age: number, part: Partial<Reading> = {}): Reading =>
    file(`${DIR}/.return-meta.json`, 'return-meta', age, { terminal: true, status: 'implemented', ...part });
  const state = (path: string, age: number, updatedAt: number | null = null): Reading =>
    file(path, 'project-state', age, { members: [member('1', 'completed', { updatedAt })] });
  const ONE = { task: '1' };

  test.each<[string, readonly Reading[], string | null]>([
    ['as its return file says', [progress(9), returned(9)], 'its task returned: implemented'],
    ['a minute before its last sign', [progress(0), returned(60)], 'its task returned: implemented'],
    ['earlier: that was another run', [progress(0), returned(60.1)], null],
    ['not yet, by a return file that is not final', [progress(9), returned(9, { terminal: false })], null],
    ['not by another final file', [progress(9), returned(9, { format: 'loop-guard' })], null],
    [
      'not by that of another directory',
      [progress(9), returned(9, { path: '/p/specs/2_b/.return-meta.json' })],
      null,
    ],
    [
      'as the project’s state says',
      [progress(9, ONE), state('/p/specs/state.json', 9)],
      'its task is completed',
    ],
    ['not by the state of another project', [progress(9, ONE), state('/q/specs/state.json', 9)], null],
    [
      'not when the state speaks of another task',
      [progress(9, { task: '2' }), state('/p/specs/state.json', 9)],
      null,
    ],
    [
      'by a state a minute older',
      [progress(0, ONE), state('/p/specs/state.json', 60)],
      'its task is completed',
    ],
    ['not by an older one', [progress(0, ONE), state('/p/specs/state.json', 60.1)], null],
    [
      'not by an older word in a newer state',
      [progress(0, ONE), state('/p/specs/state.json', 0, ago(61))],
      null,
    ],
    ['a guard is most wanted right then', [file(`${DIR}/.loop-guard`, 'loop-guard', 9), returned(9)], null],
    ['as is a workflow', [file(`${DIR}/workflow.json`, 'workflow', 9), returned(9)], null],
  ])('%s', (_, readings, expected) => expect(why(readings)).toBe(expected));

  test.each<[string, Reading, string | null]>([
    ['it says so', progress(9, { terminal: true, status: 'done' }), 'it says done'],
    ['by its operation', progress(9, { terminal: true, operation: 'finished' }), 'it says finished'],
    [
      'a marker says so in vain',
      file(`${DIR}/m`, 'postflight-marker', 9, { terminal: true, status: 'x' }),
      null,
    ],
    ['a workflow, too', file(`${DIR}/w`, 'workflow', 9, { terminal: true, status: 'x' }), null],
    ['it is not final', progress(9, { status: 'done' }), null],
  ])('%s', (_, reading, expected) => expect(why([reading])).toBe(expected));
});

describe('a file that nobody speaks for', () => {
  const LONG = /^no agent belongs to it/;
  const stream = (age: number): Reading[] => agentFiles('a', age, false);
  const away = { facts: { details: null } };

  test.each<[string, () => string | null, boolean]>([
    ['for long', () => why([progress(LIMIT)]), true],
    ['not for long enough', () => why([progress(LIMIT - 1)]), false],
    ['whose times lie ahead', () => why([progress(-LIMIT)]), false],
    [
      'while an agent may',
      () => why([progress(LIMIT)], { processes: [agent(10, { ageSeconds: LIMIT })] }),
      false,
    ],
    [
      'a marker is never left over by its age',
      () => why([file(`${DIR}/m`, 'postflight-marker', LIMIT)]),
      false,
    ],
    ['of an orchestrated agent', () => why(stream(LIMIT)), true],
    [
      'while another of its files changes',
      () => why([...stream(LIMIT), ...stream(LIMIT - 1).slice(1, 2)]),
      false,
    ],
    ['while its pane is there', () => why(stream(LIMIT), { tmux: [server([pane('agent_a')])] }), false],
    [
      'while its pane is dead',
      () => why(stream(LIMIT), { tmux: [server([pane('agent_a', { dead: true })])] }),
      true,
    ],
    ['while a tmux server is silent', () => why(stream(LIMIT), { tmux: [server([], false)] }), false],
    [
      'while its process runs, though in no pane',
      () =>
        why([...stream(LIMIT), registry(member('a', 'running', { pid: 10 }))], {
          processes: [agent(10, { ...away, isSession: false })],
        }),
      false,
    ],
    [
      'while something runs in its tmux session',
      () =>
        why(stream(LIMIT), {
          processes: [
            agent(10, { ...away, isSession: false, tmux: { socket: '/s', session: 'agent_a', pane: '%1' } }),
          ],
        }),
      false,
    ],
  ])('%s', (_, reason, left) => (left ? expect(reason()).toMatch(LONG) : expect(reason()).toBeNull()));
});

describe('an orchestrated agent', () => {
  const found = (readings: readonly Reading[], processes: readonly JudgedProcess[] = []) =>
    orchestratedAgents(sceneOf({ readings, processes }).files.joined, processes, []);
  const one = (format: 'stream-log' | 'progress-log', part: Partial<Reading>): Reading =>
    file(`${TASK}/logs/a.jsonl`, format, 9, { agentId: 'a', ...part });

  test.each<[string, readonly Reading[], string | null]>([
    [
      'by its stream',
      [one('stream-log', { terminal: true, status: 'success' })],
      'its stream log ends with a result (success)',
    ],
    [
      'by its own word',
      [one('progress-log', { terminal: true, status: 'completed' })],
      'its progress file says completed',
    ],
    [
      'by its own word without a name',
      [one('progress-log', { terminal: true })],
      'its progress file says done',
    ],
    ['by the registry', [registry(member('a', 'completed'))], 'the registry says completed'],
    [
      'by the registry without a name',
      [registry({ ...member('a', 'completed'), status: null })],
      'the registry says finished',
    ],
    ['not while it works', [one('stream-log', {}), registry(member('a', 'running'))], null],
  ])('is finished %s', (_, readings, finished) => expect(found(readings)[0]?.finished).toBe(finished));

  test('is quiet since the newest of its files, and unknown without a time', () => {
    expect(found([...agentFiles('a', 50, false), ...agentFiles('a', 20, false)])[0]?.quietSeconds).toBe(20);
    expect(found([...agentFiles('a', 50, false), ...agentFiles('a', -20, false)])[0]?.quietSeconds).toBe(50);
    expect(found(agentFiles('a', -20, false))[0]?.quietSeconds).toBeNull();
    expect(found([registry(member('a', 'running'))])[0]?.quietSeconds).toBeNull();
  });

  test('is spoken of by the files of its task alone', () => {
    expect(found([progress(9, { agentId: 'a' })])).toEqual([]);
    expect(found(agentFiles('a', 9, false)).map(({ id, registry: known }) => [id, known])).toEqual([
      ['a', null],
    ]);
  });

  test('has its processes in the order of the table, each once', () => {
    const inPane = { tmux: { socket: '/s', session: 'agent_a', pane: '%1' } };
    const processes = [agent(13), agent(12, inPane), agent(11, inPane), agent(10)];
    const readings = [one('stream-log', { pid: 13 }), registry(member('a', 'running', { pid: 11 }))];
    expect(found(readings, processes)[0]?.processes.map(({ facts }) => facts.pid)).toEqual([13, 12, 11]);
    const none = [one('stream-log', {}), registry(member('a', 'running'))];
    expect(found(none, [agent(10)])[0]?.processes).toEqual([]);
  });
});

describe('the signs of life of an agent', () => {
  test.each<[number | null, number | null, string]>([
    [9, null, 'moving'],
    [10, null, 'unknown'],
    [null, null, 'unknown'],
    [10, 10, 'still'],
    [10, 9, 'moving'],
    [null, 10, 'still'],
    [null, 9, 'moving'],
  ])('a beat %s and CPU %s seconds ago, of ten: %s', (beatSeconds, cpuSeconds, life) =>
    expect(lifeOf({ beatSeconds, cpuSeconds }, 10)).toBe(life),
  );

  const vitals = (
    readings: readonly Reading[],
    cpu: readonly number[],
    quiet: readonly (number | null)[],
  ) => {
    const processes = cpu.map((used, n) =>
      agent(10 + n, {
        isSession: n === 0,
        facts: { ppid: n === 0 ? 1 : 10, cpu: used, details: agent(9).facts.details },
      }),
    );
    const { joined } = sceneOf({ readings, processes }).files;
    const past = { ...NO_PAST, quietSeconds: (key: string) => quiet[Number.parseInt(key, 10) - 10] ?? null };
    return vitalsOf(
      indexFiles(joined),
      forestOf(processes, p => p.facts),
      past,
    )(processes[0]!);
  };

  test.each<[string, readonly number[], readonly (number | null)[], number | null]>([
    ['one per cent is work', [1], [50], 0],
    ['less is none', [0.9], [50], 50],
    ['below it, too', [0, 2], [50, 50], 0],
    ['the last of all to work', [0, 0], [50, 20], 20],
    ['one of them unknown', [0, 0], [50, null], null],
  ])('CPU: %s', (_, cpu, quiet, expected) => expect(vitals([], cpu, quiet).cpuSeconds).toBe(expected));

  test.each<[string, readonly Reading[], number | null]>([
    ['none', [], null],
    ['the newest first', [progress(5), progress(9)], 5],
    ['the newest last', [progress(9), progress(5)], 5],
    ['whose time lies ahead', [progress(-9)], null],
    ['ahead, and another', [progress(-9), progress(9)], 9],
    ['another, and ahead', [progress(9), progress(-9)], 9],
    ['a lock is no sign', [file(`${DIR}/l`, 'diagnostic-lock', 5)], null],
    ['beside a sign', [progress(9), file(`${DIR}/l`, 'diagnostic-lock', 5)], 9],
  ])('a beat: %s', (_, readings, expected) => expect(vitals(readings, [0], [0]).beatSeconds).toBe(expected));
});
