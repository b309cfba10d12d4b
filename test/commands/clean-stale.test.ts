import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CleanOptions, clean } from '../../src/commands/clean.ts';
import { Collector } from '../../src/engine/collector.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { startAgent } from '../support/agent.ts';
import { orphan } from '../support/orphan.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

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
    {
      prepared: {
        collectorWith: () => collector,
        system,
        config: DEFAULT_CONFIG,
        env: sandbox.env,
        warnings: [],
      },
      out,
      err: out,
      abort: new AbortController().signal,
    },
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

it.each([
  ['a port', '0', 'server.address().port'],
  ['a unix socket', 'x.sock', "'x.sock'"],
])('a server to which a client connects at %s between plan and signal stays', async (_, where, address) => {
  const program = sandbox.write(
    'bin/mcp-server-git',
    `#!/usr/bin/env node
     const server = require('net').createServer(socket => socket.resume());
     const at = process.argv[2];
     server.listen(at === '0' ? { port: 0, host: '127.0.0.1' } : at, () =>
       require('fs').writeFileSync('address', String(${address})));
     process.stdin.resume();`,
    0o755,
  );
  const dead = { CLAUDE_CODE_SESSION_ID: 'long-gone', CLAUDECODE: '1' };
  const server = await orphan(sandbox, `${program} ${where} --stdio`, dead, 'server');
  const address_ = await until('the server to listen', () =>
    readFileSync(sandbox.path('work/address'), 'utf8'),
  );
  const connect = (): void => {
    const client = `require('net').connect(${/^\d+$/.test(address_) ? address_ : JSON.stringify(address_)}, () => require('fs').writeFileSync('connected', ''))`;
    sandbox.start([process.execPath, '-e', client]);
    // The plan is printed now, and nothing else happens meanwhile.
    execFileSync('sh', ['-c', 'until [ -e connected ]; do sleep 0.02; done'], { cwd: sandbox.path('work') });
  };
  const told = await cleaned([server.pid], connect);
  expect(told).toContain('Ending 1 process');
  expect(told).toMatch(/refused .*judged again before the first signal/);
  expect(isRunning(server.pid, server.start)).toBe(true);
});
