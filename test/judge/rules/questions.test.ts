import { describe, expect, test } from 'vitest';
import { sessionLogOf } from '../../../src/agents/session-logs.ts';
import { Lineage } from '../../../src/judge/rules/lineage.ts';
import { detailQuestions, environQuestions, keysOf, relatedNodes } from '../../../src/judge/rules/related.ts';
import { UID } from '../../support/world.ts';
import { grown, type Member, type Part } from './grown.ts';

const INIT: Member = [1, 0, 'init', 'other', { uid: 0 }];
const LOGIN: Member = [50, 1, 'sshd', 'other', { seen: { anchor: 'remote-login' } }];
const STRANGER: Member = [60, 50, 'make', 'other'];
const ORPHAN: Member = [70, 1, 'some-daemon', 'other'];
const AGENT: Member = [80, 50, 'claude', 'agent'];
const TMUX: Member = [90, 1, 'tmux', 'tmux', { seen: { role: 'tmux-server' } }];

describe('whose environment is read', () => {
  const asked = (members: readonly Member[], uid: number | null = UID, known: readonly number[] = []) =>
    environQuestions(grown(members).tree, uid, node => known.includes(node.facts.pid)).map(
      ({ facts }) => facts.pid,
    );
  const orphan = (part: Part): readonly Member[] => [INIT, [100, 1, 'x', 'other', part]];
  const below = (parent: Member, kind: Member[3]): readonly Member[] => [
    INIT,
    LOGIN,
    STRANGER,
    parent,
    [100, parent[0], 'x', kind],
  ];

  test.each<[string, readonly Member[], boolean]>([
    ['an orphan', orphan({}), true],
    ['an orphan of another user', orphan({ uid: UID + 1 }), false],
    ['a kernel thread', orphan({ kernelThread: true }), false],
    ['one that cannot be read', orphan({ unreadable: true }), false],
    ['an agent, wherever it is', [INIT, LOGIN, [100, 50, 'claude', 'agent']], true],
    ['an agent that has ended, below a login', [INIT, LOGIN, [100, 50, 'x', 'agent', { state: 'Z' }]], false],
    ['what is below an agent', below(AGENT, 'mcp'), false],
    [
      'an orphan below an agent below PID 1',
      [INIT, [80, 1, 'claude', 'agent'], [100, 80, 'x', 'mcp']],
      false,
    ],
    ['what is in a pane', [INIT, TMUX, [100, 90, 'x', 'other']], true],
    ['a server below an ordinary process that somebody logged in runs', below(STRANGER, 'mcp'), false],
    ['a server below an ordinary orphan', below(ORPHAN, 'mcp'), true],
    ['a wrapper there', below(ORPHAN, 'wrapper'), true],
    ['an agent’s browser there', below(ORPHAN, 'browser'), true],
    ['anybody else there', below(ORPHAN, 'other'), false],
    ['a shell there', below(ORPHAN, 'shell'), false],
    ['a server below a login', [INIT, LOGIN, [100, 50, 'x', 'mcp']], false],
    ['a wrapper below a login', [INIT, LOGIN, [100, 50, 'x', 'wrapper']], false],
    ['one whose parent is not told', [[100, 77, 'x', 'mcp']], false],
  ])('%s: %3$s', (_, members, expected) => expect(asked(members).includes(100)).toBe(expected));

  test('PID 1, where it is our user’s: the first process of a container hands its own to everything', () => {
    expect(asked([[1, 0, 'sh', 'shell', { uid: UID }]])).toEqual([1]);
    expect(asked([INIT])).toEqual([]);
    expect(asked([INIT], 0)).toEqual([1]);
  });

  test('nobody’s whose environment is known already', () => {
    expect(asked([INIT, ORPHAN, [100, 1, 'x', 'other']], UID, [100])).toEqual([70]);
  });
});

