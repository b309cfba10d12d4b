import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { startAgent } from '../support/agent.ts';
import { reaptop } from '../support/cli.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let agent: Awaited<ReturnType<typeof startAgent>>;
beforeAll(async () => {
  sandbox = new Sandbox();
  agent = await startAgent(sandbox, { children: [`${sandbox.sleeper('mcp-server-files')} 600`] });
});
afterAll(() => sandbox.close());

const judge = async (input: string, ...args: string[]) => {
  const { code, stdout, stderr } = await reaptop(sandbox, ['--once', '--json', '--from', '-', ...args], {
    input,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return snapshotSchema.parse(JSON.parse(stdout));
};

describe('a table recorded here', () => {
  it('as our own JSON tells the same story', async () => {
    const { stdout } = await reaptop(sandbox, ['--once', '--json', '--all']);
    const recorded = snapshotSchema.parse(JSON.parse(stdout));
    const again = await judge(stdout, '--all');
    expect(again.host).toMatchObject({ backend: 'recorded', name: recorded.host.name });
    const identities = ({ processes }: typeof recorded) =>
      processes.map(p => [p.pid, p.start, p.state]).sort();
    expect(identities(again)).toEqual(identities(recorded));
    const kinds = ({ processes }: typeof recorded) =>
      processes.filter(p => p.pid === agent.pid || p.ppid === agent.pid).map(p => [p.pid, p.kind, p.verdict]);
    expect(kinds(again)).toEqual(kinds(recorded));
    expect(again.processes.map(p => [p.pid, p.verdict]).sort()).toEqual(
      recorded.processes.map(p => [p.pid, p.verdict]).sort(),
    );
    expect(again.totals).toEqual(recorded.totals);
  });

  it('as our own JSON proves no more than it did with ports, users and sessions', async () => {
    const server = {
      start: '5',
      ppid: 1,
      command: 'node /a/node_modules/.bin/playwright-mcp',
      verdict: 'leak',
    };
    const soft = {
      protection: 'soft',
      why: ['an MCP server on port 8931 that no agent is known to have started'],
    };
    const processes = [
      { pid: 1, start: '1', command: '/sbin/init' },
      { ...server, pid: 400 },
      { ...server, pid: 401, ...soft, verdict: 'protected' },
      { ...server, pid: 402, verdict: 'suspect', why: ['listens on port 80: it may be in use'] },
    ];
    const again = await judge(JSON.stringify({ schema: 1, processes }));
    expect(again.processes.map(p => [p.pid, p.verdict, p.protection])).toEqual([
      [400, 'leak', null],
      [401, 'protected', 'soft'],
      [402, 'suspect', null],
    ]);
    expect(again.processes[1]?.why).toEqual(soft.why);
  });

  it.each([
    ['ps aux', ['aux']],
    ['ps -ef', ['-ef']],
    ['the columns we ask for', ['-axwwo', 'pid,ppid,pgid,tty,stat,rss,etime,command']],
    ['long start times', ['-axwwo', 'pid,ppid,sess,uid,lstart,comm,args']],
  ])('as %s shows the agent', async (_, args) => {
    const listing = spawnSync('ps', [...args], {
      encoding: 'utf8',
      env: { ...process.env, COLUMNS: '1000' },
    }).stdout;
    const { processes, totals } = await judge(listing, '--all');
    expect(processes.find(p => p.pid === agent.pid)).toMatchObject({ kind: 'agent', agent: 'claude' });
    // ps itself may list a pid twice when it is reused meanwhile.
    expect(totals.processes).toBeGreaterThanOrEqual(0.98 * (listing.trim().split('\n').length - 1) - 1);
  });
});

describe('another machine', () => {
  const LISTING = `me@box:~$ ps -axwwo pid,ppid,tt,stat,rss,start,command
  PID  PPID TT       STAT    RSS  STARTED COMMAND
    1     0 ??       Ss     9000 Mon09AM  /sbin/launchd
  500     1 ??       S     90000  9:15AM  npm exec @playwright/mcp@latest

  501   500 ??       S    200000  9:15AM  node /Users/me/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp
  600     1 s000     Ss     4000  9:16AM  login -pf me
  601   600 s000     S      4000  9:16AM  -zsh
  602   601 s000     S+   300000  9:17AM  claude
  603   602 ??       Z         0  9:18AM  <defunct>
  604   602 ??       S     10000  9:18AM  npm exec chrome-devtools-mcp
`;

  it('is diagnosed from a paste, prompt and blank line included', async () => {
    const { host, processes, totals } = await judge(LISTING);
    expect(host).toMatchObject({ platform: 'darwin', container: false });
    const verdicts = new Map(processes.map(p => [p.pid, p.verdict]));
    expect([500, 501, 602, 603, 604].map(pid => verdicts.get(pid))).toEqual([
      'suspect',
      'suspect',
      'live',
      'live',
      'live',
    ]);
    expect(totals).toMatchObject({ agents: 1, leaks: 0, suspects: 2, zombies: 1, reclaimable: 0 });
  });

  it('without an agent is not called clean', async () => {
    const { stdout } = await reaptop(sandbox, ['--once', '--from', '-'], {
      input: 'PID COMMAND\n1 init\n7 nginx\n',
    });
    expect(stdout).toContain('0 recognised of 2 processes');
  });

  it('with a container’s PID 1 makes orphans suspect', async () => {
    const { processes } = await judge('PID PPID COMMAND\n1 0 tini -- sleep\n9 1 lean-lsp-mcp\n');
    expect(processes[0]).toMatchObject({ pid: 9, verdict: 'suspect' });
  });
});

it('nothing is ever signalled from a recorded table', async () => {
  const listing = `PID PPID COMMAND\n1 0 init\n${agent.pid} 1 lean-lsp-mcp\n`;
  const { processes } = await judge(listing);
  expect(processes[0]).toMatchObject({ pid: agent.pid, verdict: 'suspect' });
  const { code, stdout, stderr } = await reaptop(
    sandbox,
    ['clean', '--force', '--suspects', '--age-threshold', '0', '--from', '-'],
    { input: listing },
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`${agent.pid}  lean-lsp-mcp: nothing is ever signalled from a recorded table`);
  expect(stdout).toContain('Nothing to do');
  expect(isRunning(agent.pid, agent.start)).toBe(true);
});
