import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configure, HookSession, makeMarker, makeTask, readJson, stateOf } from '../support/hook-session.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

describe('a beat', () => {
  it('says what the session does, counts its turns, and answers nothing', async () => {
    const session = new HookSession(sandbox);
    expect(await session.send('UserPromptSubmit')).toEqual({});
    expect(await session.send('PostToolUse', { tool_name: 'Read' })).toEqual({});
    expect(session.state()).toMatchObject({
      session: 'session-one',
      cwd: session.cwd,
      operation: 'Read',
      turns: { '': 2 },
    });
    expect(statSync(join(stateOf(sandbox), 'sessions/session-one.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(stateOf(sandbox), 'sessions')).mode & 0o777).toBe(0o700);
  });

  it('begins with a session that is resumed, which is told nothing and has nothing cleared for it', async () => {
    const session = new HookSession(sandbox);
    expect(await session.send('SessionStart', { source: 'resume' })).toEqual({});
    expect(session.state()).toMatchObject({ operation: 'starting', turns: {} });
    expect(existsSync(join(stateOf(sandbox), 'audit.jsonl'))).toBe(false);
  });

  it('counts a subagent’s turns apart', async () => {
    const session = new HookSession(sandbox);
    await session.send('PostToolUse');
    await session.send('PostToolUse', { agent_id: 'a1' });
    await session.send('PostToolUse', { agent_id: 'a1' });
    expect(session.state()).toMatchObject({ turns: { '': 1, a1: 2 } });
  });

  it('is written to the file of the task that the session works on, and keeps what others counted', async () => {
    const task = makeTask(sandbox);
    makeMarker(task);
    const file = join(task, '.agent-progress.json');
    writeFileSync(
      file,
      '{"session_id":"sess_1","task_number":688,"phase":2,"operation":"initializing","diagnostic_calls":4,"mine":7}',
    );
    const session = new HookSession(sandbox);
    await session.send('PostToolUse', {
      tool_name: 'Edit',
      tool_input: { file_path: join(task, 'plan.md') },
    });
    expect(readJson(file)).toMatchObject({
      session_id: 'sess_1',
      task_number: 688,
      phase: 2,
      operation: 'Edit',
      diagnostic_calls: 4,
      skipped_diagnostics: 0,
      mine: 7,
      last_update: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/),
    });
  });

  it('writes nothing into a directory called specs where the seeds are not in use', async () => {
    const task = makeTask(sandbox, '001-feature');
    writeFileSync(join(task, 'spec.md'), '# a feature');
    await new HookSession(sandbox).name('specs/001-feature');
    expect(existsSync(join(task, '.agent-progress.json'))).toBe(false);
  });

  it('survives a state file that makes no sense', async () => {
    const session = new HookSession(sandbox);
    await session.send('PostToolUse');
    for (const text of ['', '{', 'null', '[]', '{"session":7}', '\0\0\0']) {
      writeFileSync(join(stateOf(sandbox), 'sessions/session-one.json'), text);
      expect(await session.send('PostToolUse')).toEqual({});
      expect(session.state()).toMatchObject({ turns: { '': 1 } });
    }
  });

  it('goes on without a place to remember anything', async () => {
    sandbox.write('home/.local/state/reaptop', 'a file in its place');
    const session = new HookSession(sandbox);
    for (const event of ['UserPromptSubmit', 'PostToolUse', 'PreToolUse', 'Stop', 'SessionEnd'] as const)
      expect(await session.send(event)).toEqual({});
  });
});

describe('over its limits', () => {
  it('a session is told once to save its work and end; below them nothing is said', async () => {
    const session = new HookSession(sandbox);
    configure(sandbox, { thresholds: { 'over-memory': { limitBytes: 1e15 } } });
    expect(await session.send('PostToolUse')).toEqual({});
    configure(sandbox, { thresholds: { 'over-memory': { limitBytes: 1 } } });
    const { hookSpecificOutput } = await session.send('PostToolUse');
    expect(hookSpecificOutput).toMatchObject({
      hookEventName: 'PostToolUse',
      additionalContext: expect.stringContaining('Save your progress now'),
    });
    expect(await session.send('PostToolUse')).toEqual({});
    expect(await session.send('UserPromptSubmit')).toEqual({});
  });

  it('reports too many turns when the config sets a limit', async () => {
    configure(sandbox, { hooks: { turns: { limit: 2 } } });
    const session = new HookSession(sandbox);
    const said = [];
    for (let turn = 0; turn < 4; turn += 1) said.push(await session.send('UserPromptSubmit'));
    expect(said.map(({ hookSpecificOutput }) => hookSpecificOutput?.additionalContext ?? null)).toEqual([
      null,
      null,
      expect.stringContaining('this is turn 3, over the limit of 2'),
      null,
    ]);
  });

  it('a config that is not valid JSON changes nothing', async () => {
    sandbox.write('home/.config/reaptop/config.json', '{"hooks":');
    expect(await new HookSession(sandbox).send('PostToolUse')).toEqual({});
  });
});

it('what a hook did for a reason is one line in its log', async () => {
  configure(sandbox, { thresholds: { 'over-memory': { limitBytes: 1 } } });
  await new HookSession(sandbox).send('PostToolUse');
  const [line, rest] = readFileSync(join(stateOf(sandbox), 'hook.log'), 'utf8').split('\n');
  expect(JSON.parse(line!)).toMatchObject({ event: 'PostToolUse', session: 'session-one' });
  expect(rest).toBe('');
});
