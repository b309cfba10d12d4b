import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { ownerOf } from '../../src/act/record/file-lock.ts';
import { hookContext } from '../../src/hooks/context.ts';
import { understand } from '../../src/hooks/decide/input.ts';
import { sessionStart } from '../../src/hooks/session-start.ts';
import { HOOK_EVENTS } from '../../src/model/hook.ts';
import { shellLine } from '../../src/model/shell.ts';
import { EVENTS } from '../fixtures/hooks.ts';
import { startAgent } from '../support/agent.ts';
import { auditLines } from '../support/audit.ts';
import { CLI, REAPTOP, reaptop, snapshotOf } from '../support/cli.ts';
import { configure, HookSession, makeMarker, makeTask, stateOf } from '../support/hook-session.ts';
import { lacking, needsRootsDirectories } from '../support/lacking.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const hook = (event: string, input: string | Buffer) => reaptop(sandbox, ['hook', event], { input });
const jsonOf = (event: keyof typeof EVENTS, extra: object = {}): string =>
  JSON.stringify({ ...EVENTS[event], cwd: sandbox.path('work'), ...extra });
const logLines = (): { what: string }[] => {
  const path = join(stateOf(sandbox), 'hook.log');
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as { what: string })
    : [];
};

test.each(HOOK_EVENTS)(
  '%s as Claude Code sends it: one JSON object, exit 0, nothing on stderr',
  async event => {
    const { code, stdout, stderr } = await hook(event, jsonOf(event));
    expect([code, stderr]).toEqual([0, '']);
    expect(typeof JSON.parse(stdout)).toBe('object');
  },
);

describe('whatever comes on standard input', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['half an event', jsonOfStop().slice(0, 40)],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['NULs', Buffer.alloc(2000)],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x7d])],
    ['ten megabytes', Buffer.alloc(10 * 1024 ** 2, 'x')],
    ['a session that is a path', '{"session_id":"../../etc/x","cwd":"/"}'],
  ])('%s: {} and one line in the log', async (_, input) => {
    expect(await hook('Stop', input)).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    expect(logLines()).toHaveLength(1);
  });

  it('an event that there is not', async () => {
    expect(await hook('Nonsense', '{}')).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    expect(logLines()).toMatchObject([{ what: 'no such event' }]);
  });

  it('an input that is never closed is answered within a second', async () => {
    const child = spawn(process.execPath, [CLI, 'hook', 'Stop'], {
      env: sandbox.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const firstByte = await new Promise<number>(resolve => {
      const startedAt = Date.now();
      child.stdin.write('{"session_id":');
      child.stdout.on('data', () => resolve(Date.now() - startedAt));
    });
    const code = await new Promise(resolve => child.on('close', resolve));
    expect(code).toBe(0);
    // The second is the hook's; a loaded machine takes its own time to start one.
    expect(firstByte).toBeLessThan(5000);
  });

  function jsonOfStop(): string {
    return JSON.stringify(EVENTS.Stop);
  }
});

it('fifty hooks at once on one session lose no count', async () => {
  // From a shell: a test that starts fifty processes is itself too slow to feed them all in time.
  const event = sandbox.write('work/event.json', jsonOf('PostToolUse'));
  const one = `${REAPTOP} hook PostToolUse < '${event}'`;
  const shell = sandbox.start(['/bin/sh', '-c', `for n in $(seq 50); do ${one} & done; wait`]);
  await until('all of them to end', () => !isRunning(shell.pid, shell.start), { timeoutMs: 55_000 });
  // Who could not wait any longer left its count to the next one.
  await hook('PostToolUse', jsonOf('PostToolUse'));
  const sessions = join(stateOf(sandbox), 'sessions');
  const files = readdirSync(sessions).filter(name => !name.endsWith('.owed'));
  expect(files).toEqual([`${EVENTS.PostToolUse.session_id}.json`]);
  expect(JSON.parse(readFileSync(join(sessions, files[0]!), 'utf8')).turns).toEqual({ '': 51 });
});

