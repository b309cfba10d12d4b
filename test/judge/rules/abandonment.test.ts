import { describe, expect, test } from 'vitest';
import { abandonedAt } from '../../../src/judge/rules/verdict.ts';
import { grown, type Member, type Part } from './grown.ts';

const AGENT: Member = [50, 1, 'claude', 'agent'];
const AGAIN = (pid: number): string => `the same server runs again as ${pid}, which is newer`;
const NOBODY = 'the other end of its standard input is closed';

/** What is held against the process 100. */
const against = (...members: readonly Member[]): string | null => {
  const node = grown([AGENT, ...members]).at(100);
  const found = abandonedAt(({ kind, seen }) => kind === 'agent' && seen.role === null)(node);
  return found?.at === node ? found.evidence : null;
};

const server = (pid: number, part: Part = {}, ppid = 50): Member => [pid, ppid, 'srv', 'mcp', part];

describe('the same server again', () => {
  test.each<[string, readonly Member[], string | null]>([
    ['newer', [server(100), server(101)], AGAIN(101)],
    ['older', [server(100), server(99)], null],
    ['older, listed later, by its birth', [server(100, { born: 60 }), server(99, { born: 61 })], AGAIN(99)],
    ['older, by its birth, listed first', [server(99, { born: 60 }), server(100, { born: 59 })], AGAIN(99)],
    ['of the same moment: the higher pid is newer', [server(101, { born: 100 }), server(100)], AGAIN(101)],
    ['of the same moment, with a lower pid', [server(100), server(99, { born: 100 })], null],
    ['of unknown age counts as the oldest', [server(100, { born: null }), server(101)], AGAIN(101)],
    ['against one of unknown age', [server(101, { born: null }), server(100)], null],
    ['of two of unknown age the higher pid', [server(100, { born: null }), server(99, { born: null })], null],
    ['the newest of several is named', [server(102), server(100), server(101)], AGAIN(102)],
    ['of another kind', [server(100), [101, 50, 'srv', 'lean-lsp']], null],
    ['with unknown directories', [server(100, { details: null }), server(101, { details: null })], null],
    ['with one directory unknown', [server(100), server(101, { details: null })], null],
    ['with the other unknown', [server(100, { details: null }), server(101)], null],
    ['without words', [server(100, { argv: [] }), server(101, { argv: [] })], null],
    ['with words that cannot be read', [server(100, { argv: null }), server(101, { argv: null })], null],
    ['below nobody', [server(100, {}, 77), server(101, {}, 77)], null],
  ])('%s', (_, members, expected) => expect(against(...members)).toBe(expected));

  const carried = (kind: Member[3]): readonly Member[] => [
    server(100),
    [110, 50, 'around', kind],
    server(111, {}, 110),
  ];
  test.each<[Member[3], string | null]>([
    ['wrapper', AGAIN(111)],
    ['shell', AGAIN(111)],
    ['mcp', null],
    ['other', null],
  ])('is looked for below a %s', (kind, expected) => expect(against(...carried(kind))).toBe(expected));

  test('a daemon that several sessions share runs one for each of them', () => {
    const daemon: Member = [60, 1, 'claude', 'agent', { seen: { role: 'claude-daemon' } }];
    expect(against(daemon, server(100, {}, 60), server(101, {}, 60))).toBeNull();
  });
});

describe('a wrapper', () => {
  const wrapper = (pid: number, part: Part = {}): Member => [pid, 50, 'npx x', 'wrapper', part];
  const MCP: Part = { seen: { wraps: 'mcp' } };

  test.each<[string, readonly Member[], string | null]>([
    [
      'runs again when its words say that it carries a server',
      [wrapper(100, MCP), wrapper(101, MCP)],
      AGAIN(101),
    ],
    [
      'and when a server is below it',
      [wrapper(100), [102, 100, 'a', 'mcp'], wrapper(101), [103, 101, 'b', 'mcp']],
      AGAIN(101),
    ],
    ['not when it carries anything else', [wrapper(100), wrapper(101)], null],
  ])('%s', (_, members, expected) => expect(against(...members)).toBe(expected));

  test('anything else runs twice, whatever is below it', () => {
    const shell = (pid: number): Member => [pid, 50, 'sh x', 'shell', { seen: { wraps: 'mcp' } }];
    expect(against(shell(100), [102, 100, 'a', 'mcp'], shell(101), [103, 101, 'b', 'mcp'])).toBeNull();
  });
});

describe('a lost standard input', () => {
  const lost: Part = { details: { stdin: 'abandoned-pipe' } };

  test.each<[string, Member, string | null]>([
    ['of a server', server(100, lost), NOBODY],
    ['of a plain program', [100, 50, 'x', 'other', lost], NOBODY],
    ['of a wrapper around a server', [100, 50, 'x', 'wrapper', { ...lost, seen: { wraps: 'mcp' } }], NOBODY],
    ['of another wrapper', [100, 50, 'x', 'wrapper', lost], null],
    [
      'of a shell that speaks of a server',
      [100, 50, 'x', 'shell', { ...lost, seen: { wraps: 'mcp' } }],
      null,
    ],
    ['of one that nothing is known of', server(100, { details: null }), null],
    ['that is no pipe', server(100), null],
  ])('%s', (_, member, expected) => expect(against(member)).toBe(expected));

  test('is found on a shell with a server below it', () => {
    expect(against([100, 50, 'x', 'shell', lost], [101, 100, 'a', 'mcp'])).toBeNull();
  });
});
