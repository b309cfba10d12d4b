import { describe, expect, test } from 'vitest';
import { startedAfter } from '../../../src/judge/rules/tree.ts';
import type { Kind } from '../../../src/model/kind.ts';
import { CLOCK } from '../../support/world.ts';
import { grown, type Member, type Part } from './grown.ts';

const GEMINI: Part = { seen: { agent: 'gemini' } };

/** What the process 1000 is among these, and what the 1001 below it. */
const kinds = (...members: readonly Member[]): (Kind | undefined)[] => {
  const { tree } = grown(members);
  return [1000, 1001].map(pid => tree.byPid.get(pid)?.kind);
};

describe('a script that starts the real program of an agent', () => {
  const pair = (script: string, program: string, part: Part = GEMINI): (Kind | undefined)[] =>
    kinds([1000, 1, script, 'agent', GEMINI], [1001, 1000, program, 'agent', part]);

  test.each<[string, string, string]>([
    ['with the same arguments', 'node /opt/bin/gemini --yolo -m x', '/opt/lib/gemini --yolo -m x'],
    ['with none at all', 'node /opt/bin/gemini', '/opt/lib/gemini'],
    ['by a name without a path', 'node gemini --yolo', 'gemini --yolo'],
    [
      'with an interpreter from a directory of that name',
      '/opt/gemini/bin/node /x/gemini -m x',
      '/y/gemini -m x',
    ],
  ])('is a wrapper %s', (_, script, program) => expect(pair(script, program)).toEqual(['wrapper', 'agent']));

  test('is a wrapper without arguments, though those of the program cannot be read', () => {
    expect(pair('node /opt/bin/gemini', '/opt/lib/gemini', { ...GEMINI, argv: null })).toEqual([
      'wrapper',
      'agent',
    ]);
  });

  test('has no agent of its own any more', () => {
    const { at } = grown([
      [1000, 1, 'node /opt/bin/gemini', 'agent', GEMINI],
      [1001, 1000, '/opt/lib/gemini', 'agent', GEMINI],
    ]);
    expect([at(1000).agent, at(1001).agent]).toEqual([null, 'gemini']);
  });

  test.each<[string, string, Part]>([
    ['has other arguments', '/opt/lib/gemini -p x', GEMINI],
    ['is another agent', '/opt/lib/codex --yolo', { seen: { agent: 'codex' } }],
    ['has ended', '/opt/lib/gemini --yolo', { ...GEMINI, state: 'Z' }],
    ['is but a fork of it', 'node /opt/bin/gemini --yolo', { ...GEMINI, born: CLOCK - 0.5 }],
  ])('is an agent when the one below it %s', (_, program, part) =>
    expect(pair('node /opt/bin/gemini --yolo', program, part)[0]).toBe('agent'),
  );

  test('is an agent when nobody knows of what family the two are', () => {
    expect(kinds([1000, 1, 'x', 'agent'], [1001, 1000, 'x', 'agent'])).toEqual(['agent', 'agent']);
  });

  test('is nothing else because of a program that has its arguments', () => {
    expect(
      kinds([1000, 1, 'gemini --yolo', 'shell', GEMINI], [1001, 1000, 'gemini --yolo', 'agent', GEMINI])[0],
    ).toBe('shell');
  });
});

describe('a child with all the words of its parent', () => {
  const child = (part: Part, kind: Kind = 'agent', command = 'claude'): Kind | undefined =>
    kinds([1000, 1, 'claude', kind], [1001, 1000, command, kind, part])[1];

  test.each<[string, () => Kind | undefined, Kind]>([
    ['within the second of its birth: no agent yet', () => child({ born: CLOCK - 0.9 }), 'other'],
    ['after it', () => child({ born: CLOCK - 1 }), 'agent'],
    ['that nobody knows the birth of', () => child({ born: null }), 'agent'],
    ['with other words', () => child({ born: CLOCK - 0.9 }, 'agent', 'claude -p x'), 'agent'],
    ['a shell forks all the time', () => child({ born: CLOCK - 0.9 }, 'shell'), 'shell'],
  ])('%s', (_, kind, expected) => expect(kind()).toBe(expected));

  test('needs a parent', () => {
    expect(kinds([1000, 77, 'claude', 'agent', { born: CLOCK }])[0]).toBe('agent');
  });
});

describe('what only the surroundings tell', () => {
  const BROWSER: Member = [1000, 1, 'chrome', 'browser'];
  const AGENT: Member = [1000, 1, 'claude', 'agent'];
  const MCP: Part = { seen: { mentionsMcp: true } };

  test.each<[string, Member[], Kind]>([
    [
      'a nameless child of a browser’s name: a renderer',
      [BROWSER, [1001, 1000, 'chrome', 'other']],
      'browser',
    ],
    ['another program that a browser started', [BROWSER, [1001, 1000, 'xdg-open', 'other']], 'other'],
    ['a shell of a browser’s name', [BROWSER, [1001, 1000, 'chrome', 'shell']], 'shell'],
    ['one that speaks of mcp below an agent: a server', [AGENT, [1001, 1000, 'x', 'other', MCP]], 'mcp'],
    ['one that does not', [AGENT, [1001, 1000, 'x', 'other']], 'other'],
    ['a shell that does', [AGENT, [1001, 1000, 'x', 'shell', MCP]], 'shell'],
    [
      'one that serves over HTTP',
      [AGENT, [1001, 1000, 'x', 'other', { seen: { mentionsMcp: true, transport: 'http' } }]],
      'other',
    ],
    [
      'through wrappers and shells',
      [
        AGENT,
        [900, 1000, 'npx', 'wrapper', { born: 1000 }],
        [901, 900, 'sh', 'shell', { born: 1000 }],
        [1001, 901, 'x', 'other', MCP],
      ],
      'mcp',
    ],
    ['below nobody', [[1001, 77, 'x', 'other', MCP]], 'other'],
  ])('%s', (_, members, kind) => expect(kinds(...members)[1]).toBe(kind));
});

describe('who started after whom', () => {
  const born = (at: number | null) => grown([[1000, 77, 'x', 'other', { born: at }]]).at(1000);

  test.each<[number | null, number | null, boolean]>([
    [2, 1, true],
    [1, 1, false],
    [1, 2, false],
    [1, null, false],
    [null, 1, false],
    [null, -1, false],
    [null, null, false],
  ])('born at %s and at %s: %s', (a, b, expected) => expect(startedAfter(born(a), born(b))).toBe(expected));
});
