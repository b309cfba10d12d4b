import { expect, test } from 'vitest';
import { mouseReport } from '../../../src/tui/keys/mouse-report.ts';

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
