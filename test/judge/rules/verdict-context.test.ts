import { describe, expect, test } from 'vitest';
import { backgroundJob } from '../../../src/judge/rules/protect.ts';
import {
  ageOf,
  sessionIdOf,
  strangeFilesOf,
  strangeWarning,
  verdictContext,
  zombiesOf,
} from '../../../src/judge/rules/verdict-context.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { session } from '../../support/world.ts';
import { grown, type Member } from './grown.ts';

const built = (members: readonly Member[], around: Partial<Observation> = {}) => {
  const { observation, tree, at } = grown(members, around);
  return { at, world: verdictContext({ observation, tree, config: DEFAULT_CONFIG }) };
};
const self = (pid: number): Partial<Observation> => ({ self: { pid, uid: 1000, pgid: pid, cgroup: null } });
const agent = (pid: number, born: number | null): Member => [pid, 1, 'claude', 'agent', { born }];

describe('a world', () => {
  test('has its running agents in order of age, whatever their pids; of unknown age first', () => {
    const { world } = built([
      agent(100, 5),
      agent(101, 3),
      agent(102, null),
      agent(103, 4),
      agent(104, 1),
      [105, 1, '[claude]', 'agent', { state: 'Z' }],
      [106, 1, 'make', 'other'],
    ]);
    expect(world.agents.map(({ facts }) => facts.pid)).toEqual([102, 104, 101, 103, 100]);
  });

  test('knows the ancestors of reaptop, and of nobody where reaptop is not seen', () => {
    const members: Member[] = [
      [10, 1, 'sshd', 'other'],
      [20, 10, 'bash', 'shell'],
      [30, 20, 'reaptop', 'other'],
    ];
    const pids = (around: Partial<Observation>) =>
      [...built(members, around).world.ownAncestors].map(({ facts }) => facts.pid);
    expect(pids(self(30))).toEqual([20, 10]);
    expect([...built(members, self(99)).world.ownAncestors]).toEqual([]);
    expect([...built(members, { self: null }).world.ownAncestors]).toEqual([]);
  });

  test.each<[string, number | null, number | null]>([
    ['the seconds since its birth', 90, 10],
    ['none before its birth', 110, 0],
    ['unknown with it', null, null],
  ])('an age: %s', (_, born, age) => {
    const { at } = grown([[100, 1, 'x', 'other', { born }]]);
    expect(ageOf(at(100).facts, { clock: 100 })).toBe(age);
  });

  test('owes a wait for the children that have ended, and for no other', () => {
    const { at } = grown([
      [100, 1, 'x', 'other'],
      [101, 100, 'x', 'other'],
      [102, 100, '[x]', 'other', { state: 'Z' }],
      [103, 100, '[x]', 'other', { state: 'X' }],
    ]);
    expect(zombiesOf(at(100)).map(({ facts }) => facts.pid)).toEqual([102, 103]);
  });

  test('a session id: the file’s before the words’, or none', () => {
    const said: Member = [100, 1, 'claude', 'agent', { seen: { sessionIds: ['words'] } }];
    const id = (member: Member, around: Partial<Observation> = {}) => {
      const { world, at } = built([member], around);
      return sessionIdOf(world, at(100));
    };
    expect(id(said, { sessions: [session(100, 'file')] })).toBe('file');
    expect(id(said)).toBe('words');
    expect(id(agent(100, 1))).toBeNull();
  });
});

test.each<[string, string, string | null]>([
  ['of a background session', 'bg', 'j'],
  ['of a session that somebody sits at', 'interactive', null],
])('the job %s', (_, kind, job) => {
  const { world, at } = built([agent(100, 1)], { sessions: [session(100, 'x', { kind, jobId: 'j' })] });
  expect(backgroundJob(at(100), world)).toBe(job);
});

describe('files in a form that we do not know', () => {
  const strange = (member: Member, around: Partial<Observation>): readonly string[] => {
    const { observation, at } = grown([member], around);
    return strangeFilesOf(observation, [at(100)]);
  };
  const claude: Member = [100, 1, 'claude', 'agent', { seen: { agent: 'claude' } }];
  const daemon: Member = [100, 1, 'claude', 'agent', { seen: { agent: 'claude', role: 'claude-daemon' } }];
  const codex: Member = [100, 1, 'codex', 'agent', { seen: { agent: 'codex' } }];
  const of = (pid: number | null): Partial<Observation> => ({ strange: [{ path: '/f', pid }] });

  test.each<[string, Member, Partial<Observation>, boolean]>([
    ['of a running Claude', claude, of(100), true],
    ['of a Claude that is gone', claude, of(101), false],
    ['of a pid that is another agent’s now', codex, of(100), false],
    ['a roster while Claude’s daemon runs', daemon, of(null), true],
    ['a roster while it does not', claude, of(null), false],
    [
      'a session without a start',
      claude,
      { sessions: [session(100, 'x', { procStart: null, path: '/f' })] },
      true,
    ],
    ['a session with one', claude, { sessions: [session(100, 'x')] }, false],
  ])('%s', (_, member, around, counts) => expect(strange(member, around)).toEqual(counts ? ['/f'] : []));

  test('are told in one sentence, or in none', () => {
    const rest =
      ': written by a version of Claude that reaptop does not know; what Claude left running is called suspect at most.';
    expect(strangeWarning([])).toEqual([]);
    expect(strangeWarning(['/a'])).toEqual([`/a${rest}`]);
    expect(strangeWarning(['/a', '/b', '/c'])).toEqual([`/a and 2 more${rest}`]);
  });
});