describe('what else is asked of those that concern an agent', () => {
  const question = (members: readonly Member[], uid: number | null = UID) => {
    const { tree } = grown(members);
    return detailQuestions(new Set(tree.nodes), uid).find(({ pid }) => pid === 100);
  };

  interface Asked {
    readonly descriptors: boolean;
    readonly sockets: boolean;
    readonly uses: boolean;
    readonly work: boolean;
  }
  const NOTHING: Asked = { descriptors: false, sockets: false, uses: false, work: false };
  const ALL: Asked = { descriptors: true, sockets: true, uses: true, work: true };

  test('the top of its tree, below whoever adopted it', () => {
    const tree: readonly Member[] = [
      INIT,
      [80, 1, 'x', 'mcp'],
      [90, 80, 'x', 'browser'],
      [100, 90, 'x', 'browser'],
    ];
    expect(question(tree)?.tree).toBe(80);
    const user: Member = [60, 1, 'systemd', 'other', { seen: { adoptsOrphans: true } }];
    expect(question([INIT, user, [90, 60, 'x', 'mcp'], [100, 90, 'x', 'browser']])?.tree).toBe(90);
  });

  test.each<[string, readonly Member[], Asked]>([
    ['a server of its own', [[100, 1, 'x', 'mcp']], { ...ALL, work: false }],
    ['a server of another user', [[100, 1, 'x', 'mcp', { uid: UID + 1 }]], { ...NOTHING, sockets: true }],
    [
      'a server below an agent that somebody works with',
      [INIT, LOGIN, AGENT, [100, 80, 'x', 'mcp']],
      { ...NOTHING, descriptors: true },
    ],
    [
      'a server below an orphaned agent: others may be its clients',
      [INIT, [80, 1, 'claude', 'agent'], [100, 80, 'x', 'other']],
      ALL,
    ],
    ['an agent', [[100, 1, 'x', 'agent']], ALL],
    ['a build', [[100, 1, 'x', 'lake']], ALL],
    ['a wrapper', [[100, 1, 'x', 'wrapper']], ALL],
    ['tmux', [[100, 1, 'x', 'tmux']], NOTHING],
    ['tmux below an agent', [AGENT, [100, 80, 'x', 'tmux']], { ...NOTHING, descriptors: true }],
  ])('%s', (_, members, expected) =>
    expect(question(members)).toMatchObject({ pid: 100, start: '10000', ...expected }),
  );

  test.each<[string, Part]>([
    ['a zombie', { state: 'Z' }],
    ['a kernel thread', { kernelThread: true }],
  ])('nothing of %s', (_, part) => expect(question([[100, 1, 'x', 'agent', part]])).toBeUndefined());

  const codex = (kind: Member[3], uid: number): Member => [
    100,
    1,
    'codex',
    kind,
    { uid, seen: { agent: 'codex' } },
  ];
  const held = sessionLogOf('codex')?.held?.file;

  test('the log that a session of our user holds, and of nobody else', () => {
    expect(held).toBeDefined();
    expect(question([codex('agent', UID)])?.holds).toBe(held);
    expect(question([codex('agent', UID + 1)])).not.toHaveProperty('holds');
    expect(question([codex('wrapper', UID)])).not.toHaveProperty('holds');
  });

  test.each(['claude', 'gemini', null])('no log of an agent that holds none: %s', agent =>
    expect(question([[100, 1, 'x', 'agent', { seen: { agent } }]])).not.toHaveProperty('holds'),
  );

  test('each is named by pid and start', () => {
    expect(keysOf(grown([ORPHAN, STRANGER]).tree.nodes)).toEqual(new Set(['70:7000', '60:6000']));
  });
});

describe('who concerns an agent', () => {
  const related = (...members: readonly Member[]): number[] =>
    [...relatedNodes(grown(members).tree, new Lineage())].map(({ facts }) => facts.pid).sort((a, b) => a - b);

  test.each<[string, readonly Member[], readonly number[]]>([
    [
      'a wrapper around a server that has not started',
      [[100, 77, 'x', 'wrapper', { seen: { wraps: 'mcp' } }]],
      [100],
    ],
    ['a wrapper around anything else', [[100, 77, 'x', 'wrapper', { seen: { wraps: 'shell' } }]], []],
    ['a shell whose words speak of a server', [[100, 77, 'x', 'shell', { seen: { wraps: 'mcp' } }]], []],
    ['a shell of the Bash tool', [[100, 77, 'x', 'wrapper', { seen: { role: 'bash-tool' } }]], [100]],
    [
      'every wrapper up to the top',
      [
        [90, 77, 'x', 'wrapper'],
        [95, 90, 'x', 'wrapper'],
        [100, 95, 'x', 'mcp'],
      ],
      [90, 95, 100],
    ],
    [
      'no wrapper above a shell',
      [
        [90, 77, 'x', 'wrapper'],
        [95, 90, 'x', 'shell'],
        [100, 95, 'x', 'mcp'],
      ],
      [100],
    ],
    ['the tmux server that is its parent', [TMUX, [100, 90, 'x', 'mcp']], [90, 100]],
    [
      'what is above it up to that server, and no further',
      [INIT, TMUX, [95, 90, 'x', 'shell'], [100, 95, 'x', 'mcp']],
      [90, 95, 100],
    ],
  ])('%s', (_, members, expected) => expect(related(...members)).toEqual(expected));
});
