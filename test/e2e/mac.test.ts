import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS } from '../fixtures/hooks.ts';
import { type JsonProcess, reaptop } from '../support/cli.ts';
import { LEAN_BUILD } from '../support/hook-session.ts';
import { Mac } from '../support/mac/mac.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning, type RawProcess } from '../support/proc.ts';
import { Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let mac: Mac;
beforeEach(() => {
  sandbox = new Sandbox();
  mac = new Mac(sandbox);
  // Not below /usr/bin: what the system ships has a closed environment on a Mac.
  symlinkSync(process.execPath, sandbox.path('bin/node'));
});
afterEach(() => sandbox.close());

const SERVER = `
const net = require('node:net');
if (process.env.PORT_FILE) {
  const server = net.createServer(() => {}).listen(0, '127.0.0.1', () =>
    require('node:fs').writeFileSync(process.env.PORT_FILE, String(server.address().port)));
}
setInterval(() => {}, 1000);
`;
/** An MCP server of our list, orphaned. */
const server = (env: Record<string, string> = {}, name = 'one', words = ''): Promise<RawProcess> => {
  const script = sandbox.write('bin/mcp-server-memory', SERVER);
  return orphan(sandbox, `${sandbox.path('bin/node')} ${script} ${name} ${words}`, env, name);
};
const DEAD = { CLAUDECODE: '1', CLAUDE_PID: '4194303', CLAUDE_CODE_SESSION_ID: 'ended' };

/** As `ps -o lstart=` prints it in UTC. */
const started = (pid: number): string =>
  spawnSync(sandbox.path('mac/ps'), ['-xww', '-o', 'lstart=', '-p', String(pid)], {
    env: { ...process.env, MAC_PROC: '/proc', TZ: 'UTC' },
    encoding: 'utf8',
  }).stdout.trim();

const registered = (pid: number, fields: Record<string, unknown> = {}): void => {
  mkdirSync(join(sandbox.home, '.claude/sessions'), { recursive: true });
  writeFileSync(
    join(sandbox.home, `.claude/sessions/${pid}.json`),
    JSON.stringify({
      pid,
      sessionId: 'running',
      procStart: started(pid),
      cwd: sandbox.path('work'),
      kind: 'interactive',
      status: 'idle',
      ...fields,
    }),
  );
};

interface Answer {
  readonly host: {
    readonly backend: string;
    readonly bootId: string;
    readonly swapUsed: number;
    readonly memTotal: number;
    readonly memAvailable: number;
  };
  readonly findings: readonly { readonly id: string; readonly why: string }[];
  readonly heartbeats: readonly { readonly path: string; readonly pid: number | null }[];
  readonly processes: readonly (JsonProcess & {
    start: string;
    cwd: string | null;
    session: { id: string } | null;
  })[];
}
const once = async (env: NodeJS.ProcessEnv = {}): Promise<Answer> => {
  const { stdout, stderr } = await mac.reaptop(['--once', '--json'], env);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Answer;
};
const rowOf = (answer: Answer, { pid }: { pid: number }) => answer.processes.find(p => p.pid === pid);

describe('a stand-in for a Mac: nothing that is wanted is ended', () => {
  it('a server with a connected client', async () => {
    mac.needsToRead();
    const file = sandbox.path('port');
    const wanted = await server({ ...DEAD, PORT_FILE: file });
    const port = Number(await until('its port', () => existsSync(file) && readFileSync(file, 'utf8')));
    const client = connect(port, '127.0.0.1');
    await until('the connection', () => client.readyState === 'open');
    try {
      expect(rowOf(await once(), wanted)).toMatchObject({
        verdict: 'protected',
        why: [expect.stringContaining('connected')],
      });
      await mac.reaptop(['clean', '--force', '--age-threshold', '0', '--suspects']);
      expect(isRunning(wanted.pid)).toBe(true);
    } finally {
      client.destroy();
    }
  });

  it('a job of launchd', async () => {
    const wanted = await server(DEAD);
    writeFileSync(mac.jobs, `${wanted.pid}\t0\tcom.example.memory\n`);
    expect(rowOf(await once(), wanted)).toMatchObject({
      verdict: 'protected',
      why: ['managed by launchd (com.example.memory)'],
    });
    await mac.reaptop(['clean', '--force', '--age-threshold', '0', '--suspects']);
    expect(isRunning(wanted.pid)).toBe(true);
  });

  it('a background session, which its file names by a start time in words', async () => {
    const session = await orphan(sandbox, `${sandbox.sleeper('claude')} 1000`);
    registered(session.pid, { kind: 'bg', jobId: '1a2b3c4d' });
    expect(rowOf(await once(), session)).toMatchObject({
      verdict: 'protected',
      protection: 'hard',
      why: [expect.stringContaining('claude stop 1a2b3c4d')],
      session: { id: 'running' },
    });
    await mac.reaptop(['clean', '--force', '--suspects', '--pid', String(session.pid)]);
    expect(isRunning(session.pid)).toBe(true);
  });

  it('anything, while lsof hangs: it is ended in time, and what it would have said is unknown', async () => {
    const wanted = await server(DEAD);
    const answer = await once({ MAC_LSOF: 'hangs' });
    expect(rowOf(answer, wanted)).toMatchObject({ verdict: 'suspect' });
    await until('lsof to be ended', () =>
      sandbox.running().every(({ pid }) => !readWords(pid).includes('tool.mjs')),
    );
  });
});

it('a stand-in for a Mac: nothing is called leaked while launchctl does not answer', async () => {
  mac.needsToRead();
  const left = await server(DEAD);
  expect(rowOf(await once({ MAC_LAUNCHCTL: 'fails' }), left)).toMatchObject({ verdict: 'suspect' });
  expect(rowOf(await once(), left)).toMatchObject({ verdict: 'leak' });
});

const readWords = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

describe('a stand-in for a Mac: what leaked is found', () => {
  it('and ended, by the session that its environment names', async () => {
    mac.needsToRead();
    const leaked = await server(DEAD);
    const answer = await once();
    expect(answer.host).toMatchObject({
      backend: 'darwin',
      bootId: '5d1c6d5b-9d0b-4c38-8a0e-0f1f0b6b7f11',
      swapUsed: 512.25 * 1024 ** 2,
      memAvailable: Math.round(answer.host.memTotal * 0.57),
    });
    expect(rowOf(answer, leaked)).toMatchObject({ verdict: 'leak', kind: 'mcp', cwd: sandbox.path('work') });
    const second = await server(DEAD, 'two');
    const log = sandbox.path('tools.log');
    const { code, stdout } = await mac.reaptop(['clean', '--force', '--age-threshold', '0'], {
      MAC_LOG: log,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 ended, 84.0 MiB freed')]);
    expect([leaked, second].map(({ pid }) => isRunning(pid))).toEqual([false, false]);
    // It takes a second on a Mac.
    expect(readFileSync(log, 'utf8').match(/^top /gm)).toHaveLength(1);
  });

  it('and ended from the screen, by what it saw below an agent', async () => {
    mac.needsToRead();
    const script = sandbox.write('bin/mcp-server-memory', SERVER);
    const parent = sandbox.write(
      'bin/parent.js',
      `require('node:child_process').spawn(process.execPath, [${JSON.stringify(script)}], { stdio: 'ignore', detached: true }); setInterval(() => {}, 1000);`,
    );
    const agent = sandbox.start([sandbox.path('bin/node'), parent], { argv0: 'claude' });
    registered(agent.pid);
    const [program, args] = mac.command(['--interval', '0.5']);
    const pty = new Pty(sandbox, { command: [program, ...args], env: mac.env as Record<string, string> });
    await pty.shows('mcp-server-memory');
    const [left] = childrenOf(agent.pid);
    process.kill(agent.pid, 'SIGKILL');
    await pty.shows('1 leaked');
    pty.press('c');
    await pty.shows('y run');
    await pty.confirm();
    await until('its end', () => !isRunning(left!.pid));
    await pty.shows('1 ended');
    pty.press('q');
    pty.press('q');
    expect(await pty.exited).toBe(0);
  });

  it('elsewhere, too: from what doctor --bundle writes, without secrets or the user’s name', async () => {
    mac.needsToRead();
    const leaked = await server(DEAD, 'one', '--token=sk-ant-api03-abcdefghijklmnop');
    const job = await server(DEAD, 'two');
    writeFileSync(mac.jobs, `${job.pid}\t0\tcom.example.memory\n`);
    const { code, stdout } = await mac.reaptop(['doctor', '--bundle']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Wrote .*reaptop-mac-\S+\.json/)]);
    const [name] = readdirSync(sandbox.path('work')).filter(entry => entry.startsWith('reaptop-mac-'));
    const bundle = sandbox.path('work', name!);
    expect(readFileSync(bundle, 'utf8')).not.toMatch(/sk-ant|TERM=|PATH=/);
    const replayed = await reaptop(sandbox, ['--once', '--json', '--from', bundle]);
    const answer = JSON.parse(replayed.stdout) as Answer;
    expect(rowOf(answer, leaked)).toMatchObject({ verdict: 'leak' });
    expect(rowOf(answer, job)).toMatchObject({ verdict: 'protected' });
    expect((await reaptop(sandbox, ['doctor', '--bundle'])).code).toBe(2);
    const doctor = await mac.reaptop(['doctor']);
    expect(doctor.stdout).toMatch(/ok {3}macos: lsof shows the files of/);
    expect((await mac.reaptop(['doctor'], { MAC_LSOF: 'hangs' })).stdout).toMatch(
      /warn macos: lsof does not/,
    );
  });

  it('but not what a running session owns', async () => {
    mac.needsToRead();
    const agent = sandbox.start([sandbox.sleeper('claude'), '1000']);
    registered(agent.pid);
    const owned = await server({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'running' });
    expect(rowOf(await once(), owned)).toMatchObject({ verdict: 'live' });
    expect(rowOf(await once({ TZ: 'Asia/Tokyo' }), owned)).toMatchObject({ verdict: 'live' });
  });

  it('also the files of an agent that works elsewhere', async () => {
    mac.needsToRead();
    sandbox.write('elsewhere/.git/HEAD', '');
    const file = sandbox.write('elsewhere/.agent-progress.json', '{"status":"in_progress"}');
    const agent = sandbox.start([sandbox.sleeper('claude'), '1000'], { cwd: sandbox.path('elsewhere') });
    registered(agent.pid, { cwd: sandbox.path('elsewhere') });
    expect((await once()).heartbeats.map(({ path }) => path)).toEqual([file]);
  });

  it('and is the same in every time zone', async () => {
    const agent = sandbox.start([sandbox.sleeper('claude'), '1000']);
    registered(agent.pid);
    const here = rowOf(await once({ TZ: 'UTC' }), agent);
    const there = rowOf(await once({ TZ: 'Asia/Kathmandu' }), agent);
    expect(there).toMatchObject({ kind: 'agent', start: here!.start, session: { id: 'running' } });
  });

  it('by one ps for the whole table', async () => {
    const log = sandbox.path('tools.log');
    await once({ MAC_LOG: log });
    const asked = readFileSync(log, 'utf8').trim().split('\n');
    expect(asked.filter(line => line.startsWith('ps -axww'))).toHaveLength(1);
    expect(asked.filter(line => /^ps (?!-axww|-xEww)/.test(line))).toEqual([]);
  });

  it('zombies have names, and arguments their accents', async () => {
    const agent = sandbox.write(
      'bin/claude-parent.js',
      `require('node:child_process').spawn('sh', ['-c', '${sandbox.sleeper('lake')} 0 & exec ${sandbox.sleeper('lean-lsp-mcp')} 1000'], { stdio: 'ignore' }); setInterval(() => {}, 1000);`,
    );
    sandbox.start([sandbox.path('bin/node'), agent, 'Grüße'], { argv0: 'claude' });
    await sandbox.find('the server', p => p.comm === 'lean-lsp-mcp');
    const answer = await until('the zombie', async () => {
      const now = await once();
      return now.processes.some(p => p.zombies > 0) ? now : null;
    });
    expect(answer.processes.find(p => p.name === 'lean-lsp-mcp')).toMatchObject({ zombies: 1 });
    expect(answer.findings.find(({ id }) => id === 'zombie')?.why).toContain('lake');
    expect(answer.processes.find(p => p.command.includes('Grüße'))).toBeDefined();
  });

  it('says why where ps may not be run', async () => {
    const { code, stderr } = await mac.reaptop(['--once'], { MAC_PS: 'refused' });
    expect(code).toBe(1);
    expect(stderr).toContain('inside a sandbox');
  });
});

describe('a stand-in for a Mac: guard, hooks and builds', () => {
  const state = (...parts: string[]): string => join(sandbox.home, '.local/state/reaptop', ...parts);

  it('guard keeps lineage and its last sample, which status and --line read', async () => {
    mac.needsToRead();
    const script = sandbox.write('bin/mcp-server-memory', SERVER);
    const parent = sandbox.write(
      'bin/parent.js',
      `require('node:child_process').spawn(process.execPath, [${JSON.stringify(script)}], { stdio: 'ignore', detached: true }); setInterval(() => {}, 1000);`,
    );
    const agent = sandbox.start([sandbox.path('bin/node'), parent], { argv0: 'claude' });
    const left = await until('its server', () => childrenOf(agent.pid)[0]);
    registered(agent.pid, { status: 'waiting', statusUpdatedAt: Date.now() });
    const guard = spawn(...mac.command(['guard', '--interval', '1']), { env: mac.env, stdio: 'ignore' });
    try {
      await until('its first sample', () => existsSync(state('latest.json')));
      const { stdout } = await mac.reaptop(['guard', 'status']);
      expect(stdout).not.toContain('not finished yet');
      // Without a ps of its own.
      const { stdout: line } = await mac.reaptop(['--once', '--line'], { MAC_PS: 'refused' });
      expect(line).toContain('work waits');
      await until('its lineage', () => {
        const file = state('lineage.jsonl');
        return existsSync(file) && readFileSync(file, 'utf8').includes(`"pid":${left.pid}`);
      });
    } finally {
      guard.kill('SIGTERM');
      await new Promise(resolve => guard.on('close', resolve));
    }
    process.kill(agent.pid, 'SIGKILL');
    await until('its end', () => !isRunning(agent.pid));
    expect(rowOf(await once(), left)).toMatchObject({ verdict: 'leak' });
  });

  it('a session over its memory limit is told so', async () => {
    sandbox.write(
      'home/.config/reaptop/config.json',
      JSON.stringify({ thresholds: { 'over-memory': { limitBytes: 1 } } }),
    );
    const hook = JSON.stringify({ ...EVENTS.PostToolUse, cwd: sandbox.path('work') });
    const [program, args] = mac.command(['hook', 'PostToolUse']);
    const claude = sandbox.write(
      'bin/session.js',
      `const hook = require('node:child_process').spawnSync(${JSON.stringify(program)}, ${JSON.stringify(args)}, { input: ${JSON.stringify(hook)} });
       require('node:fs').writeFileSync('answer', hook.stdout);`,
    );
    sandbox.start([sandbox.path('bin/node'), claude], {
      argv0: 'claude',
      env: mac.env as Record<string, string>,
    });
    const answer = sandbox.path('work/answer');
    await until('the answer', () => existsSync(answer) && readFileSync(answer, 'utf8') !== '');
    expect(readFileSync(answer, 'utf8')).toContain('Save your progress now');
  });

  it('SessionEnd writes down what the session leaves', async () => {
    const hook = JSON.stringify({ ...EVENTS.SessionEnd, cwd: sandbox.path('work') });
    const [program, args] = mac.command(['hook', 'SessionEnd']);
    const claude = sandbox.write(
      'bin/session.js',
      `const { spawn } = require('node:child_process');
       spawn(${JSON.stringify(sandbox.sleeper('left-behind'))}, ['1000'], { stdio: 'ignore' });
       setTimeout(() => {
         const hook = spawn(${JSON.stringify(program)}, ${JSON.stringify(args)}, { stdio: ['pipe', 'ignore', 'ignore'] });
         hook.stdin.end(${JSON.stringify(hook)});
         hook.on('close', () => process.exit());
       }, 300);`,
    );
    const agent = sandbox.start([sandbox.path('bin/node'), claude], {
      argv0: 'claude',
      env: mac.env as Record<string, string>,
    });
    await until('the session to end', () => !isRunning(agent.pid));
    const [file] = readdirSync(state('lineage.d'));
    const left = await sandbox.find('what it left', p => p.comm === 'left-behind');
    expect(readFileSync(state('lineage.d', file!), 'utf8')).toContain(`"pid":${left.pid}`);
  });

  it('prebuild ends its tree when the time is over', async () => {
    sandbox.write('work/lakefile.lean', '');
    sandbox.write('bin/lake', '#!/bin/sh\nsleep 600 & wait\n', 0o755);
    const { code } = await mac.reaptop(['prebuild', '--timeout', '1', '--strict']);
    expect(code).not.toBe(0);
    expect(sandbox.running().filter(p => p.comm === 'sleep')).toEqual([]);
  });

  it('exclusive holds its lock as long as its command runs', async () => {
    const first = spawn(...mac.command(['exclusive', '--', 'sh', '-c', ': > inside; sleep 600']), {
      env: mac.env,
      cwd: sandbox.path('work'),
      stdio: 'ignore',
    });
    await until('it to be inside', () => existsSync(sandbox.path('work/inside')));
    // Eleven minutes ago: a lock that is only believed for a while would be free.
    const [lock] = readdirSync(state('locks')).map(name => state('locks', name));
    const held = JSON.parse(readFileSync(lock!, 'utf8')) as { since: number };
    writeFileSync(lock!, JSON.stringify({ ...held, since: held.since - 660_000 }));
    expect((await mac.reaptop(['exclusive', '--', 'true'])).code).toBe(75);
    for (const { pid, comm } of sandbox.running()) if (comm === 'sleep') process.kill(pid, 'SIGKILL');
    await new Promise(resolve => first.on('close', resolve));
    expect((await mac.reaptop(['exclusive', '--', 'true'])).code).toBe(0);
  });

  it('PreToolUse is told of a build that runs', async () => {
    mac.needsToRead();
    sandbox.write('work/lakefile.lean', '');
    const event = { ...EVENTS.PreToolUse, cwd: sandbox.path('work'), tool_name: LEAN_BUILD };
    const ask = () => mac.reaptop(['hook', 'PreToolUse'], {}, JSON.stringify(event));
    sandbox.start([sandbox.script('lake'), 'build']);
    await sandbox.find('the build', p => p.comm === 'lake');
    expect((await ask()).stdout).toContain('"permissionDecision":"deny"');
  });
});
