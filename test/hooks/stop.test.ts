import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { HookSession, makeMarker, makeTask, readJson, stateOf } from '../support/hook-session.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let task: string;
let session: HookSession;
beforeEach(async () => {
  sandbox = new Sandbox();
  task = makeTask(sandbox);
  writeFileSync(join(task, 'plan.md'), '# plan');
  session = new HookSession(sandbox);
});
afterEach(() => sandbox.close());

const marker = (): string => join(task, '.postflight-pending');
const guard = (): string => join(task, '.postflight-loop-guard');

/** Stops until one is allowed; gives the reasons of those that were blocked. */
const stopUntilAllowed = async (event: 'Stop' | 'SubagentStop' = 'Stop', between: () => void = () => {}) => {
  const reasons: string[] = [];
  for (let stops = 0; stops < 20; stops += 1) {
    const said = await session.send(event, { stop_hook_active: reasons.length > 0 });
    if (said.decision !== 'block') return { reasons, said };
    reasons.push(said.reason ?? '');
    between();
  }
  throw new Error('it never stopped');
};

describe('a marker that is this session’s own', () => {
  beforeEach(() => session.writeTo('specs/688_zombies'));

  it.each(['Stop', 'SubagentStop'] as const)(
    'blocks %s three times with its reason, then lets go and is removed',
    async event => {
      makeMarker(task);
      const counts: string[] = [];
      const { reasons, said } = await stopUntilAllowed(event, () =>
        counts.push(readFileSync(guard(), 'utf8')),
      );
      expect(reasons).toEqual(
        Array(3).fill(
          expect.stringMatching(
            /^reaptop: .* From the repository: "Postflight pending: status update, artifact linking, git commit"$/,
          ),
        ),
      );
      expect(counts).toEqual(['1\n', '2\n', '3\n']);
      expect(said).toEqual({});
      expect([existsSync(marker()), existsSync(guard())]).toEqual([false, false]);
    },
  );

  it('blocks no more once the work is done', async () => {
    makeMarker(task);
    const { reasons } = await stopUntilAllowed('Stop', () => rmSync(marker(), { force: true }));
    expect(reasons).toHaveLength(1);
  });

  it('the way out removes both at once', async () => {
    makeMarker(task, { text: '{"stop_hook_active": true}', guard: '1\n' });
    expect(await session.send('Stop')).toEqual({});
    expect([existsSync(marker()), existsSync(guard())]).toEqual([false, false]);
  });

  it('is a deadlock when it is old, was blocked once, and nothing moves', async () => {
    makeMarker(task, { ageSeconds: 200 });
    const { reasons } = await stopUntilAllowed();
    expect(reasons).toHaveLength(1);
    expect(existsSync(marker())).toBe(false);
    expect(readFileSync(join(stateOf(sandbox), 'hook.log'), 'utf8')).toMatch(
      /stuck: the marker is 20\d s old/,
    );
  });

  it('is no deadlock while something in the task directory changes', async () => {
    makeMarker(task, { ageSeconds: 200 });
    let work = 0;
    const { reasons } = await stopUntilAllowed('Stop', () => {
      work += 1;
      writeFileSync(join(task, `report-${work}.md`), 'more');
    });
    expect(reasons).toHaveLength(3);
  });

  it.each<[string, () => void]>([
    ['the guard is removed each time', () => rmSync(guard(), { force: true })],
    ['the guard is set back each time', () => writeFileSync(guard(), '0\n')],
    ['the guard is nonsense', () => writeFileSync(guard(), 'many')],
    ['the guard holds another program’s JSON', () => writeFileSync(guard(), '{"count":-9}')],
    [
      'the marker is made anew each time',
      () => {
        rmSync(marker());
        rmSync(guard(), { force: true });
        makeMarker(task, { text: `{"created":"${new Date().toISOString()}","nonce":"${Math.random()}"}` });
      },
    ],
  ])('is never blocked more than three times in a row though %s', async (_, meddle) => {
    makeMarker(task);
    const { reasons } = await stopUntilAllowed('Stop', meddle);
    expect(reasons.length).toBeLessThanOrEqual(3);
  });

  it('blocks nothing when it cannot count: the guard is a directory', async () => {
    makeMarker(task);
    mkdirSync(guard());
    expect(await session.send('Stop')).toEqual({});
    expect(existsSync(marker())).toBe(true);
  });

  it('blocks nothing in a directory that everybody may write', async () => {
    makeMarker(task);
    chmodSync(task, 0o777);
    expect(await session.send('Stop')).toEqual({});
    expect([existsSync(marker()), existsSync(guard())]).toEqual([true, false]);
  });

  it.each(['', 'null', '[]', '{', '{"reason": $reason}', '\0', 'x'.repeat(200_000)])(
    'says something when the marker is %j',
    async text => {
      makeMarker(task, { text });
      expect(await session.send('Stop')).toMatchObject({
        decision: 'block',
        reason: expect.stringContaining('Postflight'),
      });
    },
  );

  it('a reason from a file cannot write to a terminal, nor go on forever', async () => {
    makeMarker(task, { text: JSON.stringify({ reason: `\u001b[2J${'x'.repeat(20_000)}` }) });
    const { reason = '' } = await session.send('Stop');
    expect(reason).not.toContain('\u001b');
    expect(reason.length).toBeLessThan(3000);
  });

  it('a link is no marker', async () => {
    writeFileSync(sandbox.path('work/elsewhere'), '{}');
    symlinkSync(sandbox.path('work/elsewhere'), marker());
    expect(await session.send('Stop')).toEqual({});
    expect(existsSync(sandbox.path('work/elsewhere'))).toBe(true);
  });
});

