import { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommand } from '../../src/observe/run-command.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

const run = (words: readonly string[], signal?: AbortSignal, timeoutMs = 60_000) =>
  runCommand(words[0]!, words.slice(1), { timeoutMs, env: sandbox.env, ...(signal && { signal }) });

describe('a program that cannot be started', () => {
  test('and is called off in the same moment is signalled by nobody: its pid would be 0, our own group', async () => {
    // What Node would send is only noted: it would end whoever runs this test.
    const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
    const abort = new AbortController();
    const result = run(['/nowhere/x'], abort.signal);
    abort.abort();
    expect(await result).toMatchObject({ status: 'failed' });
    expect(kill).not.toHaveBeenCalled();
  });

  test('is missing', async () => {
    expect(await run(['/nowhere/x'])).toEqual({ status: 'missing' });
  });
});

test('what is called off before it begins is not started', async () => {
  const out = sandbox.path('out');
  expect(await run(['touch', out], AbortSignal.abort())).toMatchObject({ status: 'failed' });
  expect(await run(['ls', out])).toMatchObject({ status: 'done', code: 2 });
});

test.each([
  ['called off', { status: 'failed', why: 'it was called off' }],
  ['over its time', { status: 'timeout' }],
])('one that is %s is ended, though what it started holds its output open', async (how, expected) => {
  const abort = new AbortController();
  const script = 'sleep 600 & echo $$ > "$0"; exec sleep 600';
  const pid = sandbox.path('pid');
  const result = run(['sh', '-c', script, pid], abort.signal, how === 'called off' ? 60_000 : 300);
  if (how === 'called off') {
    await until('it to run', () => sandbox.running().filter(p => p.comm === 'sleep').length === 2);
    abort.abort();
  }
  expect(await result).toEqual(expected);
  await until('it to end', () => sandbox.running().length < 2);
});

test('one that is done says its code and its words, and its end is final', async () => {
  const abort = new AbortController();
  const result = await run(['sh', '-c', 'echo out; echo err >&2; exit 3'], abort.signal);
  abort.abort();
  expect(result).toEqual({ status: 'done', code: 3, stdout: 'out\n', stderr: 'err\n' });
});
