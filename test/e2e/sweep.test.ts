import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pipeline, TASK, writeAgent, writeRegistry } from '../act/sweep/orchestrator.ts';
import { auditLines, stateFile } from '../support/audit.ts';
import { reaptop } from '../support/cli.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { insertAgent, writeDatabase } from '../support/orchestrator-database.ts';
import { uptime } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const FINISHED = Array.from({ length: 10 }, (_, index) => `tester-22544${index}-dfe9d${index}`);
const RUNNING = 'worker-225450-aaaaaa';

it('sweeps ten finished agents of an orchestrator and leaves the running one untouched', async () => {
  for (const id of FINISHED) writeAgent(sandbox, id, { finished: true });
  const kept = writeAgent(sandbox, RUNNING, { finished: false, ageSeconds: 5 });
  writeRegistry(sandbox, {
    ...Object.fromEntries(FINISHED.map(id => [id, 'completed'])),
    [RUNNING]: 'running',
  });
  for (const id of [...FINISHED.slice(0, 3), RUNNING])
    sandbox.tmux('new-session', '-d', '-s', `agent_${id}`, pipeline(sandbox));
  const sessions = (): string[] => sandbox.tmux('list-sessions', '-F', '#{session_name}').split('\n').sort();
  const registry = readFileSync(sandbox.path(TASK, 'AGENT_REGISTRY.json'), 'utf8');

  const dry = await reaptop(sandbox, ['sweep']);
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toContain('Nothing was touched');
  expect(sessions()).toHaveLength(4);
  expect(existsSync(sandbox.path(TASK, 'archive'))).toBe(false);

  const done = await reaptop(sandbox, ['sweep', '--force', '--grace', '2']);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toMatch(/3 sessions, 40 archived \(.*\), 10 removed \(.*\)\n$/);
  expect(sessions()).toEqual([`agent_${RUNNING}`]);
  expect(readdirSync(sandbox.path(TASK, 'archive'))).toHaveLength(40);
  expect(readdirSync(sandbox.path(TASK)).filter(name => name.startsWith('agent_prompt_'))).toEqual([
    `agent_prompt_${RUNNING}.txt`,
  ]);
  for (const path of Object.values(kept)) expect(existsSync(path)).toBe(true);
  expect(readFileSync(sandbox.path(TASK, 'AGENT_REGISTRY.json'), 'utf8')).toBe(registry);

  const [intent, act] = auditLines(sandbox);
  expect(intent).toMatchObject({ event: 'intent', by: 'sweep', id: act?.id });
  expect(act?.files?.filter(file => file.outcome === 'done')).toHaveLength(50);
  expect(act?.sessions).toHaveLength(3);

  const again = await reaptop(sandbox, ['sweep', '--force', '--json']);
  expect((JSON.parse(again.stdout) as { plan: { files: unknown[] } }).plan.files).toEqual([]);
});

it('sweeps the session of a finished agent that left an idle shell, once it is as still as asked', async () => {
  sandbox.needsTmux();
  for (const id of ['a-1', 'a-2']) {
    writeAgent(sandbox, id, { finished: true });
    sandbox.tmux('new-session', '-d', '-s', `agent_${id}`, 'bash --norc');
  }
  writeRegistry(sandbox, { 'a-1': 'completed', 'a-2': 'completed' });
  sandbox.tmux('send-keys', '-t', '=agent_a-2:', 'sleep 1000', 'Enter');
  const other = await sandbox.find('what somebody runs in the other', p => p.comm === 'sleep');
  // Older than that, a process that is none of an agent's is not read at every sample.
  await until('the shells to be old', () => uptime() - Number(other.start) / 100 > 3);
  const early = await reaptop(sandbox, ['sweep', '--force']);
  expect(early.stdout).toContain('its pane showed something');
  const names = (): string => sandbox.tmux('list-sessions', '-F', '#{session_name}');
  expect(names()).toBe('agent_a-1\nagent_a-2');
  await until('a second without a word from the pane', async () => {
    await reaptop(sandbox, ['sweep', '--force', '--still', '1', '--grace', '1']);
    return names() === 'agent_a-2';
  });
});

