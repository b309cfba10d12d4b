import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { type JsonProcess, type JsonSnapshot, snapshotOf } from '../support/cli.ts';
import { verdictOfDeadOwner } from '../support/foreign-agents.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const at = (snapshot: JsonSnapshot, pid: number): JsonProcess => {
  const found = snapshot.processes.find(p => p.pid === pid);
  if (found === undefined)
    throw new Error(
      `pid ${pid} is not among ${snapshot.processes.map(p => `${p.pid} ${p.name}`).join(', ')}`,
    );
  return found;
};

/** Ends a process the test started and waits until its children belong to somebody else. */
const kill = async (pid: number): Promise<void> => {
  process.kill(pid, 'SIGKILL');
  await until(`${pid} to end`, () => !isRunning(pid));
};

const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '00000000-dead-4000-8000-000000000000' };

describe('zombies', () => {
  it('shows an unreaped child under its parent and says so in a finding', async () => {
    const server = sandbox.sleeper('lean-lsp-mcp');
    const agent = await startAgent(sandbox, { children: [`sh -c 'sleep 0 & exec ${server} 600'`] });
    const parent = await sandbox.find('the server', p => p.comm === 'lean-lsp-mcp');
    const zombie = await until('the zombie', () => childrenOf(parent.pid).find(p => p.state === 'Z'));
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, parent.pid)).toMatchObject({ kind: 'lean-lsp', verdict: 'live', zombies: 1 });
    expect(at(snapshot, zombie.pid)).toMatchObject({ state: 'Z', ppid: parent.pid, verdict: 'live' });
    const finding = snapshot.findings.find(
      f => f.id === 'zombie' && f.processes.some(p => p.pid === parent.pid),
    );
    expect(finding).toMatchObject({ severity: 'critical' });
    expect(finding?.processes.map(p => p.pid)).toContain(zombie.pid);
    expect(at(snapshot, agent.pid).kind).toBe('agent');
  });
});

describe('what a killed agent leaves', () => {
  it('calls all three of an npm exec → sh → node chain leaked', async () => {
    const server = sandbox.write('node_modules/.bin/mcp-server-files', 'setInterval(() => {}, 1e9);\n');
    const npm = sandbox.write(
      'npm-cli.js',
      `process.title = 'npm exec @modelcontextprotocol/server-files';
       require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(`${process.execPath} ${server}; true`)}], { stdio: 'ignore' });`,
    );
    const agent = await startAgent(sandbox, { children: [`${process.execPath} ${npm}`] });
    const node = await until('the whole chain', () =>
      sandbox
        .running()
        .find(
          p =>
            childrenOf(p.pid).length === 0 &&
            cmdline(p.pid).includes('mcp-server-files') &&
            !cmdline(p.pid).startsWith('sh'),
        ),
    );
    const shell = sandbox.running().find(p => p.pid === node.ppid)!;
    const chain = [shell.ppid, shell.pid, node.pid];
    const before = await snapshotOf(sandbox);
    for (const pid of chain)
      expect(at(before, pid)).toMatchObject({ verdict: 'live', owner: { pid: agent.pid, how: 'ancestor' } });
    await kill(agent.pid);
    const after = await snapshotOf(sandbox);
    expect(chain.map(pid => at(after, pid).verdict)).toEqual(Array(3).fill(verdictOfDeadOwner(sandbox)));
    expect(chain.map(pid => at(after, pid).kind)).toEqual(['wrapper', 'wrapper', 'mcp']);
    const finding = after.findings.find(f => f.id === 'leak' && f.processes.some(p => p.pid === node.pid));
    const leaked = verdictOfDeadOwner(sandbox) === 'leak' ? [...chain].sort() : undefined;
    expect(finding?.processes.map(p => p.pid).sort()).toEqual(leaked);
  });

  it('judges a java by the session its environment names', async () => {
    const java = sandbox.sleeper('java');
    const agent = await startAgent(sandbox);
    const dead = await orphan(sandbox, `${java} 600`, DEAD, 'dead');
    const alive = await orphan(
      sandbox,
      `${java} 601`,
      { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: agent.session },
      'alive',
    );
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, dead.pid)).toMatchObject({
      verdict: verdictOfDeadOwner(sandbox),
      owner: { how: 'environ', alive: false },
    });
    expect(at(snapshot, alive.pid)).toMatchObject({
      verdict: 'live',
      owner: { pid: agent.pid, how: 'environ', alive: true },
    });
  });

  it('leaks the children of a leaked agent with it', async () => {
    const helper = sandbox.sleeper('some-helper');
    sandbox.write('bin/claude', `#!/bin/sh\n${helper} 601 &\nwait\n`, 0o755);
    const agent = await orphan(sandbox, `${sandbox.path('bin/claude')} -p task`, DEAD, 'agent');
    const child = await sandbox.find('the helper', p => p.comm === 'some-helper');
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, agent.pid)).toMatchObject({ kind: 'agent', verdict: verdictOfDeadOwner(sandbox) });
    expect(at(snapshot, child.pid)).toMatchObject({
      verdict: verdictOfDeadOwner(sandbox),
      owner: { pid: agent.pid, how: 'ancestor' },
    });
  });
});

