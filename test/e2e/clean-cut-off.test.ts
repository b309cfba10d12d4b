import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditLines, stateFile } from '../support/audit.ts';
import { CLI, REAPTOP, reaptop } from '../support/cli.ts';
import { leaveBehind, stubborn } from '../support/leftovers.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

/** `REAPTOP_KILLS=100` for the figure in the notes. */
const KILLS = Number(process.env.REAPTOP_KILLS ?? 5);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** By pid and start: nothing else on the machine can be meant. */
const cleanOf = (left: readonly RawProcess[], grace = 1): string[] => [
  'clean',
  '--force',
  '--grace',
  String(grace),
  ...left.flatMap(({ pid, start }) => ['--pid', `${pid}:${start}`]),
];

const leave = (): Promise<RawProcess[]> =>
  leaveBehind(
    sandbox,
    `${sandbox.sleeper('mcp-server-files')} 600`,
    `${sandbox.sleeper('mcp-server-git')} 600`,
    stubborn(sandbox, 'stubborn-mcp'),
  );

const running = (left: readonly RawProcess[]): RawProcess[] => left.filter(p => isRunning(p.pid, p.start));

const completed = (): void => {
  const lines = auditLines(sandbox);
  const ids = (event: string): string[] => lines.filter(line => line.event === event).map(line => line.id);
  expect(ids('outcome')).toEqual(ids('intent'));
  expect(existsSync(stateFile(sandbox, 'clean.lock'))).toBe(false);
};

describe('an output that is lost stops the printing, never the run', () => {
  it.each([
    ['a reader that has gone', 'set -o pipefail; node "$@" | true'],
    ['a full disk', 'exec node "$@" > /dev/full'],
    ['a full disk for both', 'exec node "$@" > /dev/full 2> /dev/full'],
    ['closed descriptors', 'exec node "$@" >&- 2>&-'],
    // No file may grow beyond 8 KiB, and that one has: the audit log has room, the output none.
    ['a size limit', 'head -c 8192 /dev/zero > out; ulimit -f 8; exec node "$@" >> out'],
  ])('%s', async (_, script) => {
    const left = await leave();
    const child = sandbox.start(
      ['bash', '-c', script.replaceAll('node', process.execPath), 'bash', CLI, ...cleanOf(left)],
      { stdio: 'pipe' },
    );
    let said = '';
    child.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until('its end', () => child.child.exitCode !== null || child.child.signalCode !== null);
    expect(child.child.exitCode).toBe(0);
    expect(said).not.toMatch(/^\s+at /m);
    expect(running(left)).toEqual([]);
    expect(auditLines(sandbox)).toHaveLength(2);
    completed();
  });

  it('a snapshot that could not be written is a failure, in a sentence', async () => {
    const { child } = sandbox.start(['bash', '-c', `exec ${REAPTOP} --once > /dev/full`], {
      stdio: 'pipe',
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until('its end', () => child.exitCode !== null);
    expect(child.exitCode).toBe(1);
    expect(said).toMatch(/^reaptop: the output could not be written: .*no space left.*\n$/i);
  });
});

/** A clean-up whose grace is long: it waits for the stubborn one. */
const waiting = async (left: readonly RawProcess[]): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [CLI, ...cleanOf(left, 30)], {
    env: sandbox.env,
    cwd: sandbox.path('work'),
    stdio: 'ignore',
  });
  await until('the first ends', () => running(left).length === 1);
  return child;
};

describe('a signal finishes the step, writes the outcomes and releases the lock', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)('%s, twice', async signal => {
    const left = await leave();
    const child = await waiting(left);
    child.kill(signal);
    child.kill(signal);
    await until('its end', () => child.exitCode !== null || child.signalCode !== null);
    expect(child.exitCode).toBe(130);
    expect(running(left)).toHaveLength(1);
    expect(auditLines(sandbox)[1]).toMatchObject({ event: 'outcome', note: 'it was cancelled' });
    expect(
      auditLines(sandbox)[1]
        ?.outcomes?.map(o => o.outcome)
        .sort(),
    ).toContain('survived');
    completed();
  });
});

describe('kill -9', () => {
  it('leaves no end without a line, and the next run completes the record', async () => {
    for (let n = 0; n < KILLS; n += 1) {
      const left = await leave();
      const child = spawn(process.execPath, [CLI, ...cleanOf(left)], {
        env: sandbox.env,
        cwd: sandbox.path('work'),
        stdio: 'ignore',
      });
      // From before the first signal to after the last one, however slow the machine is today.
      await until('the act to begin', () => auditLines(sandbox).length > 2 * n || child.exitCode !== null);
      await new Promise(done => setTimeout(done, Math.random() * 60 * (n % 4) ** 2));
      child.kill('SIGKILL');
      await until('its end', () => child.exitCode !== null || child.signalCode !== null);
      const named = new Set(
        auditLines(sandbox).flatMap(line => line.plan?.steps.map(step => step.pid) ?? []),
      );
      expect(left.filter(p => !isRunning(p.pid, p.start) && !named.has(p.pid))).toEqual([]);
      const survivors = running(left);
      expect((await reaptop(sandbox, cleanOf(left))).code).toBe(0);
      expect(running(left)).toEqual([]);
      completed();
      const outcomes = auditLines(sandbox).flatMap(line => line.outcomes ?? []);
      for (const { pid } of left.filter(p => !survivors.includes(p)))
        expect(outcomes.find(o => o.pid === pid)?.outcome).toMatch(/^(ended|killed|gone)$/);
    }
  });
});

describe.skipIf(process.geteuid?.() !== 0)("under sudo with the user's HOME", () => {
  it('nothing in that HOME becomes root’s, and the run goes on', async () => {
    const left = await leave();
    const home = sandbox.path('theirs');
    mkdirSync(join(home, '.local'), { recursive: true });
    for (const path of [home, join(home, '.local')]) chownSync(path, 65534, 65534);
    const env = {
      HOME: home,
      XDG_STATE_HOME: join(home, '.local/state'),
      XDG_CONFIG_HOME: '',
      XDG_CACHE_HOME: '',
    };
    const done = await reaptop(sandbox, cleanOf(left), { env });
    expect(done.code).toBe(0);
    expect(running(left)).toEqual([]);
    expect(readdirSync(join(home, '.local'))).toEqual([]);
    expect(statSync(home).uid).toBe(65534);
    expect(done.stderr.match(/another user's directory/g)).toHaveLength(1);
  });
});
