import { describe, expect, test } from 'vitest';
import {
  ageOfReading,
  joinReadings,
  lastSign,
  projectOfReading,
  youngest,
} from '../../../src/judge/heartbeats/join.ts';
import type { Reading } from '../../../src/model/heartbeat.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { session } from '../../support/world.ts';
import { invent } from '../plan/machine.ts';
import { agent, ago, file, NOW, TASK } from './scene.ts';

describe('the last sign of a file', () => {
  const sign = (mtime: number, updatedAt: number | null, part: Partial<Reading> = {}): number | null =>
    lastSign(
      file('/p/x', 'user', 0, {
        mtime: NOW + mtime,
        updatedAt: updatedAt === null ? null : NOW + updatedAt,
        ...part,
      }),
      NOW,
    );

  test.each<[string, () => number | null, number | null]>([
    ['the newer of two: the written', () => sign(-10, -20), NOW - 10],
    ['the newer of two: the stated', () => sign(-20, -10), NOW - 10],
    ['the written alone', () => sign(-10, null), NOW - 10],
    ['a little ahead is now', () => sign(2000, null), NOW],
    ['further ahead is no time', () => sign(2001, null), null],
    ['a stated time far ahead does not count', () => sign(-10, 2001), NOW - 10],
    ['a written time far ahead does not count', () => sign(2001, -10), NOW - 10],
    ['what another wrote does not count', () => sign(-10, -20, { foreignWrite: true }), NOW - 20],
    ['nor alone', () => sign(-10, null, { foreignWrite: true }), null],
  ])('%s', (_, found, expected) => expect(found()).toBe(expected));

  test('before 1970 is a time, too', () => {
    const old = file('/p/x', 'user', 0, { mtime: -5000 });
    expect(lastSign(old, NOW)).toBe(-5000);
    expect(lastSign({ ...old, mtime: NOW * 2, updatedAt: -5000 }, NOW)).toBe(-5000);
    expect(ageOfReading(old, NOW)).toBe(NOW / 1000 + 5);
  });
});

describe('the project of a file', () => {
  test.each<[string, Reading, string]>([
    ['that the user named: its root', file('/p/specs/x', 'user', 1, { root: '/p/specs' }), '/p/specs'],
    ['a registry that states it', file('/p/workspaces/TASK-1/R', 'registry', 1, { cwd: '/q' }), '/q'],
    ['a registry that does not', file('/p/workspaces/TASK-1/R', 'registry', 1), '/p'],
    ['another that names a directory', file('/p/specs/1_a/x', 'agent-progress', 1, { cwd: '/q' }), '/p'],
    ['the outermost of several', file('/p/specs/.claude/x', 'agent-progress', 1), '/p'],
    ['in none of the known places: its own', file('/p/notes/x', 'agent-progress', 1), '/p/notes'],
    ['of a name with a line break', file('/p\n/q/specs/1/x', 'agent-progress', 1), '/p\n/q/specs/1'],
  ])('%s', (_, reading, project) => expect(projectOfReading(reading)).toBe(project));
});

