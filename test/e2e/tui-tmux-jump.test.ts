import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REAPTOP } from '../support/cli.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const RUN = `exec ${REAPTOP} --interval 0.5`;

/** A stand-in for an agent, with a server below it. */
const agent = (server: string): string =>
  sandbox.write(`bin/${server}.d/claude`, `#!/bin/sh\n${sandbox.sleeper(server)} 600 &\nwait\n`, 0o755);

// The first picture waits for no tmux: the headings say that the panes are known.
describe('o', () => {
  beforeEach(() => {
    sandbox.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', agent('mcp-in-pane'));
  });

  it('switches the terminal that shows us to the pane, in another session and in our own', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'view', '-x', '100', '-y', '30', RUN);
    sandbox.tmux('split-window', '-d', '-t', 'view', agent('mcp-beside'));
    const pty = new Pty(sandbox, {
      rows: 50,
      command: ['tmux', '-L', 'reaptop-test', 'attach', '-t', 'view'],
    });
    const shown = (): string => sandbox.tmux('list-clients', '-F', '#{session_name} #{pane_current_command}');
    await pty.shows('tmux work', 'tmux view', 'mcp-in-pane', 'mcp-beside');
    await pty.select('mcp-in-pane');
    pty.press('o');
    await until('the terminal to show the other session', () => shown().startsWith('work '));
    sandbox.tmux('switch-client', '-t', 'view');
    await pty.shows('Now showing work %0');
    pty.press(KEY.escape);
    await pty.hides('/mcp-in-pane');
    await pty.select('mcp-beside');
    expect(shown()).toMatch(/^view node/);
    pty.press('o');
    await until('the pane beside ours', () => /^view (?!node)/.test(shown()));
  });

  it('attaches outside tmux, and the screen is back after the detach', async () => {
    const outside = new Pty(sandbox, { columns: 60, rows: 40 });
    await outside.shows('tmux work', 'mcp-in-pane');
    await outside.select('mcp-in-pane');
    outside.press('o');
    await until('the terminal to be attached', () => sandbox.tmux('list-clients').includes('work'));
    await outside.hides('mcp-in-pane');
    // Keys go to the pane: q does not quit.
    outside.press('q');
    sandbox.tmux('detach-client', '-s', 'work');
    await outside.shows('Back from work %0.', 'mcp-in-pane');
    outside.press('?');
    await outside.shows('Look around');
  });

  it('says how on another server, in 60 columns', async () => {
    sandbox.tmuxWith({}, 'other', 'new-session', '-d', '-s', 'view', '-x', '60', '-y', '40', RUN);
    const other = new Pty(sandbox, { columns: 60, rows: 40, command: ['tmux', '-L', 'other', 'attach'] });
    await other.shows('tmux work', 'mcp-in-pane');
    await other.select('mcp-in-pane');
    other.press('o');
    await other.shows(/TMUX= tmux -L reaptop-test attach -t %0/);
  });
});

it('i shows the last lines of its pane in the detail pane, without escapes and secrets', async () => {
  const script = sandbox.write(
    'bin/says.d/claude',
    `#!/bin/sh\nprintf 'first\\nproving \\033[31mlemma 42\\033[0m\\nexport API_TOKEN=sk-hunter2hunter2\\n'\n${sandbox.sleeper('mcp-peeked')} 600 &\nwait\n`,
    0o755,
  );
  sandbox.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', script);
  const pty = new Pty(sandbox, { columns: 100, rows: 40 });
  await pty.shows('tmux work', 'mcp-peeked');
  await pty.select('mcp-peeked');
  pty.press('i');
  await pty.shows(/\| proving lemma 42/);
  expect(pty.text()).not.toContain('hunter2');
});
