import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { appendLineage } from '../../src/remember/lineage-files.ts';
import { startAgent } from '../support/agent.ts';
import { auditLines, stateFile } from '../support/audit.ts';
import { reaptop, snapshotOf } from '../support/cli.ts';
import { latest, lookOf, startGuard, stopGuard } from '../support/guard.ts';
import { lacking } from '../support/lacking.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const running = (processes: readonly RawProcess[]): number =>
  processes.filter(p => isRunning(p.pid, p.start)).length;

/** Everything below an agent but its own sleep, which is what keeps the stand-in alive. */
const below = (agent: RawProcess): RawProcess[] => childrenOf(agent.pid).filter(p => p.comm !== 'sleep');

/** Ways in which nothing can be written there. */
const UNUSABLE: readonly (readonly [how: string, make: (path: string) => void])[] = [
  ['is a file', path => writeFileSync(path, '')],
  ['is a link to elsewhere', path => symlinkSync('/tmp', path)],
  [
    'is read-only',
    path => {
      mkdirSync(path, { mode: 0o700 });
      // Root may write anywhere but here.
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', path]);
    },
  ],
  [
    'is full',
    path => {
      mkdirSync(path, { mode: 0o700 });
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=700', 'tmpfs', path]);
      try {
        writeFileSync(`${path}/ballast`, Buffer.alloc(64 * 1024));
      } catch {
        // full, as it should be
      }
    },
  ],
];