describe('a hook costs its session nothing', () => {
  /** The time that it takes, Node's own start included. */
  const timed = async (event: keyof typeof EVENTS, extra: object = {}): Promise<number> => {
    const began = performance.now();
    expect(await hook(event, jsonOf(event, extra))).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    return performance.now() - began;
  };
  const START_MS = 1000;
  const task = (): string => {
    const directory = makeTask(sandbox);
    writeFileSync(join(directory, '.agent-progress.json'), '{}');
    return directory;
  };
  const write = { tool_name: 'Write', tool_input: { file_path: 'specs/688_zombies/plan.md' } };

  test.each<[string, (lock: string) => unknown]>([
    ['a link to a device without an end', lock => symlinkSync('/dev/zero', lock)],
    ['a FIFO', lock => execFileSync('mkfifo', [lock])],
    ['a directory', lock => mkdirSync(lock)],
  ])('when its repository has %s for a lock', async (_, make) => {
    needsRootsDirectories();
    const directory = task();
    make(join(directory, '.agent-progress.json.lock'));
    for (const event of ['PostToolUse', 'Stop', 'SessionEnd'] as const)
      expect(await timed(event, write)).toBeLessThan(START_MS);
    expect(JSON.parse(readFileSync(join(directory, '.agent-progress.json'), 'utf8'))).toMatchObject({
      status: 'ended',
    });
  });

  test.each<[keyof typeof EVENTS, number]>([
    ['PostToolUse', 2000],
    ['Stop', 2000],
    ['SessionEnd', 1000],
  ])('when another process has its session’s file for good: %s within %i ms', async (event, limit) => {
    await timed('PostToolUse');
    const lock = join(stateOf(sandbox), 'sessions', `${EVENTS[event].session_id}.json.lock`);
    writeFileSync(lock, JSON.stringify(ownerOf()));
    expect(await timed(event)).toBeLessThan(limit + START_MS);
  });

  it('when the disk is full', () => {
    if (spawnSync('unshare', ['-m', 'true']).status !== 0) lacking('this user may not mount anything');
    task();
    const event = sandbox.write('work/event.json', jsonOf('PostToolUse', write));
    const script = [
      'set -e',
      'mkdir -p "$1" && mount -t tmpfs -o size=16k full "$1"',
      'mount -t tmpfs -o size=16k full specs && mkdir specs/688_zombies',
      'for d in "$1" specs; do dd if=/dev/zero of="$d/fill" bs=4k 2> /dev/null || :; done',
      ': > specs/688_zombies/.postflight-pending',
      'began=$(date +%s%N)',
      'for n in 1 2 3; do "$2" "$3" hook PostToolUse < "$4"; done',
      '"$2" "$3" beat --task 688 && exit 9',
      'echo $(( ($(date +%s%N) - began) / 1000000 ))',
      'find "$1" specs -name "*.tmp" -o -name "*.lock"',
    ].join('\n');
    const run = spawnSync(
      'unshare',
      ['-m', 'sh', '-c', script, 'sh', stateOf(sandbox), process.execPath, CLI, event],
      { cwd: sandbox.path('work'), env: sandbox.env, encoding: 'utf8' },
    );
    const [first, second, third, ms, ...left] = run.stdout.trim().split('\n');
    expect([run.status, run.stderr]).toEqual([0, expect.stringContaining('the disk is full')]);
    expect([first, second, third, left]).toEqual(['{}', '{}', '{}', []]);
    expect(Number(ms)).toBeLessThan(4 * START_MS);
  });
});

