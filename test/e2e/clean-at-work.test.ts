import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reaptop } from '../support/cli.ts';
import { orphan } from '../support/orphan.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const ID = '11111111-2222-3333-4444-555555555555';
const DEAD = { CLAUDECODE: '1', CLAUDE_PID: '4194303', CLAUDE_CODE_SESSION_ID: 'ended' };

/** Dry runs: what `clean` would end. */
const planned = async (root: string): Promise<readonly number[]> => {
  const { stdout } = await reaptop(sandbox, ['clean', '--json', '--age-threshold', '0', '--root', root]);
  return (JSON.parse(stdout) as { plan: { steps: { pid: number }[] } }).plan.steps.map(({ pid }) => pid);
};

it('does not end an agent whose stream grows, as --once does not call it leaked', async () => {
  const root = sandbox.path('project');
  mkdirSync(root);
  // A sleep that takes any words for its own.
  const claude = sandbox.write('bin/claude', '#!/usr/bin/env node\nsetInterval(() => {}, 1e6);\n', 0o755);
  const agent = await orphan(sandbox, `node ${claude} -p --session-id ${ID}`, DEAD);
  expect(await planned(root)).toContain(agent.pid);
  sandbox.write(
    'project/.agent-workspace/TASK-1/logs/one_stream.jsonl',
    `{"type":"system","subtype":"init","session_id":"${ID}"}\n`,
  );
  expect(await planned(root)).not.toContain(agent.pid);
});