const cmdline = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0+$/, '').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

describe('live things that look leaked', () => {
  it('keeps a setsid lean --worker below its server', async () => {
    const lean = sandbox.write(
      'toolchain/bin/lean',
      '#!/bin/sh\nif [ "$1" = --server ]; then setsid "$0" --worker file:///X.lean & wait; else exec sleep 600; fi\n',
      0o755,
    );
    const agent = await startAgent(sandbox, { children: [`${lean} --server`] });
    const worker = await until('the worker', () =>
      sandbox.running().find(p => p.sid === p.pid && p.comm === 'sleep' && p.ppid !== agent.pid),
    );
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, worker.pid)).toMatchObject({
      verdict: 'live',
      owner: { pid: agent.pid, how: 'ancestor' },
    });
  });

  it('calls the panes of a tmux server live, also one that was started with a dead session in its environment', async () => {
    const server = sandbox.sleeper('mcp-server-github');
    sandbox.write('bin/pane.sh', `#!/bin/sh\n${server} 600 &\nwait\n`, 0o755);
    sandbox.tmux('new-session', '-d', '-s', 'plain', sandbox.path('bin/pane.sh'));
    const inPane = await sandbox.find('the server in the pane', p => p.comm === 'mcp-server-gith');
    const plain = await snapshotOf(sandbox);
    expect(at(plain, inPane.pid)).toMatchObject({ verdict: 'live', tmux: { session: 'plain' } });

    sandbox.tmuxWith(DEAD, 'inherited', 'new-session', '-d', '-s', 'inherited', `${server} 601`);
    const inherited = await sandbox.find(
      'the server of the second tmux',
      p => cmdline(p.pid).endsWith(' 601') && p.comm === 'mcp-server-gith',
    );
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, inherited.pid)).toMatchObject({ verdict: 'live', tmux: { session: 'inherited' } });
  });

  it('suspects, and never calls leaked, work that somebody detached on purpose', async () => {
    const print = await orphan(sandbox, `nohup ${sandbox.sleeper('claude')} 600`, {}, 'print');
    const build = await orphan(sandbox, `nohup ${sandbox.script('lake')} build`, {}, 'build');
    const snapshot = await snapshotOf(sandbox);
    expect(at(snapshot, print.pid)).toMatchObject({ kind: 'agent', verdict: 'suspect' });
    expect(at(snapshot, build.pid)).toMatchObject({ kind: 'lake', verdict: 'suspect' });
  });

  it('suspects a dev server that only a dead environment ties to an agent', async () => {
    const dev = sandbox.write(
      'dev-server.js',
      `require('node:http').createServer().listen(0, '127.0.0.1', () => require('node:fs').writeFileSync(process.argv[2], 'up'));`,
    );
    const server = await orphan(sandbox, `${process.execPath} ${dev} ${sandbox.path('up')}`, DEAD, 'dev');
    await until('the server to listen', () => readFileSync(sandbox.path('up'), 'utf8'));
    expect(at(await snapshotOf(sandbox), server.pid)).toMatchObject({ kind: 'other', verdict: 'suspect' });
  });

  it('protects claude daemon, a server over HTTP, and its own ancestors', async () => {
    const daemon = await orphan(sandbox, `${sandbox.script('claude')} daemon run`, DEAD, 'daemon');
    const http = await orphan(
      sandbox,
      `${process.execPath} ${sandbox.write('mcp-server-web.js', 'setInterval(() => {}, 1e9)')} --transport http`,
      DEAD,
      'http',
    );
    const snapshot = await snapshotOf(sandbox, ['--all']);
    expect(at(snapshot, http.pid)).toMatchObject({ kind: 'mcp', verdict: 'protected', protection: 'soft' });
    expect(at(snapshot, daemon.pid)).toMatchObject({ verdict: 'protected', protection: 'hard' });
    expect(at(snapshot, process.pid)).toMatchObject({ verdict: 'protected', protection: 'hard' });
    expect(at(snapshot, process.ppid)).toMatchObject({ verdict: 'protected', protection: 'hard' });
  });

  it('takes no decoy for an agent', async () => {
    const sleep = '/bin/sleep';
    const decoys = [
      sandbox.start([sleep, '600'], { argv0: 'vim CLAUDE.md' }),
      sandbox.start(['/bin/sh', '-c', 'tail -f "$0" & wait', sandbox.write('.claude/x', '')]),
      sandbox.start([process.execPath, sandbox.write('home/claude/server.js', 'setInterval(() => {}, 1e9)')]),
    ];
    const grep = sandbox.start(['grep', 'claude', '-'], { stdio: 'pipe' });
    const snapshot = await snapshotOf(sandbox, ['--all']);
    for (const { pid } of [...decoys, grep]) expect(at(snapshot, pid)).toMatchObject({ agent: null });
    expect(snapshot.processes.filter(p => p.kind === 'agent' && p.command.includes(sandbox.dir))).toEqual([]);
  });
});
