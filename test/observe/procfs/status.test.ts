import { expect, test } from 'vitest';
import { parseStatus } from '../../../src/observe/procfs/one-process.ts';

test.each([
  ['Name:\tx\nUid:\t33\t0\t0\t0\nVmSwap:\t     12 kB\n', { realUid: 33, effectiveUid: 0, swap: 12_288 }],
  ['Uid:\t1000\t1000\t1000\t1000\n', { realUid: 1000, effectiveUid: 1000, swap: null }],
  ['Name:\tUid: 5 5\\nUid:\t0\t0\nUid:\t7\t8\t9\t9\n', { realUid: 7, effectiveUid: 8 }],
  ['Uid:\t1\t1\nNSpid:\t4711\n', { innerPid: null }],
  ['Uid:\t1\t1\nNSpid:\t4711\t2\nNSpgid:\t4711\t9\n', { innerPid: 2 }],
  ['Uid:\t1\t1\nNSpid:\t4711\t22\t3\nVmSwap:\t1 kB\n', { innerPid: 3 }],
  ['Uid:\t1\t1\n', { innerPid: null }],
])('%j', (text, expected) => {
  expect(parseStatus(text)).toMatchObject(expected);
});

test('half a file tells no owner', () => {
  expect(parseStatus('Name:\tx\nUid:\t33')).toBeNull();
  expect(parseStatus('')).toBeNull();
});
