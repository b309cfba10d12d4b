import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hookEntry } from '../../../src/commands/hook/entry.ts';

/** What a hook wrote to its standard output. */
const said = vi.hoisted(() => [] as string[]);
vi.mock('node:fs', async original => ({
  ...(await original<typeof import('node:fs')>()),
  writeSync: (fd: number, text: string) => fd === 1 && said.push(text),
}));
vi.mock('../../../src/commands/hook/stdin.ts', () => ({
  readEvent: async () => ({ ok: true, text: '{"session_id":"one","cwd":"/work"}' }),
}));
/** An event that never comes to an end. */
vi.mock('../../../src/commands/hook/answer.ts', () => ({ answer: () => new Promise(() => {}) }));

beforeEach(() => {
  said.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.each([
  ['SessionStart', 2000],
  ['PreToolUse', 2000],
  ['SessionEnd', 1000],
])('%s answers {} after %i ms whatever it is busy with, and exits 0', async (event, limit) => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  expect(hookEntry([event])).toBe(true);
  await vi.advanceTimersByTimeAsync(limit - 1);
  expect([said, exit.mock.calls]).toEqual([[], []]);
  await vi.advanceTimersByTimeAsync(1);
  expect([said, exit.mock.calls]).toEqual([['{}\n'], [[0]]]);
});
