import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyDifference,
  changeInPlace,
  differenceOf,
  type Json,
  Misfit,
  same,
} from '../../../src/remember/recorder/lines.ts';

/** Few keys and values, so that two of them have much in common. */
const json = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, 1, 2.5, 'a', 'b', ''),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '=', '~', '@', '-', '__proto__'), tie('value'), {
      maxKeys: 5,
    }),
  ),
})).value;

/** What a file brings back: no key of a prototype, no difference between -0 and 0. */
const fromFile = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

describe('a difference', () => {
  test('turns what was into what is, also after it has been on disk', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [before, after] = [fromFile(a), fromFile(b)];
        const difference = differenceOf(before, after);
        const applied = difference === null ? before : applyDifference(before, fromFile(difference));
        return same(applied, after) && JSON.stringify(differenceOf(after, applied)) === 'null';
      }),
      { numRuns: 1500 },
    );
  });

  test('applied in place comes to the same, and leaves no other object than it was given', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [before, after] = [fromFile(a), fromFile(b)];
        const difference = differenceOf(before, after);
        const applied = difference === null ? before : changeInPlace(before, fromFile(difference));
        return same(applied, after) && Object.getPrototypeOf({}) === Object.prototype;
      }),
      { numRuns: 1500 },
    );
    const picture = { items: { a: { rss: 1 }, b: {} } };
    const { items } = picture;
    expect(
      changeInPlace(picture, { '~': { items: { '~': { a: { '~': { rss: { '=': 2 } } } }, '-': ['b'] } } }),
    ).toBe(picture);
    expect(picture).toEqual({ items: { a: { rss: 2 } } });
    expect(picture.items).toBe(items);
  });

  test('is empty for two equal values', () => {
    fc.assert(fc.property(json, value => differenceOf(value, fromFile(value)) === null));
  });

  test('leaves what did not change the very same object', () => {
    const before = { kept: { deep: [1, 2] }, changed: { x: 1 } };
    const after = applyDifference(
      before,
      differenceOf(before, { ...before, changed: { x: 2 } }),
    ) as typeof before;
    expect(after.kept).toBe(before.kept);
    expect(after).toEqual({ kept: { deep: [1, 2] }, changed: { x: 2 } });
  });

  test('stores one row when one is inserted into a list of sixty', () => {
    const rows = Array.from({ length: 60 }, (_, i) => `row ${i}`);
    const after = [...rows.slice(0, 30), 'new', ...rows.slice(30)];
    expect(differenceOf(rows, after)).toEqual({ '@': [30, 0, ['new']] });
  });

  test.each([
    ['a key to remove that is not there', { a: 1 }, { '-': ['b'] }],
    ['a key to change that is not there', { a: 1 }, { '~': { b: { '~': {} } } }],
    ['a run beyond the end of a list', [1], { '@': [1, 1, []] }],
    ['a run of a list that is none', { a: 1 }, { '@': [0, 0, []] }],
    ['changes of what is no object', 7, { '~': {} }],
    ['no object at all', { a: 1 }, null],
  ])('that does not fit is refused: %s', (_, before, difference) => {
    for (const apply of [applyDifference, changeInPlace])
      expect(() => apply(before as Json, difference)).toThrow(Misfit);
  });

  test('never makes an object another one: a key that is called __proto__ is a key', () => {
    const difference = JSON.parse('{"~":{"__proto__":{"=":{"polluted":1}}}}');
    for (const apply of [applyDifference, changeInPlace]) {
      const after = apply({ a: 1 }, difference) as Record<string, Json>;
      expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
      expect(Object.keys(after)).toEqual(['a', '__proto__']);
    }
  });
});
