import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { auditLines } from '../support/audit.ts';
import { type CliResult, reaptop } from '../support/cli.ts';
import { verdictOfDeadOwner } from '../support/foreign-agents.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning, pidsWithEnv, type RawProcess } from '../support/proc.ts';
import { MARK, Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** Where an unregistered agent of somebody else runs, a dead owner makes suspects: then they must be asked for. */
const run = (flags: readonly string[]): Promise<CliResult> =>
  reaptop(sandbox, ['clean', ...(verdictOfDeadOwner(sandbox) === 'suspect' ? ['--suspects'] : []), ...flags]);

/** `clean` cleans the machine: before it may, every step of its plan must be a process of this sandbox. */
const clean = async (...flags: string[]): Promise<CliResult> => {
  if (flags.includes('--force') && !flags.includes('--dry-run')) {
    const { stdout } = await run([...flags, '--dry-run', '--json']);
    const { plan } = JSON.parse(stdout) as { plan: { steps: { pid: number }[] } };
    const ours = new Set(pidsWithEnv(`${MARK}=${sandbox.mark}`));
    const foreign = plan.steps.filter(({ pid }) => !ours.has(pid));
    if (foreign.length > 0)
      throw new Error(`Leaks of others are on this machine (${pids(foreign)}): not cleaning.`);
  }
  return run(flags);
};

/** Pids of the plan or the outcomes in `--json`. */
const cleanJson = async (...flags: string[]) => {
  const { stdout, code, stderr } = await clean('--json', ...flags);
  const parsed = JSON.parse(stdout) as {
    plan: { steps: { pid: number; why: string }[]; refused: { pid: number; why: string }[]; bytes: number };
    outcomes: { pid: number; outcome: string; freed: number }[];
  };
  return { ...parsed, code, stderr };
};

const pids = (items: readonly { pid: number }[]): number[] =>
  items.map(({ pid }) => pid).sort((a, b) => a - b);

/** What one killed session leaves: an npm chain, a java in its own session, a server that ignores TERM, a shell. */
const leaveBehind = async () => {
  const server = sandbox.sleeper('mcp-server-files');
  const stubborn = sandbox.write(
    'bin/stubborn-mcp',
    '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 600; done\n',
    0o755,
  );
  const npm = sandbox.write(
    'npm-cli.js',
    `process.title = 'npm exec @modelcontextprotocol/server-files';
     require('node:child_process').spawn('sh', ['-c', '${server} 600; true'], { stdio: 'ignore' });`,
  );
  const agent = await startAgent(sandbox, {
    children: [
      `${process.execPath} ${npm}`,
      `setsid ${sandbox.sleeper('java')} 600`,
      stubborn,
      `sh -c 'sleep 601; true'`,
    ],
  });
  const members = await until('everything the session started', () => {
    const names = sandbox.running().map(p => p.comm);
    return ['mcp-server-file', 'java', 'stubborn-mcp'].every(name => names.includes(name)) &&
      names.filter(name => name === 'sleep').length >= 3
      ? descendants(agent).filter(p => p.ppid !== agent.pid || p.comm !== 'sleep') // not the stand-in's own
      : undefined;
  });
  process.kill(agent.pid, 'SIGKILL');
  await until('the agent to end', () => !isRunning(agent.pid));
  return { members, stubborn: members.find(p => p.comm === 'stubborn-mcp')! };
};

const descendants = (root: RawProcess): RawProcess[] =>
  childrenOf(root.pid).flatMap(child => [child, ...descendants(child)]);

describe('reaptop clean', () => {
  it('ends exactly what a killed session left, beside everything that must live', async () => {
    const { members, stubborn } = await leaveBehind();
    // A live session in tmux, a daemon, a shared server, and decoys with the same words.
    sandbox.write('bin/in-pane', `#!/bin/sh\n${sandbox.sleeper('mcp-server-files')} 602 &\nwait\n`, 0o755);
    sandbox.tmux('new-session', '-d', '-s', 'work', sandbox.path('bin/in-pane'));
    const inPane = await sandbox.find(
      'the server in the pane',
      p => p.comm === 'mcp-server-file' && !members.some(m => m.pid === p.pid),
    );
    const dead = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '00000000-dead-4000-8000-000000000000' };
    const daemon = await orphan(
      sandbox,
      `${sandbox.script('claude-code/claude')} daemon run`,
      dead,
      'daemon',
    );
    const http = await orphan(
      sandbox,
      `${sandbox.script('web-mcp')} --transport http --port 0`,
      dead,
      'http',
    );
    const decoy = sandbox.start([sandbox.sleeper('java'), '600']);
    const bystanders = [inPane.pid, daemon.pid, http.pid, decoy.pid, process.pid, process.ppid];

    const expected = pids(members);
    const dry = await cleanJson('--dry-run', '--force', '--age-threshold', '0');
    expect(pids(dry.plan.steps)).toEqual(expected);
    expect(dry.outcomes).toEqual([]);
    expect(members.filter(p => !isRunning(p.pid, p.start))).toEqual([]);

    const young = await cleanJson('--force');
    expect(young.plan.steps).toEqual([]);
    if (verdictOfDeadOwner(sandbox) === 'leak')
      expect(JSON.stringify(young.plan.refused)).toContain('younger than the threshold of 1 min');

    // --once tells one finding for what the session left, and names the command that works: the next one here.
    if (verdictOfDeadOwner(sandbox) === 'leak') {
      const once = await reaptop(sandbox, ['--once'], { env: { COLUMNS: '200' } });
      expect(once.stdout).toMatch(
        /\nLeaked, but younger than 1 min: .*\. reaptop clean --age-threshold 0 takes them\.\n$/,
      );
      expect(once.stdout.match(/ leak: session /g)).toHaveLength(1);
      expect(once.stdout).toContain(`: ${expected.length} leaked, `);
    }

    const done = await clean('--force', '--age-threshold', '0', '--grace', '1');
    expect(done).toMatchObject({ code: 0 });
    expect(members.filter(p => isRunning(p.pid, p.start))).toEqual([]);
    expect(bystanders.filter(pid => !isRunning(pid))).toEqual([]);
    expect(done.stdout).toMatch(new RegExp(`^killed +${stubborn.pid} `, 'm'));
    expect(done.stdout).toMatch(/\d+ ended, 2 killed, .* [KMG]iB freed\n$/);

    const audit = join(sandbox.home, '.local/state/reaptop/audit.jsonl');
    expect(statSync(audit).mode & 0o777).toBe(0o600);
    expect(statSync(join(audit, '..')).mode & 0o777).toBe(0o700);
    const [intent, outcome] = auditLines(sandbox);
    expect([intent?.by, intent?.id]).toEqual(['clean', outcome?.id]);
    expect(pids(intent?.plan?.steps ?? [])).toEqual(expected);
    expect(pids(outcome?.outcomes ?? [])).toEqual(expected);

    const again = await clean('--force', '--age-threshold', '0');
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toContain('Nothing to do');
  });

  it('narrows by kind, and takes single pids with their start', async () => {
    const { members } = await leaveBehind();
    const java = members.find(p => p.comm === 'java')!;
    expect(pids((await cleanJson('--age-threshold', '0', '--kind', 'browser')).plan.steps)).toEqual([]);
    const wrong = await cleanJson('--pid', `${java.pid}:1`);
    expect(wrong.plan.steps).toEqual([]);
    expect(wrong.plan.refused).toHaveLength(1);
    const one = await cleanJson('--force', '--pid', `${java.pid}:${java.start}`);
    expect(one.outcomes).toMatchObject([{ pid: java.pid, outcome: 'ended' }]);
    expect(members.filter(p => p.pid !== java.pid && !isRunning(p.pid, p.start))).toEqual([]);
  });

  it('refuses a live process and a protected one by pid', async () => {
    const agent = await startAgent(sandbox, { children: [`${sandbox.sleeper('mcp-server-files')} 600`] });
    const server = await sandbox.find('the server', p => p.comm === 'mcp-server-file');
    for (const pid of [agent.pid, server.pid, process.pid, 1]) {
      const { plan, code } = await cleanJson('--force', '--pid', String(pid));
      expect(code).toBe(0);
      expect(plan.steps).toEqual([]);
      expect(plan.refused).toMatchObject([{ pid }]);
    }
    expect(isRunning(agent.pid) && isRunning(server.pid)).toBe(true);
  });

  it('nudges a parent with zombies, and ends it only when it is an idle server', async () => {
    sandbox.write(
      'home/.config/reaptop/config.json',
      JSON.stringify({ thresholds: { zombie: { quietSeconds: 0.5 } } }),
    );
    const server = sandbox.sleeper('lean-lsp-mcp');
    await startAgent(sandbox, {
      children: [
        `sh -c 'sleep 0 & sleep 0 & exec ${server} 600'`,
        `sh -c 'sleep 0 & exec ${sandbox.sleeper('plain-tool')} 600'`,
      ],
    });
    const lsp = await sandbox.find('the server', p => p.comm === 'lean-lsp-mcp');
    const tool = await sandbox.find('the tool', p => p.comm === 'plain-tool');
    await until(
      'the zombies',
      () => [...childrenOf(lsp.pid), ...childrenOf(tool.pid)].filter(p => p.state === 'Z').length === 3,
    );
    expect((await cleanJson('--force', '--age-threshold', '0')).plan.steps.map(s => s.pid)).not.toContain(
      lsp.pid,
    );
    const young = await cleanJson('--zombie-parents');
    expect(young.plan.steps.find(step => step.pid === lsp.pid)?.why).toContain('younger than 60 min');
    const result = await cleanJson('--zombie-parents', '--force', '--age-threshold', '0');
    expect(result.outcomes).toContainEqual(expect.objectContaining({ pid: lsp.pid, outcome: 'ended' }));
    expect(isRunning(lsp.pid)).toBe(false);
    expect(isRunning(tool.pid)).toBe(true);
  });

  it('says who holds the lock when another clean-up runs', async () => {
    await leaveBehind();
    const first = clean('--force', '--age-threshold', '0', '--grace', '1');
    const lock = await until('the first to hold the lock', () =>
      readFileSync(join(sandbox.home, '.local/state/reaptop/clean.lock'), 'utf8'),
    );
    const { pid } = JSON.parse(lock) as { readonly pid: number };
    process.kill(pid, 'SIGSTOP'); // it holds the lock for as long as the second needs
    try {
      const second = await clean('--force', '--age-threshold', '0');
      expect(second.code).toBe(1);
      expect(second.stderr).toMatch(new RegExp(`clean.*${pid}`));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await first).code).toBe(0);
  });

  it('cleans with a state directory that cannot be written, and warns once', async () => {
    await leaveBehind();
    mkdirSync(join(sandbox.home, '.local'), { recursive: true });
    sandbox.write('home/.local/state', 'a file where the directory should be');
    const done = await clean('--force', '--age-threshold', '0', '--grace', '1');
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/ended, 2 killed/);
    expect(done.stderr.match(/audit log/g)).toHaveLength(1);
  });
});
