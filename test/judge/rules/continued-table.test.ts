import { describe, expect, it } from 'vitest';
import { Lineage } from '../../../src/judge/rules/lineage.ts';
import { continuedSessions } from '../../../src/judge/rules/verdict-context.ts';
import type { ClaudeSession, ClaudeWorker } from '../../../src/model/observation.ts';
import { type Row, remembered, session, world, ZOMBIE } from '../../support/world.ts';

const LOGIN = 80_001;
const OLD = '9c33ca78-1244-4e57-8cc8-184e144261c7';
const FORK: Row = [6000, LOGIN, `claude --resume ${OLD} --fork-session`];
const SHELL = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: OLD, CLAUDE_PID: '500' };
const LEFT: Row = [5000, 1, '/bin/bash -c sleep', { env: SHELL }];

/** Who goes on for whom on a machine of these rows. */
const on = (
  rows: readonly Row[],
  workers: readonly Pick<ClaudeWorker, 'processes' | 'forkedFrom'>[] = [],
  sessions: readonly ClaudeSession[] = [],
) => {
  const { tree } = world(rows);
  const agents = tree.nodes.filter(node => node.kind === 'agent');
  const continued = continuedSessions(
    tree,
    agents,
    workers as readonly ClaudeWorker[],
    agent => sessions.find(known => known.pid === agent.facts.pid) ?? null,
  );
  const pidOf = (node: { facts: { pid: number } } | null) => node?.facts.pid ?? null;
  return {
    adopter: (id: string) => pidOf(continued.adopterOf(id)),
    successor: (pid: number) => pidOf(continued.successorOf(pid)),
  };
};

describe('who took a session over', () => {
  const SPARE: Row = [6100, LOGIN, 'claude'];
  const worker = (...pids: number[]) => ({
    processes: pids.map(pid => ({ pid, start: `${pid}00` })),
    forkedFrom: OLD,
  });

  it('is the first of a record’s processes that runs', () => {
    const zombie: Row = [6050, LOGIN, '[claude]', ZOMBIE];
    expect(on([SPARE, zombie], [worker(9999, 6050, 6100)]).adopter(OLD)).toBe(6100);
    expect(on([SPARE, zombie], [worker(9999, 6050)]).adopter(OLD)).toBeNull();
  });

  it('is not forgotten for a record whose processes are gone', () => {
    expect(on([FORK], [worker(9999)]).adopter(OLD)).toBe(6000);
  });

  it('goes on for the process that its shells name, unless that runs or is itself', () => {
    expect(on([FORK, LEFT]).successor(500)).toBe(6000);
    expect(on([LEFT]).successor(500)).toBeNull();
    expect(on([[500, LOGIN, 'claude'], FORK, LEFT]).successor(500)).toBeNull();
    const self: Row = [6000, LOGIN, FORK[2], { env: { ...SHELL, CLAUDE_PID: '501' } }];
    expect(on([self]).successor(501)).toBeNull();
  });

  it('is known by the output that it reads, too, and then goes on for every id of that shell', () => {
    const OUTPUT = '/tmp/x.output';
    const shell: Row = [5000, 1, '/bin/bash -c sleep', { env: SHELL, details: { output: OUTPUT } }];
    const other: Row = [5001, 1, 'sleep 1', { env: SHELL, details: null }];
    const reading = [session(6100, 'new', { adoptedOutputs: [OUTPUT] })];
    const found = on([SPARE, shell, other], [], reading);
    expect([found.successor(500), found.adopter(OLD)]).toEqual([6100, 6100]);
    const silent = on([SPARE, other], [], reading);
    expect([silent.successor(500), silent.adopter(OLD)]).toEqual([null, null]);
  });

  it('by one id is not known by another that the same shell carries', () => {
    const both: Row = [5000, 1, 'sleep 1', { env: { ...SHELL, CODEX_THREAD_ID: 'thread' } }];
    const found = on([FORK, both]);
    expect([found.adopter('thread'), found.successor(500)]).toEqual([null, 6000]);
    const swapped = { ...SHELL, CLAUDE_CODE_SESSION_ID: 'unknown', CODEX_THREAD_ID: OLD };
    expect(on([FORK, [5000, 1, 'sleep 1', { env: swapped }]]).successor(500)).toBe(6000);
  });
});

describe('the members of an agent’s tree, by the ledger', () => {
  const entry = (owner: string, parent: string | null) => ({ owner, sessionId: null, parent });

  it('are those that it owned, and those whose line leads to it; a circle leads nowhere', () => {
    const lineage = new Lineage();
    lineage.adopt([
      ['1:1', entry('1:1', null)],
      ['2:2', entry('1:1', null)],
      ['3:3', entry('9:9', '1:1')],
      ['4:4', entry('9:9', '3:3')],
      ['5:5', entry('9:9', null)],
      ['6:6', entry('9:9', '7:7')],
      ['7:7', entry('9:9', '6:6')],
      ['8:8', entry('9:9', 'gone:1')],
    ]);
    expect(lineage.membersOf('1:1')).toEqual(['2:2', '3:3', '4:4']);
    expect(lineage.membersOf('7:7')).toEqual(['6:6']);
  });

  it('keep the session that they were first seen in', () => {
    const rows: Row[] = [
      [1000, LOGIN, 'claude'],
      [1001, 1000, 'yes'],
    ];
    const look = (id: string) => world(rows, { sessions: [session(1000, id)] });
    expect(remembered(look('first'), look('second')).entryOf('1001:100100')?.sessionId).toBe('first');
  });

  it('are known below a daemon only when it has a session', () => {
    const rows: Row[] = [
      [6000, 1, 'claude bg-spare'],
      [6001, 6000, 'yes'],
    ];
    expect(remembered(world(rows)).entryOf('6001:600100')).toBeUndefined();
    const claimed = world(rows, { sessions: [session(6000, 'mine')] });
    expect(remembered(claimed).entryOf('6001:600100')).toMatchObject({ sessionId: 'mine' });
  });
});

describe('what an environment says of its owner', () => {
  const why = (env: Record<string, string>, ...rows: readonly Row[]) =>
    world([...rows, [5000, 1, 'java', { env }]]).at(5000);

  it('names a session by the first of its letters, or an agent by its pid', () => {
    expect(why({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: OLD }).why.join()).toMatch(
      /session 9c33ca78, which/,
    );
    expect(why({ CLAUDECODE: '1', CLAUDE_PID: '77' }).why.join()).toContain(
      'started by claude 77, which has ended',
    );
  });

  it('may be of any agent that runs when it names none', () => {
    const found = why({ CLAUDECODE: '1' }, [1000, LOGIN, 'claude']);
    expect(found.owner).toMatchObject({ how: 'environ', alive: true, pid: null });
  });

  it('is no inheritance of a parent that is a program like others', () => {
    const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: OLD, CLAUDE_PID: '77' };
    const { verdict } = world([
      [4000, 1, 'python work.py', { env }],
      [5000, 4000, 'java', { env }],
    ]);
    expect([4000, 5000].map(verdict)).toEqual(['leak', 'leak']);
  });
});
