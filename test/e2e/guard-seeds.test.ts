import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { archivedNames, pipeline, TASK, writeAgent, writeRegistry } from '../act/sweep/orchestrator.ts';
import { auditLines } from '../support/audit.ts';
import { startGuard, stopGuard } from '../support/guard.ts';
import { isRunning, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** Done for longer than the ten minutes that guard waits. */
const DONE = { finished: true, ageSeconds: 700 } as const;

const deploy = (id: string): void => {
  sandbox.tmux('new-session', '-d', '-s', `agent_${id}`, pipeline(sandbox));
};

/** A server without sessions ends: then there is none to list. */
const sessions = (): string[] => {
  try {
    return sandbox
      .tmux('list-sessions', '-F', '#{session_name}')
      .split('\n')
      .filter(name => name.startsWith('agent_'));
  } catch {
    return [];
  }
};

const prompts = (): string[] =>
  readdirSync(sandbox.path(TASK)).filter(name => name.startsWith('agent_prompt_'));

const zombies = (): number => sandbox.running().filter(p => rawProcess(p.pid)?.state === 'Z').length;

const ARCHIVED = (id: string): string[] => [
  `${id}_findings.jsonl`,
  `${id}_progress.jsonl`,
  `${id}_stream.jsonl`,
  `deploy_${id}.json`,
];

/** Waits for a guard that has swept everything of these agents. */
const untilSwept = async (ids: readonly string[]): Promise<void> => {
  const guard = await startGuard(sandbox);
  const wanted = ids.flatMap(ARCHIVED).sort();
  try {
    await until(
      'guard to sweep',
      () =>
        sessions().length === 0 &&
        prompts().length === 0 &&
        archivedNames(sandbox.path(TASK, 'archive')).join() === wanted.join(),
    );
  } catch (error) {
    throw new Error(
      `${guard.said()}\n${sessions()}\n${prompts()}\n${archivedNames(sandbox.path(TASK, 'archive'))}`,
      { cause: error },
    );
  } finally {
    await stopGuard(guard);
  }
};

/** Seed 004, section 8. */
describe('the scenarios of the seeds, with guard running', () => {
  test('Test Scenario 1: Normal Completion', async () => {
    writeAgent(sandbox, 'tester-1', DONE);
    writeRegistry(sandbox, { 'tester-1': 'completed' });
    deploy('tester-1');
    sandbox.tmux('new-session', '-d', '-s', 'mine', 'sleep 600');
    await untilSwept(['tester-1']);
    expect(zombies()).toBe(0);
    const steps = auditLines(sandbox).flatMap(({ plan }) => plan?.steps ?? []);
    expect(steps).toContainEqual(expect.objectContaining({ pss: expect.any(Number) }));
    expect(sandbox.tmux('list-sessions', '-F', '#{session_name}')).toBe('mine');
  });

  test('Test Scenario 2: Manual Termination', async () => {
    writeAgent(sandbox, 'tester-2', { finished: false, ageSeconds: 700 });
    writeRegistry(sandbox, { 'tester-2': 'terminated' });
    deploy('tester-2');
    sandbox.tmux('kill-session', '-t', '=agent_tester-2');
    await untilSwept(['tester-2']);
    expect(zombies()).toBe(0);
  });

  test('Test Scenario 3: Error/Crash', async () => {
    const told = sandbox.path('server.pid');
    const server = sandbox.sleeper('mcp-server-files');
    const claude = sandbox.write(
      'bin/claude',
      `#!/bin/sh\nCLAUDECODE=1 CLAUDE_CODE_SESSION_ID=crashed setsid ${server} 600 &\necho $! > ${told}\nwait\n`,
      0o755,
    );
    writeAgent(sandbox, 'tester-3', { finished: false, ageSeconds: 700 });
    writeRegistry(sandbox, { 'tester-3': 'error' });
    sandbox.tmux('new-session', '-d', '-s', 'agent_tester-3', claude);
    const pid = Number(
      await until('the server to run', () => existsSync(told) && readFileSync(told, 'utf8').trim()),
    );
    const orphan = await until('the server to be itself', () => {
      const p = rawProcess(pid);
      return p?.comm.startsWith('mcp-server') ? p : null;
    });
    process.kill(Number(sandbox.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
    await untilSwept(['tester-3']);
    expect(isRunning(orphan.pid, orphan.start)).toBe(false);
  });

  test('Test Scenario 4: Resource Accumulation', async () => {
    const baseline = sandbox.running().length;
    const ids = Array.from({ length: 10 }, (_, n) => `tester-4${n}`);
    for (const id of ids) {
      writeAgent(sandbox, id, DONE);
      deploy(id);
    }
    writeRegistry(sandbox, Object.fromEntries(ids.map(id => [id, 'completed'])));
    expect(sandbox.running().length).toBeGreaterThan(baseline + 10);
    await untilSwept(ids);
    await until('the process count to return to the baseline', () => sandbox.running().length === baseline);
  });
});
