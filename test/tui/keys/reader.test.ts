import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Clicks, DOUBLE_MS, KeyReader, mouseReport, readKeystrokes } from '../../../src/tui/keys/reader.ts';

const keys = (input: string): string[] => readKeystrokes(input, 1).strokes.map(s => s.key);

describe('a chunk of bytes becomes single keystrokes', () => {
  test.each([
    ['jjj', ['j', 'j', 'j']],
    ['jk\r', ['j', 'k', 'enter']],
    ['\u001b[A\u001b[B', ['up', 'down']],
    ['\u001bOA\u001bOD', ['up', 'left']],
    ['\u001b[5~\u001b[6~', ['pageup', 'pagedown']],
    ['\u001b[1~\u001b[4~\u001b[H\u001bOF', ['home', 'end', 'home', 'end']],
    ['\u001bOP\u001b[15~\u001b[[A', ['f1', 'f5', 'f1']],
    ['\u007f\b', ['backspace', 'backspace']],
    ['\u001b[3~', ['delete']],
    ['\t\u001b[Z', ['tab', 'shift-tab']],
    [' ', ['space']],
    ['\u0003\u001a', ['ctrl-c', 'ctrl-z']],
    ['x\u001b[By', ['x', 'down', 'y']],
    ['e\u0301é界', ['e\u0301', 'é', '界']],
  ])('%j', (input, expected) => {
    expect(keys(input)).toEqual(expected);
  });

  test('a sequence nobody knows is one key that nothing is bound to, never letters', () => {
    expect(keys('\u001b[<0;12;5my')).toEqual(['unknown', 'y']);
    expect(keys('\u001b[1;5C')).toEqual(['unknown']);
    expect(keys('\u001b[I')).toEqual(['unknown']);
  });

  test('the mouse is one key, with where it was', () => {
    const { strokes } = readKeystrokes('\u001b[<0;12;5My\u001b[<65;1;2M', 1);
    expect(strokes.map(s => [s.key, s.mouse])).toEqual([
      ['mouse', { what: 'press', column: 11, row: 4 }],
      ['y', undefined],
      ['mouse', { what: 'wheel-down', column: 0, row: 1 }],
    ]);
  });

  test('the bytes of an old report of the mouse are no keys, though one of them may be a y', () => {
    // Column 89 is sent as the byte 32 + 89, which is y.
    expect(keys('\u001b[M yyj')).toEqual(['unknown', 'j']);
    expect(readKeystrokes('\u001b[M y', 1).rest).toBe('\u001b[M y');
  });

  test('what a terminal answers is one key that says it, with either ending', () => {
    const answer = '11;rgb:ffff/ffff/ffff';
    for (const end of ['\u0007', '\u001b\\']) {
      const { strokes } = readKeystrokes(`\u001b]${answer}${end}j`, 1);
      expect(strokes.map(s => [s.key, s.text])).toEqual([
        ['reply', answer],
        ['j', 'j'],
      ]);
    }
    expect(readKeystrokes(`\u001b]${answer}\u001b`, 1).rest).toBe(`\u001b]${answer}\u001b`);
  });

  test('Esc before a letter is Esc and the letter', () => {
    expect(keys('\u001by')).toEqual(['escape', 'y']);
  });

  test('a paste is one keystroke, whatever it holds', () => {
    const { strokes } = readKeystrokes('\u001b[200~xy\r\u001b[201~j', 1);
    expect(strokes.map(s => [s.key, s.text])).toEqual([
      ['paste', 'xy\r'],
      ['j', 'j'],
    ]);
  });

  test('every keystroke carries the number of its chunk', () => {
    expect(new Set(readKeystrokes('xy\u001b[A', 7).strokes.map(s => s.chunk))).toEqual(new Set([7]));
  });

  test('an unfinished sequence waits for the next chunk', () => {
    expect(readKeystrokes('j\u001b[', 1).rest).toBe('\u001b[');
    expect(readKeystrokes('\u001b[200~half', 1).rest).toBe('\u001b[200~half');
    expect(readKeystrokes('j\u001b[200~half', 1).rest).toBe('\u001b[200~half');
    expect(readKeystrokes('\u001b[M yy', 1)).toMatchObject({ rest: '', strokes: [{ key: 'unknown' }] });
  });
});

