import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REAPTOP, reaptop, snapshotOf } from '../support/cli.ts';
import { configure, stateOf } from '../support/hook-session.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const SESSION = '01a1eeb7-15e3-77b0-a911-3e88c45f803e';
const hooksFile = (): string => join(sandbox.home, '.codex/hooks.json');

/** As Codex 0.169 sends it. */
const event = (name: string, extra: object = {}): string =>
  JSON.stringify({
    session_id: SESSION,
    turn_id: '01a1eeb7-15f8-7683-9b56-b8c9a5b51bc5',
    transcript_path: null,
    cwd: sandbox.path('work'),
    hook_event_name: name,
    model: 'gpt-5',
    permission_mode: 'default',
    ...extra,
  });
const TOOL = { tool_name: 'Bash', tool_input: { command: 'sleep 4201' }, tool_use_id: 'call_1' };

describe('hook install --codex', () => {
  test('writes the events that Codex has, says how to trust them, and takes out every byte', async () => {
    mkdirSync(join(sandbox.home, '.codex'));
    const theirs = '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "mine" }] }] } }\n';
    writeFileSync(hooksFile(), theirs);
    const { stdout } = await reaptop(sandbox, ['hook', 'install', '--codex']);
    expect(stdout).toContain('"Trust all and continue"');
    expect(existsSync(join(sandbox.home, '.claude'))).toBe(false);
    const { hooks } = JSON.parse(readFileSync(hooksFile(), 'utf8')) as {
      hooks: Record<
        string,
        { matcher?: string; hooks: { command: string; timeout: number; async?: true }[] }[]
      >;
    };
    expect(Object.keys(hooks).sort()).toEqual([
      'PostToolUse',
      'PreToolUse',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'SubagentStop',
      'UserPromptSubmit',
    ]);
    expect(hooks.PostToolUse).toHaveLength(1);
    expect(hooks.PostToolUse![0]!.hooks[0]!.command).toMatch(/ hook PostToolUse --codex$/);
    for (const groups of Object.values(hooks))
      for (const group of groups) for (const one of group.hooks) expect(one).not.toHaveProperty('async');
    expect(hooks.SessionEnd![0]!.hooks[0]!.timeout).toBe(3);
    expect((await reaptop(sandbox, ['hook', 'status'])).stdout).toContain('hooks.json: all 7 hooks\n');
    await reaptop(sandbox, ['hook', 'uninstall', '--codex']);
    expect(readFileSync(hooksFile(), 'utf8')).toBe(theirs);
  });

  test('--project writes the file of this directory', async () => {
    await reaptop(sandbox, ['hook', 'install', '--codex', '--project']);
    expect(existsSync(sandbox.path('work/.codex/hooks.json'))).toBe(true);
    expect(existsSync(hooksFile())).toBe(false);
  });
});

/** A stand-in that starts a command, calls the hook after it, and goes on. */
const startCodex = (args = '', env: Record<string, string> = {}) => {
  const file = sandbox.write('work/event.json', event('PostToolUse', TOOL));
  const done = sandbox.path('work/done');
  const program = sandbox.write(
    'bin/codex',
    `#!/bin/sh\nsleep 4201 &\n${REAPTOP} hook PostToolUse --codex < ${file} > ${done}.part\nmv ${done}.part ${done}\nsleep 4202\n`,
    0o755,
  );
  return { ...sandbox.start([program, ...args.split(' ').filter(Boolean)], { env }), done };
};
const lineage = (): string => join(stateOf(sandbox), 'lineage.d', `${SESSION}.jsonl`);

describe('a session of Codex', () => {
  test('leaves leaks that lineage proves when it is killed', async () => {
    const codex = startCodex();
    await until('the hook', () => existsSync(codex.done));
    expect(readFileSync(codex.done, 'utf8')).toBe('{}\n');
    const job = childrenOf(codex.pid).find(p => p.comm === 'sleep')!;
    expect(readFileSync(lineage(), 'utf8')).toContain('"family":"codex"');
    process.kill(codex.pid, 'SIGKILL');
    await until('its end', () => !isRunning(codex.pid, codex.start));
    const { processes } = await snapshotOf(sandbox);
    expect(processes.find(({ pid }) => pid === job.pid)).toMatchObject({
      verdict: 'leak',
      owner: { pid: codex.pid, how: 'lineage', alive: false },
    });
  });

  test('below the daemon that all share proves nothing, and is not written down', async () => {
    const codex = startCodex('app-server --listen unix://');
    await until('the hook', () => existsSync(codex.done));
    expect(existsSync(lineage())).toBe(false);
  });

  test('is its own owner when a Claude started it', async () => {
    const codex = startCodex('', { CLAUDE_PID: String(process.pid), CLAUDECODE: '1' });
    await until('the hook', () => existsSync(codex.done));
    const [line] = readFileSync(lineage(), 'utf8').trim().split('\n');
    expect(JSON.parse(line!)).toMatchObject({ agent: { pid: codex.pid } });
  });

  test('cannot ask, so that a broad kill is denied', async () => {
    configure(sandbox, { hooks: { broadKills: 'ask' } });
    // Not below the process that calls the hook: what is below that is its own.
    await orphan(sandbox, `${sandbox.sleeper('zzyzx-codex')} 4203`);
    const input = event('PreToolUse', { ...TOOL, tool_input: { command: 'pkill -f zzyzx-codex' } });
    const said = await until('an answer', async () => {
      const { stdout } = await reaptop(sandbox, ['hook', 'PreToolUse', '--codex'], { input });
      return JSON.parse(stdout).hookSpecificOutput as { permissionDecision: string } | undefined;
    });
    expect(said.permissionDecision).toBe('deny');
  });
});
