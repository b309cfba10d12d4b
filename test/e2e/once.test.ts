import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cells } from '../../src/model/text.ts';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { startAgent } from '../support/agent.ts';
import { CLI, type CliOptions, REAPTOP, reaptop } from '../support/cli.ts';
import { allPids, rawProcess } from '../support/proc.ts';
import { Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let agent: Awaited<ReturnType<typeof startAgent>>;
beforeAll(async () => {
  sandbox = new Sandbox();
  const server = sandbox.script('mcp-server-files');
  // A forged row, an escape and a secret in the words of a real process.
  const words = `"$(printf 'x\\n  4711   13G  2d03h S leak      forged')" "$(printf '\\033[2J')" --token=verysecret`;
  const chain = sandbox.write('bin/chain', `#!/bin/sh\nexec ${server} ${words}\n`, 0o755);
  agent = await startAgent(sandbox, {
    children: [chain, `sh -c 'sleep 0 & exec ${sandbox.sleeper('lean-lsp-mcp')} 600'`],
  });
  await sandbox.find('the lean server', p => p.comm === 'lean-lsp-mcp');
});
afterAll(() => sandbox.close());

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await reaptop(sandbox, ['--once', '--json', ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return snapshotSchema.parse(JSON.parse(stdout));
};

describe('--once --json', () => {
  it('keeps to its schema and shows the agent with all below it', async () => {
    const { processes, totals, findings } = await json();
    const own = processes.filter(p => p.owner?.sessionId === agent.session);
    expect(own.map(p => p.kind).sort()).toEqual(expect.arrayContaining(['agent', 'lean-lsp', 'mcp']));
    expect(totals.related).toBe(processes.length);
    expect(totals.zombies).toBeGreaterThanOrEqual(1);
    expect(findings.map(f => f.id)).toContain('zombie');
  });

  it('with --all keeps to its schema and shows every process there is', async () => {
    const before = new Map(allPids().map(pid => [pid, rawProcess(pid)?.start]));
    const { processes, totals } = await json('--all');
    const shown = new Map(processes.map(p => [p.pid, p.start]));
    expect(shown.size).toBe(processes.length);
    expect(totals.processes).toBe(processes.length);
    // Whoever lives before and after was there all the time.
    for (const [pid, start] of before)
      if (start !== undefined && rawProcess(pid)?.start === start) expect(shown.get(pid)).toBe(start);
  });

  it('has the same schema with the portable backend', async () => {
    const { host, processes } = await json('--platform', 'portable');
    expect(host.backend).toBe('portable');
    expect(processes.find(p => p.pid === agent.pid)).toMatchObject({ kind: 'agent', agent: 'claude' });
  });

  it('holds no secret of an argv', async () => {
    expect(JSON.stringify(await json('--all'))).not.toContain('verysecret');
  });
});

/** Runs the program on a terminal of its own and gives what that terminal received. */
const onTerminal = async (args: string, env: Record<string, string>): Promise<string> => {
  const out = sandbox.path('typescript');
  const { child } = sandbox.start(['script', '-qefc', `${REAPTOP} --once ${args}`, out], {
    env: { TERM: 'xterm-256color', ...env },
  });
  await until('the run to end', () => child.exitCode !== null);
  return readFileSync(out, 'utf8');
};

describe('--once as text', () => {
  const text = async (options: CliOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await reaptop(sandbox, ['--once'], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  it.each([40, 80, 200])(
    'fits into %d columns, and no process can forge, colour or clear a line',
    async width => {
      const lines = (await text({ env: { COLUMNS: String(width) } })).split('\n');
      for (const line of lines) {
        expect(line).toMatch(/^\P{Cc}*$/u);
        expect(cells(line)).toBeLessThanOrEqual(width);
      }
      expect(lines.filter(line => /^ +4711 /.test(line))).toEqual([]);
      expect(lines.filter(line => line.startsWith(String(agent.pid).padStart(7)))).toHaveLength(1);
    },
  );

  it('is coloured on a terminal only, and not with NO_COLOR, --no-color or a dumb one', async () => {
    expect(await text()).not.toContain('\x1b');
    expect(await text({ env: { FORCE_COLOR: '1' } })).not.toContain('\x1b');
    expect(await onTerminal('', {})).toContain('\x1b[');
    expect(await onTerminal('', { NO_COLOR: '1' })).not.toContain('\x1b[');
    expect(await onTerminal('--no-color', {})).not.toContain('\x1b[');
    expect(await onTerminal('', { TERM: 'dumb' })).not.toContain('\x1b[');
  });

  it('is what reaptop prints without a terminal, with a note on stderr', async () => {
    const { code, stdout, stderr } = await reaptop(sandbox, []);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^reaptop /);
    expect(stderr).toMatch(/^reaptop: .*--once\n$/);
  });

  it('may be cut off by head without a complaint', async () => {
    const { child } = sandbox.start(
      ['/bin/sh', '-c', `${REAPTOP} --once --all --json 2>err | head -c 10 >out; wait`],
      { cwd: sandbox.path('work') },
    );
    await until('the pipeline to end', () => child.exitCode !== null);
    expect(readFileSync(sandbox.path('work/out'), 'utf8')).toHaveLength(10);
    expect(readFileSync(sandbox.path('work/err'), 'utf8')).toBe('');
  });
});

it('a slow reader gets everything, to the last byte', () => {
  const rows = Array.from({ length: 2000 }, (_, n) => `${n + 100} 1 100 S worker --number ${n}`);
  const listing = sandbox.write('many.txt', ['PID PPID RSS STAT COMMAND', ...rows, ''].join('\n'));
  // More than a pipe holds, and nobody reads before it is full.
  const piped = `${REAPTOP} --once --json --all --from '${listing}' | { sleep 1; cat; }`;
  const { stdout } = spawnSync('sh', ['-c', piped], {
    env: sandbox.env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stdout.length).toBeGreaterThan(200_000);
  expect(JSON.parse(stdout).processes).toHaveLength(2000);
});

describe('--fail-on', () => {
  const LEAK =
    'PID PPID STAT RSS COMMAND\n1 0 Ss 10 /sbin/init\n900 1 S 1024 claude\n901 900 Z 0 [sh] <defunct>\n';
  const CLEAN = 'PID PPID STAT RSS COMMAND\n1 0 Ss 10 /sbin/init\n900 1 S 1024 nginx\n';
  it.each([
    [3, 'info', LEAK],
    [3, 'warn', LEAK],
    [0, 'critical', LEAK],
    [0, 'info', CLEAN],
  ])('exits %d at %s', async (code, severity, input) => {
    const result = await reaptop(sandbox, ['--once', '--fail-on', severity, '--from', '-'], { input });
    expect(result.code).toBe(code);
    expect(result.stdout).toMatch(/^reaptop /);
  });
});

describe.runIf(process.getuid?.() === 0)('as another user', () => {
  /** The clone may lie where others cannot enter, root's home for one: what is run is copied to where they can. */
  const open = mkdtempSync(join(tmpdir(), 'reaptop-open-'));
  beforeAll(() => {
    cpSync(dirname(CLI), open, { recursive: true });
    // Whatever the umask was when it was built.
    for (const path of [open, ...readdirSync(open).map(name => join(open, name))]) chmodSync(path, 0o755);
  });
  afterAll(() => rmSync(open, { recursive: true, force: true }));

  it('it reads what it may, and calls nothing leaked', async () => {
    const { child } = sandbox.start(
      [
        '/bin/sh',
        '-c',
        `setpriv --reuid=65534 --regid=65534 --clear-groups ${process.execPath} ${join(open, basename(CLI))} --once --json --all >out 2>err; wait`,
      ],
      { env: { HOME: '/', XDG_CONFIG_HOME: '/nowhere', TMUX_TMPDIR: '/tmp' } },
    );
    await until('the run to end', () => child.exitCode !== null);
    expect(readFileSync(sandbox.path('work/err'), 'utf8')).toBe('');
    const { processes } = snapshotSchema.parse(JSON.parse(readFileSync(sandbox.path('work/out'), 'utf8')));
    expect(processes.find(p => p.pid === agent.pid)).toMatchObject({ verdict: 'protected', cwd: null });
    expect(processes.filter(p => p.verdict === 'leak')).toEqual([]);
  });
});

it('headless commands never load React, which the screen does', async () => {
  // React asks for its symbols as soon as it is loaded.
  const spy = sandbox.write(
    'spy.cjs',
    `const symbolFor = Symbol.for;
     Symbol.for = key => {
       if (key.startsWith('react.')) require('node:fs').writeFileSync(${JSON.stringify(sandbox.path('react'))}, '');
       return symbolFor(key);
     };`,
  );
  const env = { NODE_OPTIONS: `--require=${spy}` };
  for (const args of [['--once'], ['doctor'], ['clean'], ['hook', 'Stop']])
    await reaptop(sandbox, args, { env });
  expect(existsSync(sandbox.path('react'))).toBe(false);
  const pty = new Pty(sandbox, { args: ['--demo'], env });
  await pty.shows('claude');
  pty.press('q');
  await pty.exit();
  expect(existsSync(sandbox.path('react'))).toBe(true);
});
