import fc from 'fast-check';
import { createElement, type ReactNode } from 'react';
import { beforeAll, expect, test } from 'vitest';
import { bundledInk, type Ink, shown } from './both.ts';

/** A random screen: boxes in boxes, texts in texts, borders, gaps, clips, transforms. */
type Shape =
  | {
      readonly is: 'text';
      readonly words: readonly string[];
      readonly style: object;
      readonly shout: boolean;
    }
  | { readonly is: 'box'; readonly style: object; readonly children: readonly Shape[] };

const word = fc.constantFrom(
  'reaptop',
  ' ',
  '1.2G',
  'claude',
  '└ ',
  '日本語',
  '🙂',
  'é',
  '\n',
  '\u001b[35mx\u001b[39m',
  'a b c d',
);
const textShape = fc.record({
  is: fc.constant('text' as const),
  words: fc.array(word, { minLength: 1, maxLength: 4 }),
  style: fc.record(
    {
      bold: fc.boolean(),
      dimColor: fc.boolean(),
      inverse: fc.boolean(),
      color: fc.constantFrom('red', '#ff8800'),
      wrap: fc.constantFrom('wrap', 'truncate', 'truncate-middle'),
    },
    { requiredKeys: [] },
  ),
  shout: fc.boolean(),
});
const small = fc.integer({ min: 0, max: 3 });
const boxStyle = fc.record(
  {
    flexDirection: fc.constantFrom('row', 'column', 'row-reverse', 'column-reverse'),
    flexGrow: small,
    width: fc.integer({ min: 1, max: 30 }),
    height: fc.integer({ min: 1, max: 5 }),
    padding: fc.integer({ min: 0, max: 2 }),
    marginLeft: fc.integer({ min: -2, max: 3 }),
    gap: small,
    overflow: fc.constantFrom('visible', 'hidden'),
    borderStyle: fc.constantFrom('single', 'round'),
    borderColor: fc.constant('green'),
    backgroundColor: fc.constant('blue'),
    justifyContent: fc.constantFrom('flex-start', 'space-between', 'flex-end'),
    position: fc.constantFrom('relative', 'absolute'),
  },
  { requiredKeys: [] },
);
const { shape } = fc.letrec<{ shape: Shape; box: Shape; text: Shape }>(tie => ({
  text: textShape,
  box: fc.record({
    is: fc.constant('box' as const),
    style: boxStyle,
    children: fc.array(tie('shape'), { maxLength: 4 }),
  }),
  shape: fc.oneof({ depthSize: 'small' }, tie('text'), tie('box')),
}));

const drawn = ({ Box, Text, Transform }: Ink, it: Shape, key = 0): ReactNode => {
  if (it.is === 'box')
    return createElement(
      Box,
      { key, ...it.style },
      ...it.children.map((child, i) => drawn({ Box, Text, Transform } as Ink, child, i)),
    );
  const said = it.words.map((w, i) =>
    i % 2 === 0 ? w : createElement(Text, { key: i, underline: true }, w),
  );
  const text = createElement(Text, { key, ...it.style }, ...said);
  return it.shout
    ? createElement(Transform, { key, transform: (line: string) => line.toUpperCase() }, text)
    : text;
};

let dropIn: Ink;
let published: Ink;
beforeAll(async () => {
  [dropIn, published] = await Promise.all([bundledInk(true), bundledInk(false)]);
});

test('random layouts look the same on the drop-in and on Ink as published', () => {
  fc.assert(
    fc.property(shape, fc.integer({ min: 1, max: 60 }), (it, columns) => {
      const ours = dropIn.renderToString(drawn(dropIn, it), { columns });
      const theirs = published.renderToString(drawn(published, it), { columns });
      expect(shown(ours)).toEqual(shown(theirs));
    }),
    { numRuns: 150 },
  );
});
