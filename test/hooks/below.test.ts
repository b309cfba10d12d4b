import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { belowAfter, belowAtTheEnd } from '../../src/hooks/session-heartbeat.ts';
import { HookSession, stateOf } from '../support/hook-session.ts';
import { childrenOf, isRunning, type RawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** An agent whose server has a worker: agent > server > worker. */
const family = async (): Promise<Record<'agent' | 'server' | 'worker', RawProcess>> => {
  const server = sandbox.write(
    'bin/server',
    `#!/bin/sh\n'${sandbox.sleeper('worker')}' 600 &\nwait\n`,
    0o755,
  );
  const agent = sandbox.start(['/bin/sh', '-c', `'${server}' & wait`]);
  const child = await until('the server', () => childrenOf(agent.pid).find(({ comm }) => comm === 'server'));
  const worker = await until('the worker', () => childrenOf(child.pid).find(({ comm }) => comm === 'worker'));
  return { agent, server: child, worker };
};

const pids = (found: readonly { pid: number }[]): number[] => found.map(({ pid }) => pid);

it('what was seen below an agent is remembered as long as it runs, whoever its parent is by then', async () => {
  const { agent, server, worker } = await family();
  const seen = belowAfter([], agent);
  expect(seen).toEqual([
    { pid: server.pid, start: server.start, parent: { pid: agent.pid, start: agent.start } },
    { pid: worker.pid, start: worker.start, parent: { pid: server.pid, start: server.start } },
  ]);
  process.kill(server.pid, 'SIGKILL');
  await until('the server to end', () => !isRunning(server.pid, server.start));
  expect(pids(belowAtTheEnd([], agent))).not.toContain(worker.pid);
  expect(pids(belowAtTheEnd(seen, agent))).toEqual([worker.pid]);
  expect(pids(belowAfter(seen, agent))).toEqual([worker.pid]);
});

it('does not mistake a process with a reused pid for the one that ended', async () => {
  const { agent, worker } = await family();
  const another = { pid: worker.pid, start: '7', parent: agent };
  expect(belowAtTheEnd([another], { pid: agent.pid, start: '7' })).toEqual([]);
});

it('a server that ends with its session leaves a worker: the end writes it down', async () => {
  const { agent, server, worker } = await family();
  const session = new HookSession(sandbox);
  await session.send('UserPromptSubmit');
  // As if the prompt had been said to this agent: ours is the test itself.
  const state = { ...session.state(), agent: { pid: agent.pid, start: agent.start } };
  const below = belowAfter([], agent);
  sandbox.write('home/.local/state/reaptop/sessions/session-one.json', JSON.stringify({ ...state, below }));
  process.kill(server.pid, 'SIGKILL');
  await until('the server to end', () => !isRunning(server.pid, server.start));
  await session.send('SessionEnd');
  const lines = readFileSync(join(stateOf(sandbox), 'lineage.d/session-one.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { pid: number; start: string; session: string });
  expect(lines).toContainEqual(
    expect.objectContaining({ pid: worker.pid, start: worker.start, session: 'session-one' }),
  );
  expect(pids(lines)).not.toContain(server.pid);
});