describe('whose marker it is', () => {
  const asClaude = (pid: number, start: string, sessionId: string): void => {
    sandbox.write(
      `home/.claude/sessions/${pid}.json`,
      JSON.stringify({ pid, sessionId, procStart: start, cwd: session.cwd }),
    );
  };

  it('one made after the session’s start, with nobody else in the project, is ours', async () => {
    await session.send('SessionStart', { source: 'resume' });
    makeMarker(task);
    expect(await session.send('Stop')).toMatchObject({ decision: 'block' });
  });

  it('one that was there before is not', async () => {
    makeMarker(task, { ageSeconds: 600 });
    await session.send('SessionStart', { source: 'resume' });
    expect(await session.send('Stop')).toEqual({});
    expect(existsSync(marker())).toBe(true);
  });

  it('with another live session there it is nobody’s, unless a tool call named it', async () => {
    await session.send('SessionStart', { source: 'resume' });
    const other = sandbox.start([sandbox.sleeper('claude'), '600']);
    asClaude(other.pid, other.start, 'somebody-else');
    makeMarker(task);
    expect(await session.send('Stop')).toEqual({});
    await session.name('specs/688_zombies');
    expect(await session.send('Stop')).toMatchObject({ decision: 'block' });
  });

  it('a session that has ended is nobody there', async () => {
    await session.send('SessionStart', { source: 'resume' });
    asClaude(4_000_000, '1', 'ended');
    makeMarker(task);
    expect(await session.send('Stop')).toMatchObject({ decision: 'block' });
  });

  it('uses the newer of two markers and leaves the other alone', async () => {
    const other = makeTask(sandbox, '9_other');
    makeMarker(other, { text: '{"reason":"theirs"}' });
    makeMarker(task, { text: '{"reason":"ours"}' });
    await session.name('specs/9_other');
    await session.name('specs/688_zombies');
    expect(await session.send('Stop')).toMatchObject({
      reason: expect.stringContaining('"ours"'),
    });
    expect(existsSync(join(other, '.postflight-loop-guard'))).toBe(false);
  });

  it('the old global marker counts as well', async () => {
    await session.send('PostToolUse', { tool_input: { command: 'cat specs/.postflight-pending' } });
    makeMarker(sandbox.path('work/specs'));
    expect(await session.send('Stop')).toMatchObject({ decision: 'block' });
  });
});

describe('the seeds’ own hook', () => {
  const SETTINGS = {
    hooks: {
      SubagentStop: [
        { matcher: '*', hooks: [{ type: 'command', command: 'bash .claude/hooks/subagent-postflight.sh' }] },
      ],
    },
  };

  test.each(['work/.claude/settings.json', 'work/.claude/settings.local.json', 'home/.claude/settings.json'])(
    'in %s: we stand down',
    async file => {
      await session.name('specs/688_zombies');
      makeMarker(task, { guard: '3\n' });
      sandbox.write(file, JSON.stringify(SETTINGS));
      expect(await session.send('SubagentStop')).toEqual({});
      expect([existsSync(marker()), existsSync(guard())]).toEqual([true, true]);
    },
  );

  it('only mentioned, it decides nothing', async () => {
    await session.name('specs/688_zombies');
    makeMarker(task);
    sandbox.write('work/.claude/settings.json', '{"permissions":{"allow":["Bash(subagent-postflight.sh)"]}}');
    expect(await session.send('Stop')).toMatchObject({ decision: 'block' });
  });
});

it('a stop without a marker beats, and leaves nothing in the project', async () => {
  rmSync(sandbox.path('work/specs'), { recursive: true });
  expect(await session.send('Stop')).toEqual({});
  expect(session.state()).toMatchObject({ operation: 'waiting' });
});

