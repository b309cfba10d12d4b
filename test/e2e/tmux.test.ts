import { afterEach, beforeEach, expect, it } from 'vitest';
import { snapshotOf } from '../support/cli.ts';
import { childrenOf, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const DEAD = 'CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=00000000-dead-4000-8000-000000000000';

const verdicts = async (...pids: readonly number[]): Promise<(string | undefined)[]> => {
  const { processes } = await snapshotOf(sandbox, ['--all']);
  return pids.map(pid => processes.find(p => p.pid === pid)?.verdict);
};

it('what outlives its pane below a tmux server is an orphan; all below a server that does not answer is live', async () => {
  const stubborn = sandbox.write(
    'bin/stubborn',
    `#!/bin/sh\ntrap '' HUP\nexport ${DEAD}\nexec ${sandbox.sleeper('mcp-server-old')} 600\n`,
    0o755,
  );
  sandbox.tmux('new-session', '-d', '-s', 'stays', `exec ${sandbox.sleeper('mcp-server-new')} 600`);
  sandbox.tmux('new-session', '-d', '-s', 'goes', `exec ${stubborn}`);
  const stays = await sandbox.find('the pane that stays', p => p.comm === 'mcp-server-new');
  const survivor = await sandbox.find('the pane that goes', p => p.comm === 'mcp-server-old');
  expect(await verdicts(stays.pid, survivor.pid)).toEqual(['live', 'live']);

  sandbox.tmux('kill-session', '-t', '=goes');
  const server = rawProcess(survivor.pid)?.ppid ?? 0;
  expect(server).toBe(stays.ppid);
  const { processes } = await snapshotOf(sandbox, ['--all']);
  const left = processes.find(p => p.pid === survivor.pid);
  // Suspect, when the machine runs a claude that never registered.
  expect(['leak', 'suspect']).toContain(left?.verdict);
  expect(left?.why.join()).toContain('in none of its panes');

  process.kill(server, 'SIGSTOP');
  try {
    expect(await verdicts(stays.pid, survivor.pid, server)).toEqual(['live', 'live', 'protected']);
  } finally {
    process.kill(server, 'SIGCONT');
  }
});

it('a popup is none of the panes and live all the same', async () => {
  const popup = sandbox.sleeper('mcp-server-pop');
  sandbox.tmux('new-session', '-d', '-s', 'main', 'sleep 600');
  // A popup needs a client to be drawn on; script gives it a terminal.
  const attach = `tmux -L reaptop-test attach -t main`;
  sandbox.start(['script', '-qfc', attach, '/dev/null'], { env: { TERM: 'xterm-256color' } });
  await until('the client', () => sandbox.tmux('list-clients') !== '');
  sandbox.start(['tmux', '-L', 'reaptop-test', 'display-popup', '-E', `${popup} 600`], {
    env: { TERM: 'xterm-256color' },
  });
  const inside = await sandbox.find('the process in the popup', p => p.comm === 'mcp-server-pop');
  expect(childrenOf(inside.ppid).map(p => p.pid)).toContain(inside.pid);
  expect(await verdicts(inside.pid)).toEqual(['live']);
});
