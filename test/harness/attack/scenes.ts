import { existsSync, readFileSync } from 'node:fs';
import { startAgent } from '../../support/agent.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../../support/proc.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

/** A scene that stands: these processes must all live, or must all be gone in the end. */
export interface Staged {
  readonly name: string;
  readonly live: boolean;
  readonly pids: readonly RawProcess[];
}

type Stage = (sandbox: Sandbox) => Promise<readonly RawProcess[]>;

interface Scene {
  readonly name: string;
  readonly live: boolean;
  readonly stage: Stage;
}

const SESSION = '00000000-dead-4000-8000-000000000000';
/** As the Bash tool of a session that has ended left it. */
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: SESSION, CLAUDE_PID: '4000000' };
const MARKS = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: SESSION };

let count = 0;
const next = (): number => {
  count += 1;
  return count;
};

interface Options {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly around?: string;
}

/** Starts a command whose parent ends at once. `stdin`: where it reads from; `around`: what runs it. */
const orphan = async (
  sandbox: Sandbox,
  command: string,
  { env = {}, stdin = '</dev/null', around = 'setsid' }: Options = {},
): Promise<RawProcess> => {
  const name = `orphan-${next()}`;
  const told = sandbox.path(`${name}.pid`);
  const piped = stdin === 'closed pipe' ? ': | ' : '';
  const from = stdin === 'closed pipe' ? '' : stdin;
  const script = sandbox.write(
    `bin/${name}.sh`,
    `#!/bin/sh\n${piped}${around} ${command} ${from} >/dev/null 2>&1 &\necho $! > ${told}\n`,
    0o755,
  );
  const starter = sandbox.start(['/bin/sh', script], { env });
  const pid = Number(await until('the orphan to say its pid', () => readFileSync(told, 'utf8').trim()));
  await until('its starter to end', () => !isRunning(starter.pid, starter.start));
  return until('it to be what it will be', () => {
    const p = rawProcess(pid);
    return p !== null && p.ppid !== starter.pid && !['sh', 'setsid', 'nohup'].includes(p.comm) ? p : null;
  });
};

/** A Node program of this name; it says that it stands by a file. */
const program = (
  sandbox: Sandbox,
  name: string,
  text: string,
): { readonly path: string; ready(): Promise<unknown> } => {
  const sign = sandbox.path(`ready-${next()}`);
  const path = sandbox.write(
    `bin/${next()}/${name}`,
    `#!/usr/bin/env node\nconst ready = () => require('fs').writeFileSync(${JSON.stringify(sign)}, '');\n${text}\nsetInterval(() => {}, 1e9);\n`,
    0o755,
  );
  return { path, ready: () => until(`${name} to stand`, () => existsSync(sign)) };
};

const LISTEN = "require('net').createServer(s => s.resume()).listen(process.argv[2], ready);";
const CONNECT = "require('net').connect(process.argv[2], ready);";

const served = async (sandbox: Sandbox, name: string, socket: string): Promise<RawProcess[]> => {
  const server = program(sandbox, name, LISTEN);
  const left = await orphan(sandbox, `${server.path} ${socket}`, { env: DEAD });
  await server.ready();
  const client = program(sandbox, 'client', CONNECT);
  const user = sandbox.start([client.path, socket]);
  await client.ready();
  return [left, user];
};

/** A child of a Node program that is then killed: its standard input is a socket pair whose other end is closed. */
const abandoned = async (sandbox: Sandbox, command: readonly string[]): Promise<RawProcess> => {
  const told = sandbox.path(`told-${next()}`);
  const host = program(
    sandbox,
    'host',
    `const child = require('child_process').spawn(...${JSON.stringify([command[0], command.slice(1)])}, { detached: true });
     require('fs').writeFileSync(${JSON.stringify(told)}, String(child.pid)); ready();`,
  );
  const started = sandbox.start([host.path]);
  await host.ready();
  const pid = Number(readFileSync(told, 'utf8'));
  await until('its exec', () => rawProcess(pid)?.comm !== 'node' || command[0] === process.execPath);
  process.kill(started.pid, 'SIGKILL');
  return until('it to be adopted', () => {
    const p = rawProcess(pid);
    return p !== null && p.ppid !== started.pid ? p : null;
  });
};

