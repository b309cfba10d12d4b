import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditLines } from '../support/audit.ts';
import { startCalling } from '../support/calling-agent.ts';
import { snapshotOf } from '../support/cli.ts';
import { type RawProcess, isRunning as runs } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const isRunning = ({ pid, start }: RawProcess): boolean => runs(pid, start);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  const limits = { warnSeconds: 1, criticalSeconds: 2, tools: { lean_goal: 1 } };
  sandbox.write(
    'home/.config/reaptop/config.json',
    JSON.stringify({ thresholds: { 'call-hung': limits }, policy: { minimumAgeSeconds: 0 } }),
  );
});
afterEach(() => sandbox.close());

const open = (): Pty => new Pty(sandbox, { columns: 130, rows: 40, args: ['--interval', '0.5'] });

/** The findings panel, with the hung call selected, and its plan. */
const planFor = async (pty: Pty): Promise<void> => {
  await pty.shows(/hung: (lean-lsp )?lean_goal/);
  await pty.select('lean-lsp-mcp');
  pty.press('f');
  await pty.shows('Fix call-hung');
};

describe('a hung call', () => {
  it('is named on the row of its agent, and its server is ended behind f: the agent lives and goes on', async () => {
    const { agent, server, transcript } = await startCalling(sandbox);
    const other = await startCalling(sandbox, 'other', { tool: 'Read', server: 'mcp-other' });
    const pty = open();
    await planFor(pty);
    await pty.shows('loses this server; /mcp there brings it back', 'the call fails, and the agent goes on');
    await pty.shows(/tab: interrupt it in its pane instead/);
    await pty.confirm();
    await pty.shows('Done', 'the call is over');
    expect(isRunning(server)).toBe(false);
    expect(isRunning(agent)).toBe(true);
    expect(transcript()).toContain('Connection closed');
    expect([isRunning(other.agent), isRunning(other.server)]).toEqual([true, true]);
    expect(auditLines(sandbox)).toMatchObject([
      { event: 'intent', by: 'tui', sessions: [{ act: 'free-call' }] },
      { event: 'outcome', sessions: [{ act: 'free-call', outcome: 'done' }] },
    ]);
  });

  it('is interrupted behind f and tab: the server lives, and the session waits for its user', async () => {
    const { agent, server, screen } = await startCalling(sandbox);
    const pty = open();
    await planFor(pty);
    pty.press(KEY.tab);
    await pty.shows('Escape to claude', 'interrupted as if you pressed Escape');
    await pty.confirm();
    await pty.shows('Done', 'the call is over');
    expect([isRunning(agent), isRunning(server)]).toEqual([true, true]);
    expect(screen()).toContain('key "\\u001b"');
    expect(auditLines(sandbox)).toMatchObject([
      { event: 'intent', sessions: [{ act: 'send-escape' }] },
      { event: 'outcome', sessions: [{ act: 'send-escape', outcome: 'done' }] },
    ]);
  });

  it('where somebody is attached, interrupting comes first', async () => {
    await startCalling(sandbox);
    const seat = new Pty(sandbox, {
      rows: 30,
      command: ['tmux', '-L', 'reaptop-test', 'attach', '-t', 'work'],
    });
    await until('somebody to be attached', () => sandbox.tmux('list-clients').trim());
    const pty = open();
    await planFor(pty);
    await pty.shows('Escape to claude', /tab: end its server instead/);
    seat.hangUp();
  });

  it('no key is sent while tmux shows its own copy mode in the pane', async () => {
    const { agent, screen } = await startCalling(sandbox);
    sandbox.tmux('copy-mode', '-t', '=work:');
    const pty = open();
    await planFor(pty);
    pty.press(KEY.tab);
    await pty.shows('Escape to claude');
    await pty.confirm();
    await pty.shows('Done', 'copy mode');
    expect(screen()).not.toContain('key ');
    expect(isRunning(agent)).toBe(true);
  });

  it('no key is sent to a pane in which another program is in front', async () => {
    const { agent, screen } = await startCalling(sandbox, 'work', { behind: true });
    const pty = open();
    await planFor(pty);
    pty.press(KEY.tab);
    await pty.shows('Escape to claude');
    await pty.confirm();
    await pty.shows('Done', 'another program is in the foreground of its pane');
    expect(screen()).not.toContain('key ');
    expect(isRunning(agent)).toBe(true);
  });

  it('says so when the call is still pending after five seconds', async () => {
    const { agent } = await startCalling(sandbox, 'work', { deaf: true });
    const pty = open();
    await planFor(pty);
    pty.press(KEY.tab);
    await pty.shows('Escape to claude');
    await pty.confirm();
    await pty.shows('still pending after 5 s');
    expect(isRunning(agent)).toBe(true);
  });

  it('is no finding while the session waits for its user', async () => {
    await startCalling(sandbox, 'work', { status: 'waiting' });
    const pty = open();
    // Past its limit and seen in enough samples.
    await pty.shows(/waits for you.* [3-9]s/);
    expect(pty.text()).not.toContain('hung');
  });

  it('is in the JSON, with its process, the model and the context', async () => {
    const { agent, server, startedAt } = await startCalling(sandbox);
    await until('the call to be late', () => Date.now() - startedAt() > 1500);
    const { processes, findings } = await snapshotOf(sandbox);
    const session = processes.find(p => p.pid === agent.pid)?.session;
    expect(session).toMatchObject({
      doing: 'busy',
      model: 'claude-opus-5-5',
      context: { tokens: 142_000 },
      calls: [{ hung: true, tool: 'lean_goal', server: 'lean-lsp', pid: server.pid, subagent: false }],
    });
    // A single snapshot takes as many samples as it needs to say that nothing happens.
    expect(findings.find(({ id }) => id === 'call-hung')?.title).toMatch(/lean-lsp-mcp \(\d+\) is idle/);
  });
});
