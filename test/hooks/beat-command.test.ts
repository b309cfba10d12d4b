import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { beatCommand } from '../../src/hooks/beat-command.ts';
import { makeTask, readJson } from '../support/hook-session.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: string;
beforeEach(() => {
  sandbox = new Sandbox();
  said = '';
});
afterEach(() => sandbox.close());

const out = { write: (text: string): unknown => (said += text) };
const beat = (options: Parameters<typeof beatCommand>[0], cwd = sandbox.path('work')): number =>
  beatCommand(options, { env: sandbox.env, cwd, now: new Date(), out, err: out });

describe('a beat', () => {
  it('is written to the task’s file, and counters stay', () => {
    const file = join(makeTask(sandbox), '.agent-progress.json');
    expect(beat({ task: '688', phase: 2, operation: 'checking_diagnostics', proof: 'foo' })).toBe(0);
    expect(readJson(file)).toMatchObject({ task_number: 688, phase: 2, proof: 'foo', diagnostic_calls: 0 });
    writeFileSync(file, '{"diagnostic_calls":7,"skipped_diagnostics":3,"mine":{"deep":[1]},"phase":2}');
    beat({ task: '688', operation: 'developing_proof' });
    expect(readJson(file)).toMatchObject({
      diagnostic_calls: 7,
      skipped_diagnostics: 3,
      mine: { deep: [1] },
      phase: 2,
      operation: 'developing_proof',
    });
    expect(readdirSync(join(file, '..'))).toEqual(['.agent-progress.json']);
  });

  it('finds the task from below, and with leading zeros', () => {
    const task = makeTask(sandbox, '007_bond');
    expect(beat({ task: '7', session: 's' }, task)).toBe(0);
    expect(readJson(join(task, '.agent-progress.json'))).toMatchObject({ session_id: 's', task_number: 7 });
  });

  it('without a task is written here', () => {
    expect(beat({ operation: 'x' })).toBe(0);
    expect(readJson(sandbox.path('work/.agent-progress.json'))).toMatchObject({ operation: 'x' });
  });

  it('goes on after a file that was torn', () => {
    for (const text of ['', '{"phase":', 'null', '[]', '\0']) {
      writeFileSync(sandbox.path('work/.agent-progress.json'), text);
      expect(beat({ operation: 'again' })).toBe(0);
    }
    expect(readJson(sandbox.path('work/.agent-progress.json'))).toMatchObject({ operation: 'again' });
  });

  test.each([
    ['there is no specs', () => {}, /needs a directory called specs/],
    ['there is no such task', () => makeTask(sandbox, '1_a'), /no such task in/],
    [
      'two are meant',
      () => {
        makeTask(sandbox, '688_a');
        makeTask(sandbox, '0688_b');
      },
      /both .* are meant/,
    ],
  ])('%s', (_, make, why) => {
    make();
    expect(() => beat({ task: '688' })).toThrow(why);
  });

  it('a link in its place is not followed', () => {
    symlinkSync(sandbox.path('victim'), sandbox.path('work/.agent-progress.json'));
    expect(beat({ operation: 'x' })).toBe(1);
    expect(existsSync(sandbox.path('victim'))).toBe(false);
  });
});