it('what a session left is proven by what its end wrote down, and nothing of the hook stays', async () => {
  const event = jsonOf('SessionEnd', { session_id: 'ending' });
  sandbox.write('work/event.json', event);
  const crunch = sandbox.sleeper('crunch');
  // An agent that gives its children no mark at all: only lineage can tell whose they are.
  const agent = await startAgent(sandbox, {
    session: '',
    children: [`${crunch} 600`, shellLine(['sh', '-c', `${REAPTOP} hook SessionEnd < event.json`])],
  });
  const left = await until('what the agent started', () =>
    childrenOf(agent.pid).find(({ comm }) => comm === 'crunch'),
  );
  const lineage = join(stateOf(sandbox), 'lineage.d/ending.jsonl');
  await until('the lineage to be written', () => existsSync(lineage));
  await until('the hook to end', () =>
    childrenOf(agent.pid).every(({ comm }) => comm !== 'node' && comm !== 'sh'),
  );
  const recorded = readFileSync(lineage, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { pid: number });
  expect(recorded.map(({ pid }) => pid)).toContain(left.pid);
  process.kill(agent.pid, 'SIGKILL');
  await until('it to be adopted', () => rawProcess(left.pid)?.ppid !== agent.pid && !isRunning(agent.pid));
  const { processes } = await snapshotOf(sandbox);
  expect(processes.find(({ pid }) => pid === left.pid)).toMatchObject({
    verdict: 'leak',
    owner: { pid: agent.pid, sessionId: 'ending', how: 'lineage', alive: false },
  });
});

/** A tool below an agent that has not reaped a child, and reaps it when it is reminded. */
const owing = async () => {
  const tool = sandbox.write(
    'bin/owing',
    `#!/usr/bin/perl
if (!fork) { exit 0 }
select(undef, undef, undef, 0.05);
$SIG{CHLD} = sub { 1 while waitpid(-1, 1) > 0 };
while (1) { select(undef, undef, undef, 600) }
`,
    0o755,
  );
  const agent = await startAgent(sandbox, { children: [tool] });
  const parent = await until('the tool', () =>
    childrenOf(agent.pid).find(({ comm }) => comm === 'owing' || comm === 'perl'),
  );
  const zombie = await until('its zombie', () => childrenOf(parent.pid).find(({ state }) => state === 'Z'));
  return { parent, zombie };
};

it('a session that starts reminds whoever owes a child, and ends nobody for it', async () => {
  const { parent, zombie } = await owing();
  await hook('SessionStart', jsonOf('SessionStart', { source: 'startup' }));
  await until('the zombie to be reaped', () => rawProcess(zombie.pid)?.start !== zombie.start);
  expect(isRunning(parent.pid, parent.start)).toBe(true);
});

describe('a stop with a marker of its own, among many builds of the project', () => {
  it.each([
    [3, 'stays', true],
    [4, 'is cleared', false],
  ])('%i builds: a zombie %s, and the decision is the same', async (builds, _, stays) => {
    needsRootsDirectories();
    sandbox.write('work/lakefile.toml', '');
    const task = makeTask(sandbox);
    makeMarker(task);
    const lake = sandbox.script('lake');
    for (let n = 0; n < builds; n += 1) sandbox.start([lake, 'build']);
    await until(
      'the builds',
      () => sandbox.running().filter(({ comm }) => comm === 'lake').length === builds,
    );
    const { parent, zombie } = await owing();
    await hook('PostToolUse', jsonOf('PostToolUse', { tool_input: { command: `cat ${task}/plan.md` } }));
    const said = await hook('Stop', jsonOf('Stop'));
    expect(JSON.parse(said.stdout)).toMatchObject({ decision: 'block' });
    if (stays) expect(rawProcess(zombie.pid)?.state).toBe('Z');
    else await until('the zombie to be reaped', () => rawProcess(zombie.pid)?.start !== zombie.start);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
    expect(logLines().filter(({ what }) => what.includes('clearing zombies'))).toHaveLength(stays ? 0 : 1);
  });
});

it.each([
  ['warms the build where the config says so', true, true, true],
  ['warms nothing unless the config says so', false, true, false],
  ['warms nothing where there is no Lean project', true, false, false],
])('a session that starts %s', async (_, prebuild, lean, warms) => {
  configure(sandbox, { hooks: { prebuild } });
  if (lean) sandbox.write('work/lakefile.toml', '');
  sandbox.write('bin/lake', '#!/bin/sh\necho "$1" >> words\n', 0o755);
  const { stdout } = await reaptop(sandbox, ['hook', 'SessionStart'], {
    input: jsonOf('SessionStart'),
    env: { PATH: `${sandbox.path('bin')}:${process.env.PATH}` },
  });
  expect(stdout).toBe('{}\n');
  const started = logLines().filter(({ what }) => what.startsWith('prebuild started'));
  expect(started).toHaveLength(warms ? 1 : 0);
  if (warms) await until('the build', () => readFileSync(sandbox.path('work/words'), 'utf8') === 'build\n');
  await until('everything to end', () => sandbox.running().length === 0);
});

