import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedCache } from '../../../src/build/ink/bounded-cache.ts';
import Output, { type Clip } from '../../../src/build/ink/output.ts';
import { narrowWidth, segmentOf } from '../../../src/build/ink/segment.ts';
import { shown } from './both.ts';

// Not among its exports: Ink keeps it to itself.
const published = fileURLToPath(new URL('../../../node_modules/ink/build/output.js', import.meta.url));
const { default: Published } = (await import(published)) as { default: typeof Output };

type Step =
  | { readonly does: 'write'; readonly x: number; readonly y: number; readonly text: string }
  | { readonly does: 'clip'; readonly clip: Clip }
  | { readonly does: 'unclip' };

const frame = (Kind: typeof Output, steps: readonly Step[]) => {
  const output = new Kind({ width: 24, height: 6 });
  for (const step of steps) {
    if (step.does === 'write') output.write(step.x, step.y, step.text, { transformers: [] });
    else if (step.does === 'clip') output.clip(step.clip);
    else output.unclip();
  }
  return output.get();
};

const SGR = ['\u001b[1m', '\u001b[22m', '\u001b[31m', '\u001b[39m', '\u001b[7m', '\u001b[27m', '\u001b[0m'];
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'ab c') }) },
  { weight: 5, arbitrary: fc.constantFrom(...SGR, '\u001b[1;31m', '\u001b[38;5;200m', '\u001b[48;2;1;2;3m') },
  { weight: 2, arbitrary: fc.constantFrom('│', '└ ', '▁▂▃', '…', '×') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('日本', '🙂', 'e\u0301', '\u200b', '\n', '\u001b[m', '\u001b[21m'),
  },
  { weight: 1, arbitrary: fc.constant('\u001b]8;;http://x\u0007link\u001b]8;;\u0007') },
);
const text = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(''));
const edge = fc.option(fc.integer({ min: 0, max: 24 }), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant('write' as const),
      x: fc.integer({ min: -2, max: 26 }),
      y: fc.integer({ min: -1, max: 6 }),
      text,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('clip' as const),
      clip: fc.record({ x1: edge, x2: edge, y1: edge, y2: edge }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'unclip' as const }) },
);

describe("the drop-in for Ink's Output", () => {
  test('shows the same as the published one, whatever is written where', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 10 }), steps => {
        const ours = frame(Output, steps);
        const theirs = frame(Published, steps);
        expect(shown(ours.output)).toEqual(shown(theirs.output));
        expect(ours.height).toBe(theirs.height);
      }),
      { numRuns: 700 },
    );
  });

  test('puts segments side by side as they are', () => {
    const steps: Step[] = [
      { does: 'write', x: 6, y: 0, text: '\u001b[31mright\u001b[39m' },
      { does: 'write', x: 0, y: 0, text: 'left' },
    ];
    expect(frame(Output, steps).output.split('\n')[0]).toBe('left  \u001b[31mright\u001b[39m');
  });

  test('a style left open does not run into the next segment', () => {
    const steps: Step[] = [
      { does: 'write', x: 0, y: 0, text: '\u001b[7mleft' },
      { does: 'write', x: 4, y: 0, text: 'right' },
    ];
    expect(frame(Output, steps).output.split('\n')[0]).toBe('\u001b[7mleft\u001b[0mright');
  });

  test('what lies over something else wins', () => {
    const steps: Step[] = [
      { does: 'write', x: 0, y: 0, text: 'aaaaaa' },
      { does: 'write', x: 2, y: 0, text: 'bb' },
    ];
    expect(frame(Output, steps).output.split('\n')[0]).toBe('aabbaa');
  });

  test('transformers see every line with its number', () => {
    const output = new Output({ width: 10, height: 3 });
    output.write(1, 0, 'a\nb', { transformers: [(line, index) => `${line}${index}`, line => `<${line}>`] });
    expect(output.get().output).toBe(' <a0>\n <b1>\n');
  });
});

describe('a segment', () => {
  test.each([
    ['plain', 5],
    ['\u001b[1;31mred\u001b[0m', 3],
    ['└ x…', 4],
    ['日本', 4],
    ['e\u0301', 1],
  ])('%j takes %i cells', (line, width) => {
    expect(segmentOf(line)?.width).toBe(width);
  });

  test.each(['\u001b[2J', '\u001b]8;;x\u0007', '\t', '\u009b31m', '\u001b[m', '\u001b[21m', '\u001b'])(
    '%j is none: only cells can tell what it means',
    line => {
      expect(segmentOf(line)).toBeNull();
    },
  );

  test('only lines of narrow characters are counted instead of measured', () => {
    expect(narrowWidth('│ 12.5 ▾')).toBe(8);
    expect(narrowWidth('日本')).toBeNull();
  });
});

test('a bounded cache never holds more than twice its limit, and keeps what is in use', () => {
  const cache = new BoundedCache<number>(10);
  let made = 0;
  for (let i = 0; i < 1000; i += 1) {
    cache.get(`line ${i}`, () => i);
    cache.get('every frame', () => {
      made += 1;
      return 1;
    });
    expect(cache.size).toBeLessThanOrEqual(20);
  }
  expect(made).toBe(1);
});