describe('whom a file speaks of', () => {
  const HERE = '/p/specs/1_a/.agent-progress.json';
  const at = (cwd: string | null) => ({
    details:
      cwd === null
        ? null
        : {
            cwd,
            swap: 0,
            cgroup: null,
            stdin: 'tty' as const,
            lostTerminal: false,
            ignoresHangup: false,
            io: 0,
            listening: { ports: [], clients: 0 },
            uses: [],
          },
  });
  const whom = (
    reading: Reading,
    processes: readonly JudgedProcess[],
    sessions: Parameters<typeof joinReadings>[0]['sessions'] = [],
  ): [string | null, ...number[]] => {
    const [joined] = joinReadings({ readings: [reading], processes, sessions, now: NOW });
    return [joined!.how, ...joined!.candidates.map(({ facts }) => facts.pid)];
  };
  const progress = (age: number, part: Partial<Reading> = {}): Reading =>
    file(HERE, 'agent-progress', age, part);

  test.each<[string, () => [string | null, ...number[]], [string | null, ...number[]]]>([
    [
      'its pid says most',
      () =>
        whom(progress(9, { pid: 10, sessionId: 'x' }), [
          agent(10),
          agent(11, { seen: { sessionIds: ['x'] } }),
        ]),
      ['pid', 10],
    ],
    [
      'a session in the words',
      () => whom(progress(9, { sessionId: 'x' }), [agent(10, { seen: { sessionIds: ['x'] } }), agent(11)]),
      ['session', 10],
    ],
    [
      'a session in a file',
      () =>
        whom(
          progress(9, { sessionId: 'x' }),
          [agent(10), agent(11)],
          [session(11, 'x', { procStart: 's11' })],
        ),
      ['session', 11],
    ],
    [
      'a session in a file, by the number that the agent has for itself',
      () =>
        whom(
          progress(9, { sessionId: 'x' }),
          [agent(10), agent(11, { facts: { details: { ...at('/q').details!, innerPid: 2 } } })],
          [session(2, 'x', { procStart: 's11' })],
        ),
      ['session', 11],
    ],
    [
      'a session file of an earlier process',
      () => whom(progress(9, { sessionId: 'x' }), [agent(11, { facts: at('/q') })], [session(11, 'x')]),
      [null],
    ],
    [
      'no session is called undefined',
      () =>
        whom(progress(9, { sessionId: undefined as unknown as string }), [agent(11, { facts: at('/q') })]),
      [null],
    ],
    ['its place, when the agent may have written it', () => whom(progress(9), [agent(10)]), ['path', 10]],
    [
      'an agent five seconds younger than the file',
      () => whom(progress(105), [agent(10, { ageSeconds: 100 })]),
      ['path', 10],
    ],
    ['a younger one', () => whom(progress(106), [agent(10, { ageSeconds: 100 })]), [null]],
    ['one of unknown age', () => whom(progress(106), [agent(10, { ageSeconds: null })]), ['path', 10]],
    ['a file of unknown age', () => whom(progress(-100), [agent(10, { ageSeconds: 1 })]), ['path', 10]],
    [
      'a file of unknown age and an agent that starts later',
      () => whom(progress(-100), [agent(10, { ageSeconds: -9 })]),
      ['path', 10],
    ],
    ['below the project', () => whom(progress(9), [agent(10, { facts: at('/p/src') })]), ['path', 10]],
    ['beside the project', () => whom(progress(9), [agent(10, { facts: at('/pq') })]), [null]],
    ['nobody knows where', () => whom(progress(9), [agent(10, { facts: at(null) })]), [null]],
    ['one that is no session', () => whom(progress(9), [agent(10, { isSession: false })]), [null]],
    [
      'a log of one agent is not tied by its place',
      () => whom(file(`${TASK}/logs/a_stream.jsonl`, 'stream-log', 9), [agent(10)]),
      [null],
    ],
  ])('%s', (_, found, expected) => expect(found()).toEqual(expected));

  const tmux = (name: string) => ({ tmux: { socket: '/s', session: name, pane: '%1' } });
  test.each<[string, Partial<Reading>, string, [string | null, ...number[]]]>([
    ['the tmux session it names', { tmuxSession: 'work' }, 'work', ['tmux', 10]],
    ['the one of its agent’s name', { agentId: 'a' }, 'agent_a', ['tmux', 10]],
    ['that it names before that of its agent', { agentId: 'a', tmuxSession: 'work' }, 'agent_a', [null]],
    ['no agent has no session', {}, 'agent_null', [null]],
  ])('%s', (_, part, name, expected) => {
    const stream = file(`${TASK}/logs/a_stream.jsonl`, 'stream-log', 9, part);
    expect(whom(stream, [agent(10, tmux(name))])).toEqual(expected);
  });

  const owned = (env: object | null, owner: object | null): JudgedProcess =>
    invent(20, 10, {
      owner: owner as JudgedProcess['owner'],
      facts: { env: env as JudgedProcess['facts']['env'] },
    });
  const ENV = { CLAUDE_CODE_SESSION_ID: 'x' };
  const OWNER = { pid: 10, start: 's10', sessionId: null, how: 'ancestor', alive: true };
  test.each<[string, object | null, object | null, [string | null, ...number[]]]>([
    ['a child of the agent that carries its session', ENV, OWNER, ['environ', 10]],
    ['a child that carries another', { CLAUDE_CODE_SESSION_ID: 'y' }, OWNER, [null]],
    ['a child whose environment is unknown', null, OWNER, [null]],
    ['a child without an owner', ENV, null, [null]],
    ['a child whose owner is dead', ENV, { ...OWNER, alive: false }, [null]],
    ['a child whose owner has no pid', ENV, { ...OWNER, pid: null }, [null]],
    ['a child whose owner is not there', ENV, { ...OWNER, pid: 12 }, [null]],
    ['a child whose owner’s pid is another’s now', ENV, { ...OWNER, start: 's9' }, [null]],
  ])('%s', (_, env, owner, expected) => {
    expect(
      whom(progress(9, { sessionId: 'x' }), [agent(10, { facts: at('/q') }), owned(env, owner)]),
    ).toEqual(expected);
  });
});

test.each<[string, (number | null)[], number | null]>([
  ['nobody', [], null],
  ['the youngest first', [5, 9], 0],
  ['the youngest last', [9, 5], 1],
  ['in the middle', [9, 5, 7], 1],
  ['the first of equals', [5, 5], 0],
  ['an unknown age is the oldest', [null, 5], 1],
  ['wherever it stands', [5, null], 0],
  ['the first of unknowns', [null, null], 0],
])('the youngest agent: %s', (_, ages, index) => {
  const agents = ages.map((ageSeconds, n) => agent(10 + n, { ageSeconds }));
  expect(youngest(agents)).toBe(index === null ? null : agents[index]);
});

test('a time that lies ahead gives a file no age', () => {
  expect(ageOfReading(file('/p/x', 'user', 0, { mtime: ago(-10) }), NOW)).toBeNull();
});
