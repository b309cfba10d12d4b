import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS } from '../fixtures/hooks.ts';
import { REAPTOP } from '../support/cli.ts';
import { configure } from '../support/hook-session.ts';
import { childrenOf } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { startShellAgent } from '../support/shell-agent.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

type Agent = ReturnType<typeof startShellAgent>;

interface Decision {
  readonly permissionDecision: string;
  readonly permissionDecisionReason: string;
}

/** What the hook before this command of the agent answers; null: nothing. */
const answerTo = async (agent: Agent, command: string, flag = '--plugin'): Promise<Decision | null> => {
  const event = { ...EVENTS.PreToolUse, session_id: agent.id, cwd: sandbox.path('work') };
  const file = sandbox.write('work/event.json', JSON.stringify({ ...event, tool_input: { command } }));
  // The first one compiles the program, for which the time of a hook does not suffice on a busy machine.
  return (
    await until('an answer that had the time to look', async () => {
      const said = await agent.bash(`${REAPTOP} hook PreToolUse ${flag} < ${file}`);
      expect(said).toMatch(/exit 0\n$/);
      const { hookSpecificOutput: decision = null } = JSON.parse(said.split('\n')[0]!) as {
        hookSpecificOutput?: Decision;
      };
      const isLate = decision?.permissionDecisionReason.includes('could not be read in time') === true;
      return isLate ? null : { decision };
    })
  ).decision;
};
/** A process with a name that nothing else on the machine has. */
const ZZYZX = 'exec -a zzyzx-server sleep';
const childOf = (shell: number): number => childrenOf(shell)[0]!.pid;

describe('a command that kills by name', () => {
  test('is asked about when it would hit another session, with the pids of its own', async () => {
    const [mine, other] = [startShellAgent(sandbox), startShellAgent(sandbox)];
    const own = childOf(await mine.background(`(${ZZYZX} 4101); :`));
    const theirs = childOf(await other.background(`(${ZZYZX} 4102); :`));
    const said = await answerTo(mine, 'pkill -f zzyzx-server');
    expect(said?.permissionDecision).toBe('ask');
    const reason = said!.permissionDecisionReason;
    expect(reason).toContain('"pkill -f zzyzx-server": it would end');
    expect(reason).toMatch(new RegExp(`\\(${theirs}\\) of claude \\(${other.pid}\\)`));
    expect(reason).toContain(String(own));
    expect(reason).toMatch(/End those by pid: kill [\d ]+$/);
    expect(reason).not.toMatch(new RegExp(`kill [\\d ]*\\b${theirs}\\b`));
  });

  test('passes when it hits nothing but its own', async () => {
    const mine = startShellAgent(sandbox);
    await mine.background(`(${ZZYZX} 4111); :`);
    expect(await answerTo(mine, 'pkill -f zzyzx-server')).toBeNull();
    expect(await answerTo(mine, 'pkill -f no-such-program')).toBeNull();
  });

  test('asks about processes of no session and about the agent itself', async () => {
    const mine = startShellAgent(sandbox);
    const { pid } = sandbox.start(['/bin/bash', '-c', `${ZZYZX} 4121`]);
    await until('its name', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('zzyzx'));
    expect((await answerTo(mine, 'pkill -f zzyzx-server'))?.permissionDecisionReason).toContain(
      `(${pid}) of no agent session`,
    );
    const everything = (await answerTo(mine, 'kill -9 -1'))!.permissionDecisionReason;
    expect(everything).toContain(`this session itself (${mine.pid})`);
  });

  test('is asked about when it would hit what the session runs below, its terminal for example', async () => {
    const mine = startShellAgent(sandbox);
    const { title } = process;
    process.title = 'zzyzx-terminal';
    try {
      expect((await answerTo(mine, 'pkill -f zzyzx-terminal'))?.permissionDecisionReason).toContain(
        `(${process.pid}) of no agent session`,
      );
    } finally {
      process.title = title;
    }
  });

  test('by its port is asked about, too', async () => {
    const [mine, other] = [startShellAgent(sandbox), startShellAgent(sandbox)];
    const server = sandbox.write(
      'bin/serve.js',
      "require('node:http').createServer().listen(0, '127.0.0.1', function () { require('node:fs').writeFileSync(process.argv[2], String(this.address().port)); });",
    );
    const told = sandbox.path('work/port');
    await other.background(`${process.execPath} ${server} ${told}; :`);
    const port = await until('the port', () => (existsSync(told) ? readFileSync(told, 'utf8') : ''));
    const said = await answerTo(mine, `fuser -k ${port}/tcp`);
    expect(said?.permissionDecisionReason).toContain(`of claude (${other.pid})`);
    expect(await answerTo(mine, `fuser -k 1/tcp`)).toBeNull();
  });

  test('is denied, or let through, as the config says; without the plugin nothing is asked', async () => {
    const [mine, other] = [startShellAgent(sandbox), startShellAgent(sandbox)];
    await other.background(`(${ZZYZX} 4131); :`);
    const command = 'pkill -f zzyzx-server';
    expect(await answerTo(mine, command, '')).toBeNull();
    configure(sandbox, { hooks: { broadKills: 'deny' } });
    expect((await answerTo(mine, command))?.permissionDecision).toBe('deny');
    expect((await answerTo(mine, command, ''))?.permissionDecision).toBe('deny');
    configure(sandbox, { hooks: { broadKills: 'off' } });
    expect(await answerTo(mine, command)).toBeNull();
  });
});