describe('a session that starts', () => {
  const start = (minimumAge: number) => {
    const session = new HookSession(sandbox);
    const input = understand('SessionStart', jsonOf('SessionStart'))!;
    return sessionStart(hookContext(input, session.env), minimumAge);
  };
  const before = { ...process.env };
  // The audit log and the lock are found by the environment of the process that acts.
  beforeEach(() => Object.assign(process.env, sandbox.env));
  afterEach(() => {
    process.env = { ...before };
  });

  it('clears proven leaks, says so in one line, and writes it down; what is younger stays', async () => {
    const [left] = await leaveBehind(sandbox, `${sandbox.sleeper('crunch')} 600`);
    expect(await start(3600)).toEqual({});
    expect(isRunning(left!.pid)).toBe(true);
    const startedAt = Date.now();
    expect(await start(0)).toMatchObject({
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: expect.stringMatching(/^reaptop: cleared 1 leaked process of ended sessions/),
      },
    });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(isRunning(left!.pid)).toBe(false);
    const lines = auditLines(sandbox);
    expect(lines.map(({ by, event }) => `${by} ${event}`)).toEqual(['hook intent', 'hook outcome']);
    expect(lines[0]?.plan?.steps).toMatchObject([{ pid: left!.pid, pss: expect.any(Number) }]);
  });

  it('leaves an agent alone whose stream grows: it is at work', async () => {
    const claude = sandbox.write('bin/claude', '#!/usr/bin/env node\nsetInterval(() => {}, 1e6);\n', 0o755);
    const id = '11111111-2222-3333-4444-555555555555';
    const ended = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'ended' };
    const busy = await orphan(sandbox, `node ${claude} -p --session-id ${id}`, ended);
    const stream = sandbox.write(
      'work/.agent-workspace/TASK-1/logs/one_stream.jsonl',
      `{"type":"system","subtype":"init","session_id":"${id}"}\n`,
    );
    /** What comes of it when a session starts, once it is old enough to be judged. */
    const outcome = async (): Promise<string> => {
      const known = auditLines(sandbox).length;
      return until('a session that would clear it', async () => {
        await start(0);
        const [one] = auditLines(sandbox)
          .slice(known)
          .flatMap(line => line.outcomes ?? []);
        return one?.outcome;
      });
    };
    expect([await outcome(), isRunning(busy.pid)]).toEqual(['refused', true]);
    utimesSync(stream, new Date(0), new Date(0));
    // PID 1 may be slow to reap it.
    expect(['ended', 'zombie']).toContain(await outcome());
  });

  it('forgets sessions whose agent has gone and that were not heard of for a day, and nobody else', async () => {
    const day = 24 * 3600_000;
    const session = new HookSession(sandbox);
    await session.send('PostToolUse');
    const known = session.state();
    const gone = { pid: process.pid, start: '7' };
    const write = (name: string, state: object): string =>
      sandbox.write(
        `home/.local/state/reaptop/sessions/${name}.json`,
        JSON.stringify({ ...known, session: name, ...state }),
      );
    write('old-and-gone', { agent: gone, beatAt: Date.now() - 2 * day });
    write('young-and-gone', { agent: gone, beatAt: Date.now() - day / 2 });
    write('old-and-running', { beatAt: Date.now() - 2 * day });
    write('strange', { startedAt: 'never' });
    await start(3600);
    expect(readdirSync(join(stateOf(sandbox), 'sessions')).sort()).toEqual([
      'old-and-running.json',
      'session-one.json',
      'strange.json',
      'young-and-gone.json',
    ]);
  });

  it('kills nobody: who takes no notice of SIGTERM stays', async () => {
    const deaf = sandbox.write('bin/deaf', '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 600; done\n', 0o755);
    const [left] = await leaveBehind(sandbox, deaf);
    await start(0);
    expect(isRunning(left!.pid)).toBe(true);
  });
});
