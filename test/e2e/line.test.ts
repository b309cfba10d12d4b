import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Latest, writeLatest } from '../../src/remember/latest.ts';
import { startAgent } from '../support/agent.ts';
import { REAPTOP, reaptop } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const sample = (ageSeconds: number): Latest => ({
  schema: 1,
  takenAt: Date.now() - ageSeconds * 1000,
  guard: {
    writer: { pid: 1, start: '1' },
    since: 0,
    intervalSeconds: 60,
    held: null,
    paused: null,
    endsLastHour: 0,
    endsPerHour: 60,
    waiting: 0,
    ended: 0,
    reclaimedBytes: 0,
    acts: [],
    warnings: [],
  },
  host: {} as Latest['host'],
  totals: {
    processes: 9,
    agents: 41,
    related: 41,
    rss: 0,
    swap: 0,
    reclaimable: 0,
    leaks: 3,
    suspects: 0,
    zombies: 0,
  },
  stale: 0,
  hung: 0,
  agents: [
    {
      pid: 5,
      start: '5',
      name: 'claude',
      bytes: 1024 ** 3,
      shells: 1,
      session: { id: 'asking', project: 'app', name: null, doing: 'waiting', waitingFor: null, seconds: 60 },
    },
  ],
  findings: [],
});
const line = async (...style: string[]) =>
  reaptop(sandbox, ['--once', '--line', ...style], { input: '{"session_id":"asking"}' });
const guardSaw = (ageSeconds: number): unknown =>
  writeLatest(join(sandbox.home, '.local/state/reaptop'), sample(ageSeconds));

it('with guard running the line is of its last sample, and the session that asks is not told that it waits', async () => {
  guardSaw(5);
  expect(await line('--no-color')).toEqual({ code: 0, stdout: 'app waits 1m | 3 leaks 0\n', stderr: '' });
  expect((await line()).stdout).toBe('#[fg=yellow]app waits 1m#[default] | #[fg=red]3 leaks 0#[default]\n');
  expect((await line('claude', '--no-color')).stdout).toBe('mine 1.0G, 1 shell | 3 leaks 0\n');
});

it.each([
  ['agents', [null]],
  ['agents', [{ name: 7, session: { doing: 'waiting', project: {}, seconds: 'x' } }]],
  ['totals', { agents: 1 }],
  ['guard', { intervalSeconds: 1e9, since: 0, writer: { pid: 1 }, acts: [null], warnings: [null] }],
])('a forged sample (%s: %j) is passed over without a word', async (name, value) => {
  writeLatest(join(sandbox.home, '.local/state/reaptop'), { ...sample(0), [name]: value } as Latest);
  for (const args of [['--once', '--line'], ['guard', 'status'], ['doctor']]) {
    const { stdout, stderr } = await reaptop(sandbox, args);
    if (!args.includes('--line')) expect(stdout).not.toBe('');
    expect(stderr).toBe('');
  }
});

it('in the status line of tmux a project’s name is only a name', async () => {
  const latest = sample(0);
  const [agent] = latest.agents;
  const project = '#[fg=red]#{pid}#(id)';
  const agents = [{ ...agent!, session: { ...agent!.session!, project } }];
  writeLatest(join(sandbox.home, '.local/state/reaptop'), { ...latest, agents });
  sandbox.tmux('new-session', '-d', '-x', '140', '-y', '5', 'sleep 600');
  sandbox.tmux('set', '-g', 'status-right-length', '100');
  sandbox.tmux('set', '-g', 'status-interval', '1');
  sandbox.tmux('set', '-g', 'status-right', `#(${REAPTOP} --once --line)`);
  const socket = sandbox.tmux('display-message', '-p', '#{socket_path}');
  // A terminal around it, because only what is shown to somebody is expanded.
  sandbox.tmuxWith(
    {},
    'around',
    'new-session',
    '-d',
    '-x',
    '140',
    '-y',
    '6',
    `TMUX= exec tmux -S ${socket} attach`,
  );
  await until('the line', () => sandbox.tmuxWith({}, 'around', 'capture-pane', '-p').includes('waits 1m'));
  expect(sandbox.tmuxWith({}, 'around', 'capture-pane', '-p')).toContain(`${project} waits 1m | 3 leaks`);
});

it('without a fresh one it looks itself', async () => {
  guardSaw(600);
  await startAgent(sandbox);
  expect(await line('claude')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await line('claude', '--always', '--no-color')).stdout).toBe('ok\n');
});