const one =
  (stage: (sandbox: Sandbox) => Promise<RawProcess>): Stage =>
  async sandbox => [await stage(sandbox)];

const lives = (name: string, stage: Stage): Scene => ({ name, live: true, stage });
const leaks = (name: string, stage: Stage): Scene => ({ name, live: false, stage });

const spinning = (sandbox: Sandbox, name: string): string =>
  sandbox.write(
    `bin/${name}`,
    '#!/usr/bin/perl\nwhile (1) { for (1 .. 1e5) {} select(undef, undef, undef, 0.2) }\n',
    0o755,
  );

/** A script of this name that stays for as long as guard may run. */
const staying = (sandbox: Sandbox, name: string): string =>
  sandbox.write(`bin/stay/${name}`, '#!/bin/sh\nsleep 86400 & wait\n', 0o755);

const LIVE: readonly Scene[] = [
  lives('nohup lake env lean Heavy.lean, without an agent anywhere', async sandbox => {
    const lean = spinning(sandbox, 'lean');
    const lake = sandbox.write('bin/lake', `#!/bin/sh\n${lean} Heavy.lean\n`, 0o755);
    const top = await orphan(sandbox, `${lake} env lean Heavy.lean`, { around: 'setsid nohup' });
    await until('lean', () => childrenOf(top.pid).length > 0);
    return [top, ...childrenOf(top.pid)];
  }),
  lives('lean FILE below the user’s own nohup bash script.sh', async sandbox => {
    const script = sandbox.write(
      'bin/script.sh',
      `#!/bin/bash\n${spinning(sandbox, 'lean')} Other.lean\n`,
      0o755,
    );
    const top = await orphan(sandbox, `bash ${script}`, { around: 'setsid nohup' });
    await until('lean', () => childrenOf(top.pid).length > 0);
    return [top, ...childrenOf(top.pid)];
  }),
  lives('an ssh ControlMaster with the user’s session running through it', s =>
    served(s, 'ssh', s.path('cm.sock')),
  ),
  lives('a postgres on a unix socket with a client', s => served(s, 'postgres', s.path('.s.PGSQL.5432'))),
  lives('an ssh-agent that nobody talks to now', async sandbox => {
    const agent = program(sandbox, 'ssh-agent', LISTEN);
    const left = await orphan(sandbox, `${agent.path} ${sandbox.path('agent.sock')}`, { env: DEAD });
    await agent.ready();
    return [left];
  }),
  lives('LibreOffice with its window', async sandbox => {
    const display = program(sandbox, 'compositor', LISTEN);
    const socket = sandbox.path('wayland-0');
    sandbox.start([display.path, socket]);
    await display.ready();
    const office = program(sandbox, 'soffice.bin', CONNECT);
    const left = await orphan(sandbox, `${office.path} ${socket}`, { env: DEAD });
    await office.ready();
    return [left];
  }),
  lives(
    'a VM that was started with -daemonize',
    one(s => orphan(s, `${staying(s, 'qemu-system-x86_64')} -daemonize`, { env: DEAD })),
  ),
  lives('a job of OpenCode Desktop, whose sidecar is called opencode-cli', async sandbox => {
    const sidecar = sandbox.start([sandbox.sleeper('opencode-cli'), '86400']);
    const job = await orphan(sandbox, `${sandbox.sleeper('crunch-a')} 86400`, {
      env: { OPENCODE: '1', OPENCODE_PID: String(sidecar.pid) },
    });
    return [sidecar, job];
  }),
  lives('a job of `claude mcp serve` and of any program that CLAUDE_PID names', async sandbox => {
    const owner = sandbox.start([sandbox.sleeper('my-fork-of-claude'), '86400']);
    const job = await orphan(sandbox, `${sandbox.sleeper('crunch-b')} 86400`, {
      env: { ...MARKS, CLAUDE_PID: String(owner.pid) },
    });
    return [owner, job];
  }),
  lives('a job of codex-acp, which sets CODEX_THREAD_ID', async sandbox => {
    const owner = sandbox.start([sandbox.sleeper('codex-acp'), '86400']);
    const job = await orphan(sandbox, `${sandbox.sleeper('crunch-c')} 86400`, {
      env: { CODEX_THREAD_ID: SESSION },
    });
    return [owner, job];
  }),
  lives('a job in a sandbox whose CLAUDE_PID is a number of that sandbox', async sandbox => {
    // Inside, the owner is process 2; outside, that number is another's or nobody's.
    const box = sandbox.write(
      'bin/box.sh',
      `#!/bin/sh\n${sandbox.sleeper('owner-inside')} 86400 &\nCLAUDECODE=1 CLAUDE_PID=$! setsid ${sandbox.sleeper('crunch-d')} 86400 &\nwait\n`,
      0o755,
    );
    const top = await orphan(sandbox, box, {
      around: 'setsid unshare --pid --fork --mount-proc --kill-child',
    });
    const job = await sandbox.find('the job inside', p => p.comm === 'crunch-d');
    return [top, job];
  }),
  lives('a claude -p that says busy, silent for hours', async sandbox => {
    const claude = sandbox.write('bin/busy/claude', '#!/bin/sh\nsleep 86400 & wait\n', 0o755);
    const left = await orphan(sandbox, `${claude} -p work`, { env: DEAD });
    sandbox.write(
      `home/.claude/sessions/${left.pid}.json`,
      JSON.stringify({
        pid: left.pid,
        sessionId: 'busy-one',
        procStart: left.start,
        kind: 'interactive',
        status: 'busy',
        statusUpdatedAt: Date.now() - 7_200_000,
      }),
    );
    return [left];
  }),
  lives('a build that downloads after its session has ended', async sandbox => {
    const lake = sandbox.write('bin/dl/lake', '#!/bin/sh\nwhile :; do echo x; sleep 0.3; done\n', 0o755);
    return [await orphan(sandbox, `${lake} build`, { env: DEAD })];
  }),
  lives('a dev server that somebody may want', async sandbox => {
    const vite = program(
      sandbox,
      'vite',
      "require('net').createServer(s => s.resume()).listen(0, '127.0.0.1', ready);",
    );
    const left = await orphan(sandbox, vite.path, { env: DEAD });
    await vite.ready();
    return [left];
  }),
  lives(
    'what was detached with nohup',
    one(s => orphan(s, `${s.sleeper('crunch-e')} 86400`, { env: DEAD, around: 'setsid nohup' })),
  ),
  lives('a stdio server with a client that comes and goes', async sandbox => {
    const server = program(sandbox, 'mcp-server-memory', LISTEN);
    const socket = sandbox.path('memory.sock');
    const left = await orphan(sandbox, `${server.path} ${socket} --stdio`, { env: DEAD });
    await server.ready();
    const client = program(
      sandbox,
      'coming-and-going',
      `const go = () => { const s = require('net').connect(process.argv[2], () => { ready(); setTimeout(() => { s.end(); setTimeout(go, 200); }, 60000); }); }; go();`,
    );
    sandbox.start([client.path, socket]);
    await client.ready();
    return [left];
  }),
  lives('a server of a live session, and one that somebody talks to', async sandbox => {
    const agent = await startAgent(sandbox, { children: [`${sandbox.sleeper('mcp-server-live')} 86400`] });
    const server = childrenOf(agent.pid).find(({ comm }) => comm === 'mcp-server-live');
    const host = program(
      sandbox,
      'client-host',
      `require('child_process').spawn('setsid', ['-f', ${JSON.stringify(sandbox.sleeper('mcp-server-talked'))}, '86400']); ready();`,
    );
    sandbox.start([host.path]);
    await host.ready();
    const talked = await sandbox.find('the server that is talked to', p => p.comm === 'mcp-server-talk');
    return [agent, ...(server === undefined ? [] : [server]), talked];
  }),
  lives(
    'chromium --headless --print-to-pdf of the user’s own',
    one(s =>
      orphan(s, `${staying(s, 'chromium')} --headless --print-to-pdf x.html`, { stdin: 'closed pipe' }),
    ),
  ),
  lives('equal servers of several threads below codex app-server', async sandbox => {
    const server = sandbox.sleeper('mcp-server-thread');
    const codex = sandbox.write(
      'bin/host/codex',
      `#!/bin/sh\n${server} 86400 & ${server} 86400 &\nwait\n`,
      0o755,
    );
    const host = sandbox.start([codex, 'app-server']);
    await until('both servers', () => childrenOf(host.pid).length === 2);
    return [host, ...childrenOf(host.pid)];
  }),
];

