import { describe, expect, it } from 'vitest';
import { judge } from '../../../src/judge/judge.ts';
import { growTree } from '../../../src/judge/rules/tree.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { keyOf } from '../../../src/model/identity.ts';
import { type Row, remembered, session, tmux, UNREADABLE, world, ZOMBIE } from '../../support/world.ts';

const AGENT: Row = [1000, 80_001, 'claude'];
const before = world([AGENT, [1001, 1000, 'sh -c yes'], [1002, 1001, 'yes']], {
  sessions: [session(1000, 'first')],
});

describe('what was once seen below an agent', () => {
  it('is leaked when it was adopted after the agent ended, and says how we know', () => {
    const { at } = world([[1002, 1, 'yes']], { lineage: remembered(before) });
    expect(at(1002)).toMatchObject({
      verdict: 'leak',
      related: true,
      owner: { pid: 1000, start: '100000', sessionId: 'first', how: 'lineage', alive: false },
    });
  });

  it('names the session, the project and the pid it was a child of', () => {
    const { at } = world([[1002, 1, 'yes']], { lineage: remembered(before) });
    expect(at(1002).why[0]).toBe('child of Claude session first in project (pid 1000), which has ended');
    expect(at(1002).owner?.project).toBe('project');
  });

  it('names what an agent said of itself later, and what little is known of others', () => {
    const early = world([AGENT, [1002, 1000, 'yes']]);
    const lineage = remembered(early);
    lineage.record(early.tree, () => 'later-than-that');
    expect(world([[1002, 1, 'yes']], { lineage }).at(1002).why[0]).toBe(
      'child of Claude session later-th in project (pid 1000), which has ended',
    );
    const nameless = remembered(before);
    const bare = { owner: '1000:100000', sessionId: null, parent: null };
    nameless.adopt([['1003:100300', bare]]);
    const judged = world([[1003, 1, 'yes']], { lineage: nameless });
    expect(judged.at(1003).why[0]).toBe('child of process 1000, which has ended');
  });

  it('is live when it detached itself from an agent that still runs', () => {
    const { at } = world([AGENT, [1002, 1, 'yes']], { lineage: remembered(before) });
    expect(at(1002)).toMatchObject({ verdict: 'live', owner: { pid: 1000, how: 'lineage', alive: true } });
  });

  it.each<[string, Row]>([
    ['recycled', [1000, 80_001, 'claude', { start: '777' }]],
    ['a zombie', [1000, 80_001, '[claude]', ZOMBIE]],
  ])('is leaked when the agent’s pid is %s', (_, row) => {
    expect(world([row, [1002, 1, 'yes']], { lineage: remembered(before) }).verdict(1002)).toBe('leak');
  });

  it('is only suspect when the agent can no longer be read', () => {
    const rows: Row[] = [
      [1000, 80_001, '?', UNREADABLE],
      [1002, 1, 'yes'],
    ];
    expect(world(rows, { lineage: remembered(before) }).verdict(1002)).toBe('suspect');
  });

  it('is live in a tmux pane, whatever the ledger says', () => {
    const rows: Row[] = [
      [600, 1, 'tmux', { comm: 'tmux: server', born: 6 }],
      [1002, 600, 'yes'],
    ];
    const judged = world(rows, { lineage: remembered(before), tmux: [tmux(600, [1002])] });
    expect(judged.verdict(1002)).toBe('live');
  });

  it('is suspect below a parent we do not know', () => {
    const rows: Row[] = [
      [500, 1, '/opt/subreaper'],
      [1002, 500, 'yes'],
    ];
    expect(world(rows, { lineage: remembered(before) }).verdict(1002)).toBe('suspect');
  });

  it('is not confused with a new process of the same pid', () => {
    const { at } = world([[1002, 1, 'yes', { start: '888' }]], { lineage: remembered(before) });
    expect(at(1002)).toMatchObject({ verdict: 'unknown', owner: null });
  });
});

