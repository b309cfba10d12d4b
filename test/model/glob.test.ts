import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compilePathGlob,
  endsHere,
  type Positions,
  segmentMatcher,
  starMatcher,
  stepInto,
} from '../../src/model/glob.ts';

/** The plainest matcher there is; exponential, so only for short inputs. */
const slow = (glob: string, text: string): boolean => {
  if (glob === '') return text === '';
  if (glob[0] === '*') return slow(glob.slice(1), text) || (text !== '' && slow(glob, text.slice(1)));
  return text !== '' && (glob[0] === '?' || glob[0] === text[0]) && slow(glob.slice(1), text.slice(1));
};

const matchesPath = (pattern: string, path: string): boolean => {
  const glob = compilePathGlob(pattern);
  if (glob === null) return false;
  const names = path.split('/');
  const file = names.pop() as string;
  const at = names.reduce<Positions>((positions, name) => stepInto(glob, positions, name), [0]);
  return endsHere(glob, at, file);
};

const within = (ms: number, act: () => void): void => {
  const start = performance.now();
  act();
  expect(performance.now() - start).toBeLessThan(ms);
};

describe('names', () => {
  test.each([
    ['postgres*', 'postgres: writer', true],
    ['postgres*', 'my-postgres', false],
    ['*mcp*', 'lean-lsp-mcp', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a.b', 'axb', false],
    ['a[b]?{c}', 'a[b]?{c}', true],
    ['*#!', 'e#!e', false],
  ])('%s on %j: %s', (glob, name, expected) => expect(starMatcher(glob)(name)).toBe(expected));

  test('agree with the plainest matcher', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 7 });
    fc.assert(
      fc.property(glob, text, (g, t) => starMatcher(g)(t) === slow(g, t)),
      { numRuns: 2000 },
    );
  });

  test('200 stars take no time', () =>
    within(500, () => {
      const glob = `${'*e'.repeat(200)}*#!`;
      for (let i = 0; i < 200; i++) expect(starMatcher(glob)(`${'e'.repeat(5000)}#?`)).toBe(false);
      expect(segmentMatcher(`${'*a'.repeat(200)}b`)('a'.repeat(255))).toBe(false);
    }));
});

describe('segments of a path', () => {
  test.each([
    ['*.json', 'a.json', true],
    ['*.json', '.a.json', false],
    ['.*.json', '.a.json', true],
    ['?b', 'ab', true],
    ['?b', '.b', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[!a-c]x', 'dx', true],
    ['{a,b}-{1,2}.j', 'b-2.j', true],
    ['{a,b}-{1,2}.j', 'c-2.j', false],
    ['{.a,b}', '.a', true],
    ['a[', 'a[', false],
    ['{a', '{a', true],
    ['a+(b)$', 'a+(b)$', true],
  ])('%s on %s: %s', (glob, name, expected) => expect(segmentMatcher(glob)(name)).toBe(expected));

  test('agree with the plainest matcher', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 7 });
    fc.assert(
      fc.property(glob, text, (g, t) => segmentMatcher(g)(t) === slow(g, t)),
      { numRuns: 2000 },
    );
  });

  test('more alternatives than anyone writes match nothing, at once', () =>
    within(200, () => expect(segmentMatcher('{a,b}'.repeat(40))('a'.repeat(40))).toBe(false)));
});

describe('paths', () => {
  test.each([
    ['.ralph/status.json', '.ralph/status.json', true],
    ['**/beat.json', 'beat.json', true],
    ['**/beat.json', 'a/b/beat.json', true],
    ['**/beat.json', '.git/beat.json', false],
    ['**/**/**/x', 'a/x', true],
    ['a/**/c/*.j', 'a/c/1.j', true],
    ['a/**/c/*.j', 'a/b/b/c/1.j', true],
    ['a/**/c/*.j', 'b/c/1.j', false],
    ['a/**', 'a/b', false],
    ['../x', '../x', false],
    ['', '', false],
  ])('%s on %s: %s', (glob, path, expected) => expect(matchesPath(glob, path)).toBe(expected));

  test('many `**` never make more positions than segments', () =>
    within(500, () => {
      expect(matchesPath(`${'**/'.repeat(40)}x`, `${'a/'.repeat(40)}x`)).toBe(true);
      expect(matchesPath(`${'**/a/'.repeat(15)}x`, `${'a/'.repeat(200)}y`)).toBe(false);
    }));
});