describe('a session that ends', () => {
  const progress = (of = task): string => join(of, '.agent-progress.json');
  const BEAT = '{"operation":"developing_proof","diagnostic_calls":2}';
  beforeEach(() => writeFileSync(progress(), BEAT));
  const ended = (): boolean => readJson(progress()).status === 'ended';

  it.each<[string, () => Promise<unknown>]>([
    ['wrote to', () => session.writeTo('specs/688_zombies')],
    ['wrote to with a command', () => bash('echo x >> "specs/688_zombies/notes.md"')],
    ['made with a command', () => bash('mkdir -p specs/688_zombies/reports')],
    ['edited by its whole path', () => session.writeTo(task)],
    ['was asked for by path', () => prompt('please go on with specs/688_zombies/plan.md')],
    ['was asked for by number', () => prompt('/implement 688 --force')],
    ['was started in', () => session.send('PostToolUse', { cwd: join(task), tool_input: { command: 'ls' } })],
  ])('ends the heartbeat of a task that it %s, and is forgotten', async (_, work) => {
    await work();
    await session.send('SessionEnd');
    expect(readJson(progress())).toMatchObject({ status: 'ended', diagnostic_calls: 2 });
    expect(existsSync(join(stateOf(sandbox), 'sessions/session-one.json'))).toBe(false);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['read', () => session.name('specs/688_zombies')],
    ['read with a tool', () => bash('cat < specs/688_zombies/plan.md > /tmp/copy')],
    [
      'failed to write to',
      () =>
        session.send('PostToolUseFailure', {
          tool_name: 'Write',
          tool_input: { file_path: join(task, 'x') },
        }),
    ],
    ['was asked about by another number', () => prompt('/implement 6881')],
    ['was only told the number of', () => prompt('fix issue 688')],
  ])('leaves the heartbeat of a task that it only %s', async (_, work) => {
    await work();
    for (const event of ['PostToolUse', 'Stop', 'SessionEnd'] as const) await session.send(event);
    expect(readFileSync(progress(), 'utf8')).toBe(BEAT);
  });

  it('leaves the tasks of another project, however they are reached', async () => {
    const other = makeTask(sandbox, '5_x', 'other');
    // One of the same name here is not meant either.
    const namesake = makeTask(sandbox, '5_x');
    for (const directory of [other, namesake]) writeFileSync(progress(directory), BEAT);
    symlinkSync(other, sandbox.path('work/specs/7_link'));
    symlinkSync(sandbox.path('other'), sandbox.path('work/linked'));
    for (const path of [other, 'specs/7_link', 'linked/specs/5_x', '../other/specs/5_x']) {
      await session.writeTo(path);
      await prompt(`/implement 7 in ${path}/plan.md`);
    }
    expect(session.state()).toMatchObject({ tasks: [], works: [] });
    for (const event of ['PostToolUse', 'Stop', 'SessionEnd'] as const) await session.send(event);
    for (const directory of [other, namesake]) expect(readFileSync(progress(directory), 'utf8')).toBe(BEAT);
  });

  it('leaves the heartbeat of a task that another live session works on', async () => {
    const agent = sandbox.start([sandbox.sleeper('claude'), '600']);
    const other = new HookSession(sandbox, 'session-two');
    await other.writeTo('specs/688_zombies');
    const state = join(stateOf(sandbox), 'sessions/session-two.json');
    const { pid, start } = agent;
    writeFileSync(state, JSON.stringify({ ...other.state(), agent: { pid, start } }));
    await session.writeTo('specs/688_zombies');
    await session.send('SessionEnd');
    expect(ended()).toBe(false);
    process.kill(pid, 'SIGKILL');
    await until('it to end', () => !isRunning(pid, start));
    await session.writeTo('specs/688_zombies');
    await session.send('SessionEnd');
    expect(ended()).toBe(true);
  });

  const bash = (command: string) =>
    session.send('PostToolUse', { tool_name: 'Bash', tool_input: { command } });
  const prompt = (text: string) => session.send('UserPromptSubmit', { prompt: text });
});

describe('a marker that a session has only named', () => {
  it('blocks, but is never removed', async () => {
    makeMarker(task, { ageSeconds: 600 });
    await session.send('SessionStart', { source: 'resume' });
    await session.name('specs/688_zombies');
    const { reasons } = await stopUntilAllowed('Stop');
    expect(reasons.length).toBeGreaterThan(0);
    expect([existsSync(marker()), existsSync(guard())]).toEqual([true, true]);
  });

  it('blocks nothing while another live session works on that task', async () => {
    const { pid, start } = sandbox.start([sandbox.sleeper('claude'), '600']);
    const other = new HookSession(sandbox, 'session-two');
    await other.writeTo('specs/688_zombies');
    writeFileSync(
      join(stateOf(sandbox), 'sessions/session-two.json'),
      JSON.stringify({ ...other.state(), agent: { pid, start } }),
    );
    makeMarker(task, { ageSeconds: 600 });
    await session.name('specs/688_zombies');
    expect(await session.send('Stop')).toEqual({});
    expect(existsSync(guard())).toBe(false);
  });
});