describe('guard', () => {
  test('clears a tree of twenty whose agent was killed -9, and leaves its live twin whole', async () => {
    const server = sandbox.sleeper('mcp-server-files');
    const java = sandbox.sleeper('java');
    const children = [...Array<string>(15).fill(`${server} 600`), ...Array<string>(5).fill(`${java} 600`)];
    const agent = await startAgent(sandbox, { children });
    const twin = await startAgent(sandbox, { children });
    const guard = await startGuard(sandbox);
    await lookOf(sandbox, guard);
    const [doomed, kept] = [childrenOf(agent.pid), childrenOf(twin.pid)];
    expect([doomed.length, kept.length]).toEqual([21, 21]);
    agent.child.kill('SIGKILL');
    await until(`the leaks to be gone: ${guard.said()}`, () => running(doomed) === 0, { timeoutMs: 30_000 });
    await lookOf(sandbox, guard);
    expect(running(kept)).toBe(21);
    expect(isRunning(twin.pid, twin.start)).toBe(true);
    await stopGuard(guard);
    const lines = auditLines(sandbox);
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(new Set(lines.map(({ by }) => by))).toEqual(new Set(['guard']));
    const planned = new Set(lines.flatMap(({ plan }) => plan?.steps.map(({ pid }) => pid) ?? []));
    expect([...planned].sort()).toEqual(doomed.map(({ pid }) => pid).sort());
    // The recorder has both moments: the leak, and the time after it.
    const marks = readFileSync(stateFile(sandbox, 'recorder/marks.jsonl'), 'utf8');
    const leaked = marks
      .split('\n')
      .map(line => JSON.parse(line || '{}') as { mark?: string; at: number; text: string })
      .find(({ mark }) => mark === 'leak');
    const then = await snapshotOf(sandbox, ['--at', new Date(leaked!.at).toISOString()]);
    expect(then.processes.filter(p => p.verdict === 'leak').map(({ pid }) => pid)).toEqual(
      expect.arrayContaining([doomed[0]!.pid]),
    );
    const after = await snapshotOf(sandbox, ['--at', '-0s']);
    expect(after.totals.leaks).toBe(0);
    // And so has the report: what leaked, and that it was cleared.
    const { stdout } = await reaptop(sandbox, ['report', '--since', '1h', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ leaksSeen: 21, leaksCleared: 21, falseAlarms: 0 });
  });

  test('writes lineage, so that a --once started afterwards proves a java that nothing else connects to an agent', async () => {
    const java = sandbox.sleeper('java');
    const agent = await startAgent(sandbox, { session: '', children: [`env -i ${java} 600`] });
    const guard = await startGuard(sandbox, { policy: { leaks: false } });
    await lookOf(sandbox, guard);
    const [left] = below(agent);
    await stopGuard(guard);
    agent.child.kill('SIGKILL');
    await until('the java to be adopted', () => isRunning(left!.pid) && !isRunning(agent.pid));
    const { processes } = await snapshotOf(sandbox);
    expect(processes.find(p => p.pid === left!.pid)).toMatchObject({
      verdict: 'leak',
      owner: { how: 'lineage' },
    });
    process.kill(left!.pid, 'SIGKILL');
  });

  test('does not believe what was written down before the machine was started again', async () => {
    // The same pid and start time, seen below an agent: of another boot, so of somebody else.
    const innocent = await orphan(sandbox, `${sandbox.sleeper('java')} 600`);
    const guilty = await orphan(sandbox, `${sandbox.sleeper('java')} 601`, {}, 'guilty');
    const line = ({ pid, start }: RawProcess, boot: string) => ({
      ...{ pid, start, agent: { pid: 4_000_000, start: '1' }, session: 'ended', family: 'claude' },
      ...{ parent: null, boot, seen: Number.parseFloat(readFileSync('/proc/uptime', 'utf8')), gone: null },
    });
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const state = stateFile(sandbox, '');
    appendLineage(state, [line(innocent, '00000000-0000-4000-8000-000000000000'), line(guilty, boot)]);
    const guard = await startGuard(sandbox);
    await until(`the other to be gone: ${guard.said()}`, () => !isRunning(guilty.pid, guilty.start));
    await lookOf(sandbox, guard);
    await stopGuard(guard);
    expect(isRunning(innocent.pid, innocent.start)).toBe(true);
    expect(auditLines(sandbox).flatMap(({ plan }) => plan?.steps.map(({ pid }) => pid) ?? [])).toEqual([
      guilty.pid,
    ]);
    process.kill(innocent.pid, 'SIGKILL');
  });

  test('is one: a second says who runs, and a lock of a pid that somebody else has now is taken over', async () => {
    const bystander = sandbox.start([sandbox.sleeper('bystander'), '600']);
    mkdirSync(stateFile(sandbox, ''), { recursive: true, mode: 0o700 });
    const stale = { pid: bystander.pid, start: bystander.start, by: 'guard', since: 1 };
    writeFileSync(stateFile(sandbox, 'guard.lock'), JSON.stringify(stale));
    const guard = await startGuard(sandbox);
    await lookOf(sandbox, guard);
    const second = await reaptop(sandbox, ['guard']);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringContaining(`another guard is running: pid ${guard.pid}`),
    ]);
    const status = await reaptop(sandbox, ['guard', 'status']);
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringContaining(`guard has been running since`),
    ]);
    expect(status.stdout).toContain('to do now: nothing is leaked');
    expect(await stopGuard(guard)).toBe(0);
    expect(existsSync(stateFile(sandbox, 'guard.lock'))).toBe(false);
    const none = await reaptop(sandbox, ['guard', 'status']);
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('guard is not running')]);
    expect(isRunning(bystander.pid, bystander.start)).toBe(true);
  });

  test('--once is one pass of two looks that clears what both saw', async () => {
    const left = await orphan(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`, {
      CLAUDE_CODE_SESSION_ID: 'gone',
      CLAUDECODE: '1',
    });
    const guard = await startGuard(sandbox, { args: ['--once'] });
    const code = await new Promise(resolve => guard.child.once('exit', resolve));
    expect([code, guard.said()]).toEqual([0, expect.stringMatching(/leaks: 1 ended.*mcp-server-files/)]);
    expect(isRunning(left.pid, left.start)).toBe(false);
  });

  test('ends no more trees an hour than its budget has, also when it is started again, and says so', async () => {
    const server = sandbox.sleeper('mcp-server-files');
    const marks = { CLAUDE_CODE_SESSION_ID: 'gone', CLAUDECODE: '1' };
    const left: RawProcess[] = [];
    for (const name of ['a', 'b', 'c']) left.push(await orphan(sandbox, `${server} 600`, marks, name));
    const policy = { endsPerHour: 2 };
    const guard = await startGuard(sandbox, { policy });
    await until(`two to be gone: ${guard.said()}`, () => running(left) === 1);
    await until('guard to say so', () => guard.said().includes('policy.endsPerHour'));
    await lookOf(sandbox, guard); // `status` tells of its last whole look
    expect((await reaptop(sandbox, ['guard', 'status'])).stdout).toMatch(
      /2 of 2 trees this hour[\s\S]*1 process waits/,
    );
    await stopGuard(guard, 'SIGKILL');
    const again = await startGuard(sandbox, { policy });
    await until('the next one to say so', () => again.said().includes('policy.endsPerHour'));
    expect(running(left)).toBe(1);
    await stopGuard(again);
  });

  test('holds when it no longer recognises agents that still run, also when started again, until a person allows it', async () => {
    const flag = sandbox.path('renamed.flag');
    const claude = sandbox.write(
      'bin/claude',
      `#!/bin/sh\n${sandbox.sleeper('java')} 600 &\nwhile [ ! -e ${flag} ]; do sleep 0.1; done\nexec ${sandbox.sleeper('other')} 600\n`,
      0o755,
    );
    const agent = sandbox.start([claude]);
    const guard = await startGuard(sandbox);
    await until('guard to see the agent', async () => (await lookOf(sandbox, guard)).totals.agents === 1);
    // The same process under another name: what an update of an agent may look like to us.
    writeFileSync(flag, '');
    await until('the agent to be called something else', () => rawProcess(agent.pid)?.comm === 'other');
    await until(`guard to hold: ${guard.said()}`, () =>
      guard.said().includes('held: no agent is recognised'),
    );
    await stopGuard(guard, 'SIGKILL');
    const again = await startGuard(sandbox);
    await lookOf(sandbox, again);
    expect(latest(sandbox)?.guard.held?.why).toContain('no agent is recognised');
    expect((await reaptop(sandbox, ['guard', 'status'])).stdout).toContain('HELD');
    expect((await reaptop(sandbox, ['guard', 'allow'])).stdout).toContain('allowed');
    await until('guard to go on', () => again.said().includes('allowed: guard goes on'));
    await stopGuard(again);
  });

  test.each(UNUSABLE)('goes on clearing with one warning where the state directory %s', async (_, make) => {
    mkdirSync(sandbox.path('home/.local/state'), { recursive: true });
    const path = stateFile(sandbox, '').replace(/\/$/, '');
    try {
      make(path);
    } catch (error) {
      if (!String(error).includes('mount')) throw error;
      lacking('Only root may mount what is full or cannot be written.');
    }
    try {
      const left = await orphan(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`, {
        CLAUDE_CODE_SESSION_ID: 'gone',
        CLAUDECODE: '1',
      });
      const guard = await startGuard(sandbox);
      await until(`the leak to be gone: ${guard.said()}`, () => !isRunning(left.pid, left.start));
      expect(await stopGuard(guard)).toBe(0);
      const complaints = guard
        .said()
        .split('\n')
        .filter(line => line.includes('flight recorder'));
      expect(complaints).toHaveLength(1);
    } finally {
      try {
        execFileSync('umount', [path], { stdio: 'ignore' });
      } catch {
        // nothing was mounted
      }
    }
    expect(readdirSync(sandbox.path('home/.local/state'))).toContain('reaptop');
  });
});
