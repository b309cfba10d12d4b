import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  configure,
  HookSession,
  LEAN_BUILD,
  LEAN_CHECK,
  makeMarker,
  makeTask,
  readJson,
} from '../support/hook-session.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let one: HookSession;
let two: HookSession;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write('work/lean-toolchain', 'leanprover/lean4:v4.27.0');
  one = new HookSession(sandbox, 'session-one');
  two = new HookSession(sandbox, 'session-two');
});
afterEach(() => {
  vi.restoreAllMocks();
  return sandbox.close();
});

describe('two sessions in one project', () => {
  it('the second build is denied with who and since when, and allowed after the first', async () => {
    const first = await one.call(LEAN_BUILD);
    expect(first.said).toEqual({});
    const second = await two.call(LEAN_BUILD);
    expect(second.said.hookSpecificOutput).toMatchObject({
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(
        /"mcp__lean-lsp__lean_build" of session "session-one" has been at work on this project for \d+ s/,
      ),
    });
    await first.end();
    expect((await two.call(LEAN_BUILD)).said).toEqual({});
    expect(one.state()).toMatchObject({ diagnosticCalls: 1, skippedDiagnostics: 0, locks: [] });
    expect(two.state()).toMatchObject({ diagnosticCalls: 1, skippedDiagnostics: 1 });
  });

  it('a file in a directory below is of the same project, one of another project is not', async () => {
    await one.call(LEAN_CHECK, { file_path: sandbox.write('work/Deep/A.lean', '') });
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    sandbox.write('other/lakefile.toml', '');
    expect((await two.call(LEAN_CHECK, { file_path: sandbox.path('other/B.lean') })).denied).toBe(false);
  });

  it('a project that a tool names is that project, not the directory it lies in', async () => {
    sandbox.write('lean-toolchain', 'leanprover/lean4:v4.27.0');
    sandbox.write('other/lakefile.toml', '');
    await one.call(LEAN_BUILD, { lean_project_path: sandbox.path('other') });
    expect((await two.call(LEAN_BUILD, { lean_project_path: sandbox.path('other') })).denied).toBe(true);
    expect((await two.call(LEAN_CHECK, { file_path: sandbox.path('other/B.lean') })).denied).toBe(true);
    expect((await two.call(LEAN_BUILD)).denied).toBe(false);
    // The one around both is a third, whichever way it is named.
    const around = await two.call(LEAN_CHECK, { file_path: sandbox.path('A.lean') });
    expect(around.denied).toBe(false);
    await around.end();
    expect((await two.call(LEAN_BUILD, { lean_project_path: sandbox.dir })).denied).toBe(false);
  });

  it('three calls in a row are denied, however far apart, then one is let through', async () => {
    const first = await one.call(LEAN_BUILD);
    expect(first.denied).toBe(false);
    const denied = [];
    for (let call = 0; call < 4; call += 1) {
      denied.push((await two.call(LEAN_BUILD)).denied);
      const [from, by] = [Date.now(), 6 * 60_000];
      vi.spyOn(Date, 'now').mockReturnValue(from + by);
    }
    expect(denied).toEqual([true, true, true, false]);
  });

  it('every other tool goes through without a word', async () => {
    await one.call(LEAN_BUILD);
    for (const tool of ['Bash', 'mcp__lean-lsp__lean_goal', 'Edit'])
      expect((await two.call(tool)).said).toEqual({});
    expect(existsSync(join(sandbox.home, '.local/state/reaptop/sessions/session-two.json'))).toBe(false);
  });

  it('the fourth call in a row is let through with a warning', async () => {
    await one.call(LEAN_BUILD);
    for (let denial = 0; denial < 3; denial += 1) expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    const through = await two.call(LEAN_BUILD);
    expect(through.denied).toBe(false);
    expect(through.said.systemMessage).toContain('allowed now');
    expect(through.said.hookSpecificOutput?.permissionDecision).toBeUndefined();
  });

  it.each(['Stop', 'SessionEnd', 'UserPromptSubmit', 'PostToolUseFailure'] as const)(
    '%s gives the lock back',
    async event => {
      const call = { tool_name: LEAN_BUILD, tool_input: {}, tool_use_id: 'toolu_1' };
      await one.send('PreToolUse', call);
      await one.send(event, event === 'PostToolUseFailure' ? call : {});
      expect((await two.call(LEAN_BUILD)).denied).toBe(false);
    },
  );

  it('a subagent’s end gives back its own lock only', async () => {
    await one.call(LEAN_BUILD);
    await one.send('SubagentStop', { agent_id: 'a1' });
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    await one.send('Stop');
    const call = { tool_name: LEAN_BUILD, tool_input: {}, tool_use_id: 'toolu_1', agent_id: 'a1' };
    await one.send('PreToolUse', call);
    await one.send('SubagentStop', { agent_id: 'a1' });
    expect((await two.call(LEAN_BUILD)).denied).toBe(false);
  });

  it('another tool’s end, another call’s end and another session’s end give nothing back', async () => {
    await one.call(LEAN_BUILD);
    await one.send('PostToolUse', { tool_name: 'Bash', tool_use_id: 'toolu_other' });
    await two.send('Stop');
    await two.send('SessionEnd');
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
  });

  it('the lock of a session whose agent has ended is nobody’s', async () => {
    const agent = sandbox.start([sandbox.sleeper('agent'), '600']);
    const { takeBuildLock } = await import('../../src/hooks/exclusive-lock.ts');
    const { ownerOf } = await import('../../src/act/record/file-lock.ts');
    const holder = {
      ...ownerOf(agent),
      by: 'hook' as const,
      key: sandbox.path('work'),
      session: 'gone',
      toolUseId: 't',
      what: LEAN_BUILD,
      since: Date.now(),
    };
    expect(takeBuildLock(join(sandbox.home, '.local/state/reaptop'), holder, Date.now())).toMatchObject({
      status: 'taken',
    });
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    process.kill(agent.pid, 'SIGKILL');
    await until('the agent to end', () => !isRunning(agent.pid));
    expect((await two.call(LEAN_BUILD)).denied).toBe(false);
  });
});

