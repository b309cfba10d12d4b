import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shellLine } from '../../src/model/shell.ts';
import { EVENTS } from '../fixtures/hooks.ts';
import { startAgent } from '../support/agent.ts';
import { auditLines } from '../support/audit.ts';
import { reaptop } from '../support/cli.ts';
import { lookOf, startGuard, stopGuard } from '../support/guard.ts';
import { startIdle } from '../support/idle-agent.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { rawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** Each in a place of its own, so that a failure tells which one got out. */
const SECRETS = {
  flag: 'Zq7flagged',
  assigned: 'Zq7assigned',
  variable: 'Zq7variable',
  url: 'Zq7linked',
  settings: 'Zq7settled',
  header: 'Zq7headed',
  script: 'Zq7scripted',
  path: 'Zq7walked',
  issued: 'sk-ant-api03-Zq7issuedZq7issued',
  answer: 'Zq7answered',
} as const;

const WORDS = [
  ...['--api-key', SECRETS.flag, `--token=${SECRETS.assigned}`, `GITHUB_TOKEN=${SECRETS.variable}`],
  ...['--db', `postgres://me:${SECRETS.url}@db.example/app`, '-H', `Authorization: Bearer ${SECRETS.header}`],
  ...['--settings', JSON.stringify({ env: { ANYTHING: SECRETS.settings } }), SECRETS.issued],
];

const withSecrets = (program: string): string => shellLine([program, ...WORDS]);

const told = (text: string): string[] =>
  Object.entries(SECRETS).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

/** Everything that was written below a directory; compiled code is of our own program. */
const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => join(directory, name))
    .filter(path => !path.endsWith('.cache') && statSync(path).isFile());

/** Which secrets stand in files of these directories, and where. */
const toldInFiles = (...directories: string[]): string[] =>
  directories
    .flatMap(filesBelow)
    .flatMap(path => told(readFileSync(path, 'latin1')).map(name => `${name} in ${path}`));

const state = (): string => sandbox.path('home/.local/state/reaptop');

/** Their own directory is named for a secret as well. */
const secretDirectory = (): string => {
  const marker = sandbox.write(`work/token=${SECRETS.path}/here`, '');
  return join(marker, '..');
};

/** A live agent with a server, what a dead one left, and somebody's own program; all of them with secrets. */
const planted = async () => {
  const cwd = secretDirectory();
  const server = withSecrets(sandbox.script('mcp-server-live'));
  const live = await startAgent(sandbox, { cwd, children: [server] });
  const [left] = await leaveBehind(sandbox, withSecrets(sandbox.script('mcp-server-left')));
  sandbox.start([sandbox.script('somebodys'), ...WORDS], { cwd });
  const script = `sleep 600 & export OPENAI_API_KEY=${SECRETS.script}; wait`;
  sandbox.start(['/bin/sh', '-c', script], { cwd });
  return { live, left: left! };
};

test('what is printed tells no secret of a command line', async () => {
  const { live } = await planted();
  for (const args of [
    ['--once'],
    ['--once', '--all'],
    ['--once', '--json'],
    ['--once', '--json', '--all'],
    ['clean'],
    ['clean', '--json'],
    ['sweep'],
    ['doctor'],
    ['doctor', '--json'],
    ['sessions'],
    ['sessions', '--json'],
    ['--once', '--line', '--always'],
    ['report'],
  ]) {
    const { stdout, stderr } = await reaptop(sandbox, args, { env: { COLUMNS: '2000' } });
    expect({ args, told: told(stdout + stderr) }).toEqual({ args, told: [] });
    // It was there to be told.
    if (args.includes('--once') && !args.includes('--line')) expect(stdout).toContain('***');
    if (args[0] === 'clean') expect(stdout).toContain('mcp-server-left');
  }
  const mine = await reaptop(sandbox, ['--once', '--mine', '--json'], {
    env: { CLAUDE_CODE_SESSION_ID: live.session, CLAUDECODE: '1' },
  });
  expect(told(mine.stdout + mine.stderr)).toEqual([]);
  // A recorded table is read by somebody else, later: what it was made from may hold what ours masks.
  const listing = `  PID  PPID COMMAND\n    1     0 init\n   77     1 claude ${WORDS.join(' ')}\n`;
  const replayed = await reaptop(sandbox, ['--from', '-', '--once', '--json'], { input: listing });
  expect({ told: told(replayed.stdout + replayed.stderr), code: replayed.code }).toEqual({
    told: [],
    code: 0,
  });
  expect(toldInFiles(state())).toEqual([]);
});