describe('KeyReader', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('joins a sequence that a slow line cut in two', () => {
    const got: string[] = [];
    const reader = new KeyReader(s => got.push(s.key));
    reader.push('\u001b');
    reader.push('[B');
    expect(got).toEqual(['down']);
  });

  test('takes a lone Esc for Esc after a silence', () => {
    vi.useFakeTimers();
    const got: string[] = [];
    const reader = new KeyReader(s => got.push(s.key));
    reader.push('\u001b');
    expect(got).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(got).toEqual(['escape']);
  });

  test('a paste whose end never comes does not swallow the keys after it', () => {
    vi.useFakeTimers();
    const got: string[] = [];
    const reader = new KeyReader(s => got.push(s.key));
    reader.push('\u001b[200~xy');
    vi.advanceTimersByTime(5000);
    reader.push('j');
    expect(got).toEqual(['j']);
  });

  test.each(['\u001b[<0;12', '\u001b[M y', '\u001b]11;rgb:ff', '\u001b]11;rgb:ff\u001b'])(
    "a report or an answer whose end never comes is nobody's keys: %j",
    bytes => {
      vi.useFakeTimers();
      const got: string[] = [];
      const reader = new KeyReader(s => got.push(s.key));
      reader.push(bytes);
      vi.advanceTimersByTime(5000);
      reader.push('j');
      expect(got).toEqual(['j']);
    },
  );

  test('a key that follows an Esc or a cut sequence in time is not taken for the silence', () => {
    vi.useFakeTimers();
    const got: string[] = [];
    const reader = new KeyReader(s => got.push(`${s.key} ${s.text} ${s.chunk}`));
    reader.push('\u001b[');
    vi.advanceTimersByTime(29);
    reader.push('1');
    vi.advanceTimersByTime(29);
    expect(got).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(got).toEqual(['escape  2', '[ [ 2', '1 1 2']);
  });

  test('delivers nothing once it is stopped, and waits for nothing after a whole key', () => {
    vi.useFakeTimers();
    const got: string[] = [];
    const reader = new KeyReader(s => got.push(s.key));
    reader.push('j');
    expect(vi.getTimerCount()).toBe(0);
    reader.stop();
    reader.push('\u001b');
    reader.stop();
    vi.advanceTimersByTime(5000);
    expect(got).toEqual(['j']);
  });

  test('counts chunks up', () => {
    const got: number[] = [];
    const reader = new KeyReader(s => got.push(s.chunk));
    reader.push('xx');
    reader.push('y');
    expect(got).toEqual([1, 1, 2]);
  });
});

test.each([
  ['[<0;1;1M', { what: 'press', column: 0, row: 0 }],
  ['[<0;12;34M', { what: 'press', column: 11, row: 33 }],
  ['[<64;5;6M', { what: 'wheel-up', column: 4, row: 5 }],
  ['[<65;5;6M', { what: 'wheel-down', column: 4, row: 5 }],
  ['[<68;5;6M', { what: 'wheel-up', column: 4, row: 5 }],
  ['[<81;5;6M', { what: 'wheel-down', column: 4, row: 5 }],
])('%s is what the mouse did, and where', (sequence, report) => {
  expect(mouseReport(sequence)).toEqual(report);
});

test.each([
  ['a release', '[<0;1;1m'],
  ['a click with Shift', '[<4;1;1M'],
  ['a click with Ctrl', '[<16;1;1M'],
  ['another button', '[<1;1;1M'],
  ['a move', '[<32;1;1M'],
  ['the wheel to a side', '[<66;1;1M'],
  ['more before it', 'x[<0;1;1M'],
  ['more behind it', '[<0;1;1Mx'],
  ['a number too long', '[<0;123456;1M'],
  ['no number', '[<0;;1M'],
])('%s is no click', (_, sequence) => {
  expect(mouseReport(sequence)).toBeNull();
});

let now: number;
let clicks: Clicks;
beforeEach(() => {
  now = 10_000;
  clicks = new Clicks(() => now);
});
const click = (column = 3, row = 4) => clicks.note({ what: 'press', column, row });

describe('a click', () => {
  test('is neither double nor hurried when nothing came before it', () =>
    expect(click()).toEqual({ double: false, hurried: false }));

  test('sooner after what it answers than anybody reads is hurried, however that came up', () => {
    clicks.shown();
    now += DOUBLE_MS - 1;
    expect(click()).toEqual({ double: false, hurried: true });
    clicks = new Clicks(() => now);
    clicks.shown();
    now += DOUBLE_MS;
    expect(click()).toEqual({ double: false, hurried: false });
  });

  test('soon after another is the second of a double click only on its cell', () => {
    click();
    now += DOUBLE_MS - 1;
    expect(click()).toEqual({ double: true, hurried: true });
    expect(click(4, 4)).toEqual({ double: false, hurried: true });
    expect(click(4, 5)).toEqual({ double: false, hurried: true });
    now += DOUBLE_MS;
    expect(click(4, 5)).toEqual({ double: false, hurried: false });
  });
});