it("never ends the user's session, whatever a registry calls it, and keeps what it archived", async () => {
  writeAgent(sandbox, 'a-1', { finished: true, ageSeconds: 30 * 86_400 });
  writeAgent(sandbox, 'a-2', { finished: true, ageSeconds: 30 * 86_400 });
  writeRegistry(sandbox, { 'a-1': 'completed' }, 'main');
  sandbox.tmux('new-session', '-d', '-s', 'main', 'sleep 1000');
  // What is printed can be pasted where we are, however narrow that is.
  const dry = await reaptop(sandbox, ['sweep'], { env: { COLUMNS: '40' } });
  const shown = [...dry.stdout.matchAll(/^ {2}(?:archive|delete) +(.+?)(?:: |$)/gm)].map(
    ([, path]) => path ?? '',
  );
  expect(shown).toHaveLength(5);
  for (const path of shown) expect(existsSync(join(sandbox.path('work'), path))).toBe(true);
  const first = await reaptop(sandbox, ['sweep', '--force']);
  expect(first.stdout).toContain('calls its session main');
  expect(first.stdout).toContain('4 archived');
  const second = await reaptop(sandbox, ['sweep', '--force']);
  expect(second.stdout).toContain('Nothing to sweep');
  expect(readdirSync(sandbox.path(TASK, 'archive'))).toHaveLength(4);
  expect(sandbox.tmux('list-sessions', '-F', '#{session_name}')).toBe('main');
});

it('is not blind to an orchestrator that keeps its agents in SQLite and an empty registry', async () => {
  const task = basename(TASK);
  for (const id of ['a-1', 'a-2']) writeAgent(sandbox, id, { finished: false, ageSeconds: 900 });
  writeRegistry(sandbox, {});
  writeDatabase(
    sandbox.path('work/.agent-workspace/registry/state.sqlite3'),
    insertAgent('a-1', task, 'completed'),
    insertAgent('a-2', task, 'running'),
  );
  for (const id of ['a-1', 'a-2']) sandbox.tmux('new-session', '-d', '-s', `agent_${id}`, pipeline(sandbox));
  const once = await reaptop(sandbox, ['--once', '--json']);
  const { findings, warnings } = JSON.parse(once.stdout) as {
    findings: { id: string; title: string }[];
    warnings: string[];
  };
  expect(warnings.filter(warning => warning.includes('sqlite3'))).toEqual([]);
  expect(findings.filter(({ id }) => id === 'agent-finished-session-alive').map(f => f.title)).toEqual([
    expect.stringContaining('agent a-1 finished'),
  ]);
  const done = await reaptop(sandbox, ['sweep', '--force']);
  expect(done.stdout).toMatch(/1 session, 4 archived/);
  expect(sandbox.tmux('list-sessions', '-F', '#{session_name}')).toBe('agent_a-2');
  expect(readdirSync(sandbox.path('work/.agent-workspace/registry'))).toEqual(['state.sqlite3']);
});

it('with nothing to do, the record of an act that was cut off is completed all the same', async () => {
  await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`);
  expect((await reaptop(sandbox, ['clean', '--force', '--age-threshold', '0'])).code).toBe(0);
  const log = stateFile(sandbox, 'audit.jsonl');
  const [intent] = readFileSync(log, 'utf8').split('\n');
  // As if that clean-up had been killed before it could say what came of it.
  writeFileSync(log, `${intent}\n`);
  const dry = await reaptop(sandbox, ['sweep']);
  expect([dry.code, auditLines(sandbox).length]).toEqual([0, 1]);
  const done = await reaptop(sandbox, ['sweep', '--force']);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to sweep') });
  const [first, second, ...more] = auditLines(sandbox);
  expect(second).toMatchObject({ event: 'outcome', id: first!.id, outcomes: [{ outcome: 'gone' }] });
  expect(second?.completedBy).toBeTruthy();
  expect(more).toEqual([]);
});
