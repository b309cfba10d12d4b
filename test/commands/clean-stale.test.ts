import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Collector } from '../../src/collect/collector.ts';
import { clean } from '../../src/commands/clean.ts';
import type { CleanOptions } from '../../src/commands/clean-options.ts';
import { DEFAULT_CONFIG } from '../../src/model/config.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { startAgent } from '../support/agent.ts';
import { orphan } from '../support/orphan.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  vi.stubEnv('XDG_STATE_HOME', sandbox.env.XDG_STATE_HOME);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await sandbox.close();
});

const OPTIONS: CleanOptions = {
  force: true,
  dryRun: false,
  ageThresholdMinutes: 0,
  graceSeconds: 2,
  verbose: false,
  json: false,
  kinds: [],
  suspects: false,
  pids: [],
  zombieParents: false,
  failOn: null,
  width: 300,
  color: false,
};

/** Cleans these pids of the real machine; `whenPlanned` happens as the plan is printed, before the first signal. */
const cleaned = async (pids: readonly number[], whenPlanned: () => void): Promise<string> => {
  const system = procfsSystem();
  const said: string[] = [];
  const out = {
    write: (text: string): void => {
      if (said.length === 0) whenPlanned();
      said.push(text);
    },
  };
  const collector = new Collector({
    system,
    config: DEFAULT_CONFIG,
    env: sandbox.env,
    cwd: sandbox.path('work'),
  });
  await clean(
    { collector, system, config: DEFAULT_CONFIG, out, err: out, abort: new AbortController().signal },
    { ...OPTIONS, pids: pids.map(pid => ({ pid })) },
  );
  return said.join('');
};

/** An agent that has changed its session's id, and what it detached before: judged by the old id, a leak. */
const afterClear = async () => {
  const agent = await startAgent(sandbox, { session: 'after-clear' });
  const old = { CLAUDE_CODE_SESSION_ID: 'before-clear', CLAUDECODE: '1' };
  const server = await orphan(sandbox, `${sandbox.sleeper('mcp-server-git')} 600`, old, 'server');
  const other = await orphan(
    sandbox,
    `${sandbox.sleeper('mcp-server-time')} 600`,
    { ...old, CLAUDE_CODE_SESSION_ID: 'long-gone' },
    'other',
  );
  const register = (session: string): unknown =>
    sandbox.write(
      `home/.claude/sessions/${agent.pid}.json`,
      JSON.stringify({ pid: agent.pid, sessionId: session, procStart: agent.start, kind: 'interactive' }),
    );
  return { server, other, register };
};

it('a session that takes its old id back between plan and signal keeps its server; the other leak is ended', async () => {
  const { server, other, register } = await afterClear();
  const told = await cleaned([server.pid, other.pid], () => register('before-clear'));
  expect(told).toContain('Ending 2 processes');
  expect(told).toMatch(
    new RegExp(`refused +${server.pid}.*judged again before the first signal: it is live: its environment`),
  );
  expect(isRunning(server.pid, server.start)).toBe(true);
  expect(isRunning(other.pid, other.start)).toBe(false);
});

it('without that, both are ended', async () => {
  const { server, other } = await afterClear();
  await cleaned([server.pid, other.pid], () => {});
  expect([server, other].filter(({ pid, start }) => isRunning(pid, start))).toEqual([]);
});
