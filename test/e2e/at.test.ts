import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Recorder } from '../../src/remember/recorder/recorder.ts';
import { momentAt, NOON } from '../remember/recorder/machine.ts';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { type JsonSnapshot, reaptop } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = new Sandbox();
  const recorder = new Recorder({ directory: sandbox.path('home/.local/state/reaptop') });
  for (const second of [0, 10, 20]) await recorder.record(momentAt(second));
});
afterEach(() => sandbox.close());

const WHEN = new Date(NOON + 10_000).toISOString();

describe('--once --at', () => {
  test('shows the moment as it was judged then, and no process of this machine', async () => {
    const { code, stdout } = await reaptop(sandbox, ['--once', '--at', WHEN, '--json']);
    const snapshot = JSON.parse(stdout) as JsonSnapshot & { takenAt: string; host: { backend: string } };
    expect(code).toBe(0);
    expect([snapshot.takenAt, snapshot.host.backend]).toEqual([WHEN, 'recorded']);
    expect(snapshot.processes.map(p => [p.pid, p.verdict])).toContainEqual([400, 'leak']);
    expect(snapshot.processes.find(p => p.pid === 300)).toMatchObject({
      verdict: 'live',
      tmux: { session: 'main' },
    });
    expect(snapshot.findings.map(f => f.id)).toContain('leak');
    snapshotSchema.parse(snapshot);
  });

  test('is text without --json, and --fail-on counts what was wrong then', async () => {
    const { code, stdout } = await reaptop(sandbox, ['--once', '--at', WHEN, '--fail-on', 'warn']);
    expect(code).toBe(3);
    expect(stdout).toContain('chroma-mcp');
  });

  test('far from any picture says so and shows the nearest one', async () => {
    const { code, stdout } = await reaptop(sandbox, ['--once', '--at', '2026-11-16T15:00Z']);
    expect(code).toBe(0);
    expect(stdout).toContain('The recording ends before');
  });

  test.each([
    [['--at', 'noon'], 2, 'It must be HH:MM'],
    [['--at', '-2h', '--from', 'x'], 2, "can't be combined with --from or --demo"],
    [['--at', 'oom'], 1, 'No OOM kill was recorded.'],
  ])('%j is answered with one sentence', async (args, expected, words) => {
    const { code, stderr } = await reaptop(sandbox, ['--once', ...args]);
    expect(code).toBe(expected);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });

  test('where guard never ran says what would make a recording', async () => {
    const { code, stderr } = await reaptop(sandbox, ['--once', '--at', '-2h'], {
      env: { XDG_STATE_HOME: sandbox.path('nowhere') },
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was recorded yet')]);
  });
});