const LEAKS: readonly Scene[] = [
  leaks(
    'a stdio server of an ended session',
    one(s => orphan(s, `${s.sleeper('mcp-server-git')} 86400`, { env: MARKS })),
  ),
  leaks('a background shell of an ended session', async sandbox => {
    const top = await orphan(sandbox, `bash -c 'sleep 86400; true'`, { env: DEAD });
    await until('its sleep', () => childrenOf(top.pid).length > 0);
    return [top, ...childrenOf(top.pid)];
  }),
  leaks(
    'a java of an ended session',
    one(s => orphan(s, `${s.sleeper('java')} 86400`, { env: DEAD })),
  ),
  leaks(
    'what is only called code',
    one(s => orphan(s, `${s.sleeper('code')} 86400`, { env: DEAD })),
  ),
  leaks(
    'a known stdio server whose pipe is closed, of nobody',
    one(s => orphan(s, `${s.sleeper('mcp-server-time')} 86400`, { stdin: 'closed pipe' })),
  ),
  leaks(
    'a known stdio server whose socket pair is closed, of nobody',
    one(s => abandoned(s, [s.sleeper('mcp-server-fetch'), '86400'])),
  ),
  leaks('a job on the terminal of its own helper', async sandbox => {
    const top = await orphan(sandbox, `script -qc '${sandbox.sleeper('crunch-f')} 86400' /dev/null`, {
      env: DEAD,
    });
    const job = await sandbox.find('the job', p => p.comm === 'crunch-f');
    return [top, job];
  }),
  leaks(
    'loogle whose pipe is closed',
    one(s => {
      const loogle = s.write('bin/loogle', '#!/bin/sh\nsleep 86400 & wait\n', 0o755);
      return orphan(s, `${loogle} --json --interactive`, { stdin: 'closed pipe' });
    }),
  ),
  leaks('lean-lsp-mcp with its lake serve, whose client has gone', async sandbox => {
    const lake = sandbox.write('bin/serve/lake', '#!/bin/sh\nsleep 86400 & wait\n', 0o755);
    const lsp = sandbox.write('bin/lean-lsp-mcp', `#!/bin/sh\n${lake} serve & wait\n`, 0o755);
    const top = await orphan(sandbox, lsp, { stdin: 'closed pipe' });
    await until('lake serve', () => childrenOf(top.pid).some(p => childrenOf(p.pid).length > 0));
    return [top, ...childrenOf(top.pid)];
  }),
];

/** In the order of the list, all on one machine. */
export const stageAll = async (sandbox: Sandbox): Promise<readonly Staged[]> => {
  const staged: Staged[] = [];
  for (const { name, live, stage } of [...LIVE, ...LEAKS])
    staged.push({ name, live, pids: await stage(sandbox) });
  return staged;
};