test('the screen, what it copies into files and whom it alerts tell none either', async () => {
  const { live } = await planted();
  const news = sandbox.path('news');
  const record = sandbox.path(`home/.claude/sessions/${live.pid}.json`);
  const config = sandbox.write(
    'alerts.json',
    JSON.stringify({
      level: 3,
      alerts: { command: ['sh', '-c', 'cat >> "$0"', news] },
      thresholds: { leak: { criticalBytes: 1 } },
    }),
  );
  const pty = new Pty(sandbox, {
    columns: 400,
    rows: 60,
    args: ['--interval', '0.5', '--all', '--config', config],
  });
  await pty.shows('mcp-server-live', 'mcp-server-left', 'somebodys', '***');
  const asking = { ...JSON.parse(readFileSync(record, 'utf8')), status: 'waiting' };
  sandbox.write(
    `home/.claude/sessions/${live.pid}.json`,
    JSON.stringify({ ...asking, waitingFor: `curl --token ${SECRETS.answer}`, statusUpdatedAt: Date.now() }),
  );
  await until('the alerts', () => readFileSync(news, 'utf8').includes('leak'));
  await pty.shows('curl --token ***');
  for (const name of ['mcp-server-live', 'mcp-server-left', 'somebodys', 'claude']) {
    await pty.select(name);
    pty.press(KEY.enter);
    await pty.shows('cwd');
    pty.press(KEY.escape);
    pty.press(KEY.escape);
    await pty.hides(` /${name}`);
  }
  pty.press('c');
  await pty.shows(/any other/);
  pty.press(KEY.escape);
  await pty.hides(/any other/);
  for (const format of ['t', 's', 'j']) {
    pty.press('e');
    await pty.shows('t text');
    pty.press(format);
    await pty.shows('Written: ');
    pty.press(KEY.escape);
    await pty.hides('Written: ');
  }
  pty.press('q');
  await pty.exit();
  expect(told(pty.written)).toEqual([]);
  const exported = readdirSync(sandbox.path('work')).filter(name => name.startsWith('reaptop-'));
  expect(exported.map(name => name.split('.').at(-1)).sort()).toEqual(['json', 'svg', 'txt']);
  for (const name of exported) {
    const text = readFileSync(sandbox.path('work', name), 'utf8');
    expect({ name, told: told(text), masked: text.includes('***') }).toEqual({
      name,
      told: [],
      masked: true,
    });
  }
  expect(told(readFileSync(news, 'utf8'))).toEqual([]);
  expect(toldInFiles(state())).toEqual([]);
});

test('guard: what it says, remembers, records, measures and writes into the log', async () => {
  const { left } = await planted();
  const port = 20_000 + (process.pid % 20_000);
  const guard = await startGuard(sandbox, { args: ['--metrics', String(port)] });
  await until(
    'the leak to be cleared',
    () => rawProcess(left.pid) === null || auditLines(sandbox).length > 1,
  );
  await lookOf(sandbox, guard);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('reaptop_');
  await stopGuard(guard);
  expect(told(guard.said() + metrics)).toEqual([]);
  expect(JSON.stringify(auditLines(sandbox))).toContain('mcp-server-left');
  const written = filesBelow(state()).map(path => path.slice(state().length + 1));
  for (const name of ['audit.jsonl', 'latest.json', /lineage/, /record/])
    expect(written.some(path => (typeof name === 'string' ? path === name : name.test(path)))).toBe(true);
  expect(toldInFiles(state())).toEqual([]);
  for (const args of [
    ['--at', '-0m', '--once'],
    ['--at', '-0m', '--once', '--json'],
    ['report'],
    ['--once', '--line', '--always'],
  ]) {
    const { stdout, stderr } = await reaptop(sandbox, args, { env: { COLUMNS: '2000' } });
    expect({ args, told: told(stdout + stderr) }).toEqual({ args, told: [] });
  }
});

test('hooks answer and remember without one', async () => {
  await planted();
  const said: string[] = [];
  const calls = [
    ['SessionStart', {}],
    ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'pkill -f mcp-server' } }],
    ['PostToolUse', { tool_name: 'Bash', tool_input: { command: `deploy ${WORDS.join(' ')}` } }],
    ['Stop', {}],
    ['SessionEnd', {}],
  ] as const;
  sandbox.write('home/.config/reaptop/config.json', JSON.stringify({ hooks: { broadKills: 'deny' } }));
  for (const [event, extra] of calls) {
    const input = { ...EVENTS[event], session_id: 'asking', cwd: sandbox.path('work'), ...extra };
    // On a busy machine who would be hit may not be known within the time of a hook.
    for (let again = 0; again < 60; again += 1) {
      const { stdout, stderr } = await reaptop(sandbox, ['hook', event], { input: JSON.stringify(input) });
      said.push(stdout, stderr);
      if (!stdout.includes('could not be read in time')) break;
    }
  }
  expect(said.join('\n')).toContain('mcp-server-l');
  expect(told(said.join('\n'))).toEqual([]);
  expect(toldInFiles(state())).toEqual([]);
});

test('a session that was put to sleep keeps its way back without the secrets it was started with', async () => {
  sandbox.needsTmux();
  const one = await startIdle(sandbox, 'work', {
    flags: `--api-key ${SECRETS.flag} --settings '{"env":{"X":"${SECRETS.settings}"}}'`,
    beside: true,
  });
  const slept = await reaptop(sandbox, ['sleep', one.session.slice(0, 8), '--force']);
  expect(readFileSync(join(state(), 'asleep.jsonl'), 'utf8')).toContain(one.session);
  const { stdout } = await reaptop(sandbox, ['sessions', '--json']);
  expect(stdout).toContain(one.session);
  expect(told(slept.stdout + slept.stderr + stdout)).toEqual([]);
  expect(toldInFiles(state())).toEqual([]);
});