describe('the ledger', () => {
  it('forgets what has ended, but keeps the links of a chain', () => {
    const gap = world([[1002, 1, 'yes']]);
    const lineage = remembered(before, gap);
    expect([...lineage.entries().keys()].sort()).toEqual(
      [...[1001, 1002].map(pid => `${pid}:${pid}00`)].sort(),
    );
    expect(remembered(before, gap, world([])).entries().size).toBe(0);
  });

  it('finds the reparented members of a subtree', () => {
    const lineage = remembered(before, world([[1002, 1, 'yes']]));
    expect(lineage.membersOf('1000:100000')).toEqual(['1001:100100', '1002:100200']);
    expect(lineage.membersOf('1001:100100')).toEqual(['1002:100200']);
  });

  it('records the nearest agent and what cannot be read not at all', () => {
    const nested = world([
      AGENT,
      [1100, 1000, 'codex exec x'],
      [1101, 1100, 'yes'],
      [1102, 1100, '?', UNREADABLE],
    ]);
    const lineage = remembered(nested);
    expect(lineage.entryOf(keyOf(nested.at(1101).facts))?.owner).toBe('1100:110000');
    expect(lineage.entryOf('1102:0')).toBeUndefined();
  });

  it('takes what guard recorded, without overruling what it saw itself', () => {
    const lineage = remembered(before);
    const foreign = { owner: '1:1', sessionId: null, parent: null };
    lineage.adopt([
      ['1002:100200', foreign],
      ['7:7', foreign],
    ]);
    expect(lineage.entryOf('1002:100200')?.owner).toBe('1000:100000');
    expect(lineage.entryOf('7:7')).toEqual(foreign);
  });

  it('keeps a circle that somebody wrote into it while one of it runs, and does not walk round it forever', () => {
    const lineage = remembered();
    const entry = (parent: string) => ({ owner: '1:1', sessionId: null, parent });
    const circle = [
      ['1002:100200', entry('7:7')],
      ['7:7', entry('1002:100200')],
    ] as const;
    lineage.adopt([...circle, ['8:8', entry('8:8')]]);
    lineage.record(world([[1002, 1, 'yes']]).tree, () => null);
    expect([...lineage.entries()]).toEqual(circle);
  });

  it('believes no line that calls a process its own owner', () => {
    const lost: Row = [1000, 1, 'claude', { details: { lostTerminal: true }, env: { CLAUDE_PID: '900' } }];
    const lineage = remembered();
    lineage.adopt([['1000:100000', { owner: '1000:100000', sessionId: null, parent: null }]]);
    expect(world([[900, 80_001, 'claude'], lost], { lineage }).verdict(1000)).toBe('live');
  });
});

describe('an agent that a program runs through its SDK', () => {
  /** Who is remembered as the host of an agent with this entry point below this program. */
  const hostOf = (entry: string | null, ...above: readonly Row[]): string | undefined => {
    const parent = above.at(-1)?.[0] ?? 1;
    const env = entry === null ? null : { CLAUDE_CODE_ENTRYPOINT: entry };
    const seen = world([...above, [1300, parent, 'claude -p work', { env }]]);
    return remembered(seen).entryOf('1300:130000')?.owner;
  };
  const APP: Row = [1200, 80_001, 'python app.py'];

  it.each(['sdk-py', 'sdk-ts', 'sdk-client'])('is that program’s: %s', entry => {
    expect(hostOf(entry, APP)).toBe('1200:120000');
    expect(hostOf(entry, APP, [1210, 1200, '/bin/bash -c claude'])).toBe('1200:120000');
  });

  it.each(['sdk-cli', 'cli', 'my-sdk-py', null])('is nobody’s when it says %s', entry => {
    expect(hostOf(entry, APP)).toBeUndefined();
  });

  it.each<[string, Row]>([
    ['takes in orphans', [1200, 1, 'tini -- app', { comm: 'tini' }]],
    ['is an editor', [1200, 80_001, '/usr/bin/vim']],
    ['is a server', [1200, 80_001, 'node /opt/mcp-server-github']],
    ['cannot be read', [1200, 80_001, '?', UNREADABLE]],
  ])('is not that of a parent that %s', (_, row) => {
    expect(hostOf('sdk-py', row)).toBeUndefined();
  });

  it('is nobody’s when the table does not show its parent', () => {
    const env = { CLAUDE_CODE_ENTRYPOINT: 'sdk-py' };
    expect(remembered(world([[1300, 1200, 'claude -p work', { env }]])).entries().size).toBe(0);
  });

  it('is not PID 1’s, nor is anything but an agent hosted', () => {
    expect(hostOf('sdk-py')).toBeUndefined();
    expect(hostOf('sdk-py', [1, 0, 'python app.py'])).toBeUndefined();
    const env = { CLAUDE_CODE_ENTRYPOINT: 'sdk-py' };
    const seen = world([APP, [1300, 1200, 'sleep 600', { env }]]);
    expect(remembered(seen).entries().size).toBe(0);
  });
});

it('an owner that runs under another name is alive, though nothing connects it to an agent any more', () => {
  const before = world([
    [500, 80_001, 'claude'],
    [5000, 500, 'java'],
  ]);
  const lineage = remembered(before);
  const now = world(
    [
      [500, 80_001, 'renamed'],
      [5000, 1, 'java'],
    ],
    { lineage },
  );
  // The rest of the machine is left out of the tree, as it is while it stays the same.
  const processes = now.observation.processes.filter(({ pid }) => pid !== 500);
  const tree = growTree({ ...now.observation, processes }, facts => now.node(facts.pid).seen);
  const verdictIn = (observation: typeof now.observation): string | undefined =>
    judge({ observation, tree, config: DEFAULT_CONFIG, lineage }).processes.find(p => p.facts.pid === 5000)
      ?.verdict;
  expect(verdictIn(now.observation)).toBe('live');
  expect(verdictIn({ ...now.observation, processes })).toBe('leak');
});