describe('a build that nobody announced', () => {
  it.each([
    ['lake build', true],
    ['lake serve', false],
    ['lake setup-file X.lean', false],
  ])('%s: denied %s', async (words, denied) => {
    const [, ...rest] = words.split(' ');
    const lake = sandbox.start([sandbox.script('lake'), ...(rest as [string])]);
    await until('lake to run', () => readFileSync(`/proc/${lake.pid}/comm`, 'utf8').trim() === 'lake');
    expect((await one.call(LEAN_BUILD)).denied).toBe(denied);
  });

  it('in another project is not in the way', async () => {
    sandbox.write('other/lakefile.toml', '');
    const lake = sandbox.start([sandbox.script('lake'), 'build'], { cwd: sandbox.path('other') });
    await until('lake to run', () => readFileSync(`/proc/${lake.pid}/comm`, 'utf8').trim() === 'lake');
    expect((await one.call(LEAN_BUILD)).denied).toBe(false);
  });
});

describe('beside the seeds’ scripts', () => {
  const age = (path: string, seconds: number): void => {
    const at = new Date(Date.now() - seconds * 1000);
    utimesSync(path, at, at);
  };

  it('a fresh lock of theirs holds us up for half a minute, a stale one does not', async () => {
    const lock = join(makeTask(sandbox), '.diagnostic-lock');
    writeFileSync(lock, '');
    expect((await one.call(LEAN_BUILD)).denied).toBe(true);
    age(lock, 31);
    expect((await two.call(LEAN_BUILD)).denied).toBe(false);
  });

  it('an empty lock lies in the task directory while we build, and its counters are right', async () => {
    const task = makeTask(sandbox);
    makeMarker(task);
    const [lock, progress] = [join(task, '.diagnostic-lock'), join(task, '.agent-progress.json')];
    writeFileSync(lock, '');
    age(lock, 60);
    await one.writeTo('specs/688_zombies');
    await two.writeTo('specs/688_zombies');
    const first = await one.call(LEAN_BUILD);
    expect(readFileSync(lock, 'utf8')).toBe('');
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    expect((await two.call(LEAN_BUILD)).denied).toBe(true);
    expect(readJson(progress)).toMatchObject({ diagnostic_calls: 1, skipped_diagnostics: 2 });
    await first.end();
    expect(existsSync(lock)).toBe(false);
    await (await two.call(LEAN_CHECK)).end();
    expect(readJson(progress)).toMatchObject({ diagnostic_calls: 2, skipped_diagnostics: 2 });
  });

  it('a session that has only named the task neither counts in it nor puts a lock there', async () => {
    const task = makeTask(sandbox);
    const progress = join(task, '.agent-progress.json');
    writeFileSync(progress, '{"session_id":"sess_1","diagnostic_calls":1}');
    await one.name('specs/688_zombies');
    await one.call(LEAN_BUILD);
    expect(existsSync(join(task, '.diagnostic-lock'))).toBe(false);
    expect(readFileSync(progress, 'utf8')).toBe('{"session_id":"sess_1","diagnostic_calls":1}');
  });
});

it('with the throttle on three checks are followed by three skipped ones', async () => {
  configure(sandbox, { hooks: { throttle: true } });
  const denied = [];
  for (let check = 0; check < 7; check += 1) {
    const call = await one.call(LEAN_CHECK);
    denied.push(call.denied);
    await call.end();
  }
  expect(denied).toEqual([false, false, false, true, true, true, false]);
  expect(one.state()).toMatchObject({ diagnosticCalls: 4, skippedDiagnostics: 3 });
});

it('the tools that build can be configured, with stars', async () => {
  configure(sandbox, { hooks: { buildTools: ['Make*'] } });
  expect((await one.call('MakeAll')).denied).toBe(false);
  expect((await two.call('MakeOne')).denied).toBe(true);
  expect((await two.call(LEAN_BUILD)).denied).toBe(false);
});
