import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Execution, executeWith } from '../../src/act/execute.ts';
import { scannedFiles } from '../../src/engine/agent-files.ts';
import { Collector } from '../../src/engine/collector.ts';
import { LiveEngine } from '../../src/engine/live-engine.ts';
import type { LiveEngineOptions } from '../../src/engine/live-store.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Finding, FindingId } from '../../src/model/finding.ts';
import type { Identity } from '../../src/model/identity.ts';
import type { ActRequest, Plan } from '../../src/model/plan.ts';
import { UNKNOWN_DETAILS } from '../../src/model/process.ts';
import { FakeSystem, planOf } from '../act/fake-system.ts';
import { PIPED } from '../judge/plan/machine.ts';
import { auditLines } from '../support/audit.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

/** A machine in memory with a disk of its own: the sandbox. Its wall clock is the real one. */
class Machine extends FakeSystem {
  override async sample() {
    return { ...(await super.sample()), takenAt: Date.now() };
  }
}

let sandbox: Sandbox;
let system: Machine;
let engine: LiveEngine;
beforeEach(() => {
  sandbox = new Sandbox();
  vi.stubEnv('XDG_STATE_HOME', sandbox.env.XDG_STATE_HOME);
  system = new Machine();
});
afterEach(async () => {
  await engine.stop();
  vi.unstubAllEnvs();
  await sandbox.close();
});

const start = async (more: Partial<LiveEngineOptions> = {}): Promise<void> => {
  const env = { ...sandbox.env, PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
  const collector = new Collector({
    system,
    config: DEFAULT_CONFIG,
    env,
    cwd: sandbox.path('work'),
    roots: [sandbox.path('work')],
    files: scannedFiles(DEFAULT_CONFIG),
  });
  engine = await LiveEngine.start({
    collector,
    system,
    config: DEFAULT_CONFIG,
    env,
    intervalSeconds: 60,
    all: false,
    graceMs: 50,
    ...more,
  });
};

const build = (pid: number): unknown =>
  system.add(pid, 600, { comm: 'lake', argv: ['lake', 'build'], details: PIPED, env: {} });
const agent = (facts: object = {}): unknown =>
  system.add(600, 800, { comm: 'claude', argv: ['claude'], born: 500, env: {}, details: PIPED, ...facts });

const findingNow = (id: FindingId): Promise<Finding> =>
  until(id, async () => {
    await engine.refresh();
    return engine.getState().snapshot.findings.find(f => f.id === id);
  });
const planned = async (id: FindingId): Promise<{ plan: Plan; request: ActRequest }> => {
  const request: ActRequest = { act: 'fix', finding: await findingNow(id) };
  return { request, plan: await engine.plan(request) };
};
const old = (path: string, seconds: number): string => {
  const then = new Date(Date.now() - seconds * 1000);
  utimesSync(path, then, then);
  return path;
};

it('the newer build is ended, the older goes on, and both lines are in the audit log with who asked', async () => {
  agent();
  build(700);
  build(701);
  await start();
  const { plan, request } = await planned('concurrent-builds');
  expect(system.sent).toEqual([]);
  expect(await engine.run(plan, request)).toBeNull();
  expect(system.sent).toEqual(['701 SIGTERM']);
  expect(system.has(700)).toBe(true);
  expect(auditLines(sandbox)).toMatchObject([
    {
      event: 'intent',
      by: 'tui',
      why: expect.stringContaining('f: concurrent-builds'),
      plan: { steps: [{ pid: 701 }] },
    },
    { event: 'outcome', outcomes: [{ pid: 701, outcome: 'ended' }] },
  ]);
});

it('a build that is the only one by now is not ended: the plan is shown again, and has nothing to do', async () => {
  agent();
  build(700);
  build(701);
  await start();
  const { plan, request } = await planned('concurrent-builds');
  system.remove(700);
  const again = await engine.run(plan, request);
  expect(system.sent).toEqual([]);
  expect(again?.because).toContain('lake build (701)');
  expect(again?.plan.steps).toEqual([]);
});

it('a stopped process is continued, and not ended', async () => {
  agent({ state: 'T' });
  await start();
  const { plan, request } = await planned('stopped');
  await engine.run(plan, request);
  expect(system.sent).toEqual(['600 SIGCONT']);
  expect(engine.getState().running?.summary).toContain('SIGCONT sent to 1');
});

it('a leak is ended by the rules of c: one that is live by now stays', async () => {
  system.add(700, 1, { comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'], env: {} });
  await start();
  const { plan, request } = await planned('leak');
  expect(plan.policy?.verdicts).toEqual(['leak']);
  agent();
  system.change(700, { env: { CLAUDE_PID: '600' }, argv: ['/usr/bin/mcp-server-x', ''] });
  await engine.run(plan, request);
  expect(system.sent).toEqual([]);
  expect(engine.getState().running?.outcomes).toMatchObject([{ pid: 700, outcome: 'refused' }]);
});

it('a stale lock is removed, and the log says so', async () => {
  const lock = old(sandbox.write('work/specs/688_x/.diagnostic-lock', ''), 90);
  await start();
  const { plan, request } = await planned('lock-stale');
  expect(plan.otherSteps).toMatchObject([{ act: 'remove', target: lock }]);
  expect(existsSync(lock)).toBe(true);
  await engine.run(plan, request);
  expect(existsSync(lock)).toBe(false);
  expect(engine.getState().running).toMatchObject({ done: true, summary: '1 file removed' });
  expect(auditLines(sandbox)).toMatchObject([
    { event: 'intent', plan: { files: [lock] }, sessions: [] },
    { event: 'outcome', files: [{ outcome: 'done' }] },
  ]);
});

it('a lock that was taken again since the plan stays', async () => {
  const lock = old(sandbox.write('work/specs/688_x/.diagnostic-lock', ''), 90);
  await start();
  const { plan, request } = await planned('lock-stale');
  writeFileSync(lock, 'mine');
  await engine.run(plan, request);
  expect(existsSync(lock)).toBe(true);
  expect(engine.getState().running?.otherOutcomes).toMatchObject([{ outcome: 'skipped' }]);
});

it('the marker and the guard of a dead agent are removed together', async () => {
  const marker = old(sandbox.write('work/specs/688_x/.postflight-pending', '{"task_number":688}'), 400);
  const guard = old(sandbox.write('work/specs/688_x/.postflight-loop-guard', '1'), 400);
  await start();
  const { plan, request } = await planned('marker-age');
  await engine.run(plan, request);
  expect([existsSync(marker), existsSync(guard)]).toEqual([false, false]);
});

const background = (): void => {
  agent({
    argv: ['claude', '--bg'],
    rss: 3 * 1024 ** 3,
    env: { CLAUDE_JOB_DIR: '/h/.claude/jobs/1a2b3c4d' },
  });
  sandbox.write('bin/claude', `#!/bin/sh\nprintf '%s|' "$@" > ${sandbox.path('args')}\n`, 0o755);
};

it('a background session is stopped by claude itself, with its job, and gets no signal', async () => {
  background();
  await start();
  const { plan, request } = await planned('over-memory');
  expect(existsSync(sandbox.path('args'))).toBe(false);
  await engine.run(plan, request);
  expect(readFileSync(sandbox.path('args'), 'utf8')).toBe('stop|1a2b3c4d|');
  expect(system.sent).toEqual([]);
  expect(engine.getState().running).toMatchObject({
    summary: '1 session ended',
    otherOutcomes: [{ outcome: 'done' }],
  });
  expect(auditLines(sandbox)).toMatchObject([
    { event: 'intent', sessions: [{ act: 'claude-stop', target: '1a2b3c4d' }] },
    { event: 'outcome', sessions: [{ outcome: 'done' }] },
  ]);
});

it('a session that shrank since is not stopped', async () => {
  background();
  await start();
  const { plan, request } = await planned('over-memory');
  system.change(600, { rss: 1000 });
  const again = await engine.run(plan, request);
  expect(again?.because).toContain('already resolved');
  expect(existsSync(sandbox.path('args'))).toBe(false);
});

it('claude that fails to stop a session is told of: the chore failed, and the log line is bad', async () => {
  background();
  sandbox.write('bin/claude', '#!/bin/sh\necho no such job >&2\nexit 3\n', 0o755);
  await start();
  const { plan, request } = await planned('over-memory');
  await engine.run(plan, request);
  expect(engine.getState().running?.otherOutcomes).toMatchObject([
    { outcome: 'failed', why: expect.stringContaining('no such job') },
  ]);
  const [ours] = engine.getState().log.filter(line => line.entry?.why.startsWith('f: over-memory'));
  expect(ours).toMatchObject({
    tone: 'bad',
    entry: { by: 'tui', rows: [{ what: 'failed', pid: null, name: 'claude-stop 1a2b3c4d', bytes: 0 }] },
  });
});

/** What another machine tells besides its processes: nothing. */
const inventedRecords = () => ({ tmux: [], readings: [], sessions: [], workers: [], strange: [] });

it('on a machine that is only shown no session is stopped, and the reason is told', async () => {
  background();
  await start();
  const { plan, request } = await planned('over-memory');
  Object.assign(system, { inventedRecords });
  await engine.run(plan, request);
  expect(existsSync(sandbox.path('args'))).toBe(false);
  expect(engine.getState().running?.otherOutcomes).toMatchObject([
    { outcome: 'skipped', why: expect.stringContaining('invented') },
  ]);
});

it('on a recorded table no session is stopped', async () => {
  background();
  await start();
  const { plan, request } = await planned('over-memory');
  system.readOnly = 'a recorded table';
  await engine.run(plan, request);
  expect(existsSync(sandbox.path('args'))).toBe(false);
  expect(engine.getState().running?.otherOutcomes).toMatchObject([
    { outcome: 'skipped', why: 'a recorded table' },
  ]);
});

it('on a machine that is only shown no file is planned to go, and none goes', async () => {
  const lock = old(sandbox.write('work/specs/688_x/.diagnostic-lock', ''), 90);
  await start();
  const finding = await findingNow('lock-stale');
  for (const only of [{ inventedRecords }, { inventedRecords: undefined, readOnly: 'a recorded table' }]) {
    Object.assign(system, only);
    const plan = await engine.plan({ act: 'fix', finding });
    expect(plan.otherSteps ?? []).toEqual([]);
    expect(JSON.stringify(plan.leftAlone)).toMatch(/invented|recorded table/);
    await engine.run(plan, { act: 'fix', finding });
  }
  expect(existsSync(lock)).toBe(true);
});

it('a stale lock that is gone when the plan is made leaves nothing to do, and says so', async () => {
  const lock = old(sandbox.write('work/specs/688_x/.diagnostic-lock', ''), 90);
  await start();
  const finding = await findingNow('lock-stale');
  rmSync(lock);
  const plan = await engine.plan({ act: 'fix', finding });
  expect(plan.otherSteps ?? []).toEqual([]);
  expect(plan.leftAlone).toEqual([{ what: lock, why: 'it is already resolved' }]);
});

it.each(['sweep', 'remove-file'] as const)(
  'f on a finding to %s that is over signals nobody',
  async action => {
    const finding = { id: 'lock-stale', title: 'a title', files: [], processes: [server()], action } as never;
    await start();
    const plan = await engine.plan({ act: 'fix', finding });
    expect([plan.steps, plan.otherSteps ?? []]).toEqual([[], []]);
    expect(plan.leftAlone).toEqual([{ what: 'a title', why: 'it is already resolved' }]);
  },
);

it('while another acts nothing is signalled, and the screen says that it failed and why', async () => {
  agent();
  build(700);
  build(701);
  await start();
  const { plan, request } = await planned('concurrent-builds');
  system.add(process.pid, 800, { argv: ['reaptop'] });
  let letGo = (): void => {};
  const theirs = executeWith({
    system,
    by: 'clean',
    why: 'another',
    plan: planOf([]),
    run: () => new Promise<Execution>(resolve => (letGo = () => resolve({ outcomes: [], durationMs: 0 }))),
  });
  await until('the other to act', () => auditLines(sandbox).length === 1);
  await engine.run(plan, request);
  expect(system.sent).toEqual([]);
  expect(engine.getState().running).toMatchObject({
    done: true,
    summary: expect.stringMatching(/^it failed: another clean-up is running/),
  });
  expect(engine.getState().log.at(-1)).toMatchObject({ tone: 'bad' });
  letGo();
  await theirs;
});

it('a plan of another engine that touches files is not executed', async () => {
  await start();
  const path = sandbox.write('work/theirs.lock', '');
  const chores = [{ act: 'remove', target: path, why: 'another engine planned it' }] as const;
  await engine.run({ ...planOf([]), otherSteps: chores }, { act: 'clean' });
  expect(engine.getState().running?.summary).toBe('it failed: this plan was not made here');
  expect(existsSync(path)).toBe(true);
});

const server = (reaction?: () => void) =>
  system.add(700, 1, { comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'], env: {} }, reaction);
/** The line of our own act; the same act is read from the audit log as well. */
const toldOf = (why: string) =>
  engine.getState().log.find(line => line.entry?.why === why && line.tone !== 'plain');

it.each([
  ['x: end', (t: Identity): ActRequest => ({ act: 'end', targets: [t], force: false }), 'SIGTERM', 'ended'],
  [
    'X: kill now',
    (t: Identity): ActRequest => ({ act: 'end', targets: [t], force: true }),
    'SIGKILL',
    'killed',
  ],
])('%s is the reason in the record, and the row is in the log', async (why, requestFor, signal, what) => {
  const request = requestFor(server());
  await start();
  await engine.run(await engine.plan(request), request);
  expect(system.sent).toEqual([`700 ${signal}`]);
  expect(auditLines(sandbox)).toMatchObject([{ event: 'intent', by: 'tui', why }, { event: 'outcome' }]);
  expect(toldOf(why)).toMatchObject({
    tone: 'good',
    entry: { by: 'tui', rows: [{ what, pid: 700, name: 'mcp-server-x', bytes: 1700 }], note: null },
  });
});

it.each([
  ['is survived, which is no failure', false, 'good'],
  ['is forbidden, which is one', true, 'bad'],
])('a chosen signal that %s', async (_, denied, tone) => {
  const target = server(() => {});
  await start();
  const request: ActRequest = { act: 'signal', targets: [target], signal: 'SIGTERM' };
  const plan = await engine.plan(request);
  if (denied) system.denied.add(700);
  await engine.run(plan, request);
  expect(engine.getState().log[0]).toMatchObject({ tone, entry: { why: 'S: SIGTERM' } });
});

it('z nudges with SIGCHLD and leaves the parent alone', async () => {
  system.add(700, 800, { comm: 'node', argv: ['node', 'x.js'] }, () => system.remove(701));
  system.add(701, 700, { comm: 'node', argv: [], state: 'Z' });
  agent();
  system.change(700, { ppid: 600, born: 700 });
  await start();
  const request: ActRequest = { act: 'zombies' };
  const plan = await engine.plan(request);
  expect(plan.steps).toMatchObject([{ pid: 700, signal: 'SIGCHLD' }]);
  await engine.run(plan, request);
  expect(system.sent).toEqual(['700 SIGCHLD']);
  expect(auditLines(sandbox)[0]).toMatchObject({ why: 'z: deal with zombies' });
});

it.each(['z', 'f'])('%s does not end a server that reaps its zombies when it is nudged', async key => {
  agent();
  system.add(700, 600, { comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'], born: 550 }, signal =>
    system.remove(signal === 'SIGCHLD' ? 701 : 700),
  );
  system.add(701, 700, { comm: 'node', argv: [], state: 'Z', born: 600 });
  await start();
  const request: ActRequest =
    key === 'z' ? { act: 'zombies' } : { act: 'fix', finding: await findingNow('zombie') };
  const plan = await engine.plan(request);
  expect(plan.steps.map(({ pid, signal }) => `${pid} ${signal}`)).toEqual(['700 SIGCHLD', '700 SIGTERM']);
  await engine.run(plan, request);
  expect(system.sent).toEqual(['700 SIGCHLD']);
  expect(system.has(700)).toBe(true);
});

it('without a state directory nothing is recorded, and nothing is said of it', async () => {
  const target = server();
  await start({ stateDirectory: null });
  const request: ActRequest = { act: 'end', targets: [target], force: false };
  await engine.run(await engine.plan(request), request);
  expect(engine.getState().log.map(line => line.tone)).toEqual(['good']);
  expect(existsSync(join(`${sandbox.env.XDG_STATE_HOME}`, 'reaptop'))).toBe(false);
});

it('f ends no leak that the screen has not shown as one', async () => {
  await start({ byHand: true });
  const finding: Finding = {
    id: 'leak',
    severity: 'warn',
    title: 'leaked',
    why: '',
    processes: [server()],
    files: [],
    remedy: '',
    action: 'clean',
  };
  const request: ActRequest = { act: 'fix', finding };
  expect((await engine.plan(request)).steps).toEqual([]);
  await engine.refresh();
  expect((await engine.plan(request)).steps).toMatchObject([{ pid: 700 }]);
});

it('the log of an act has the time of this machine; of an invented one, its own', async () => {
  const at = async (): Promise<number> => {
    const target = server();
    await start({ byHand: true, log: [] });
    const request: ActRequest = { act: 'end', targets: [target], force: false };
    const plan = await engine.plan(request);
    Object.assign(system, {
      sample: async () => ({ ...(await FakeSystem.prototype.sample.call(system)), takenAt: 5 }),
    });
    await engine.refresh();
    await engine.run(plan, request);
    await engine.stop();
    return engine.getState().log.find(line => line.entry?.why === 'x: end')!.at;
  };
  expect(await at()).toBeGreaterThan(5);
  system = new Machine();
  system.backend = 'demo';
  expect(await at()).toBe(5);
});

it('a chosen signal of which one is forbidden and one is not has failed', async () => {
  const targets = [
    server(() => {}),
    system.add(701, 1, { comm: 'mcp-server-x', argv: ['mcp-server-x'] }, () => {}),
  ];
  await start();
  const request: ActRequest = { act: 'signal', targets, signal: 'SIGTERM' };
  const plan = await engine.plan(request);
  system.denied.add(700);
  await engine.run(plan, request);
  expect(system.sent).toEqual(['701 SIGTERM']);
  expect(engine.getState().log[0]).toMatchObject({ tone: 'bad' });
});

const SHARED = { details: { ...UNKNOWN_DETAILS, listening: { ports: [8931], clients: 1 } } };
const BY_KEY: readonly [string, (target: Identity) => ActRequest][] = [
  ['x', target => ({ act: 'end', targets: [target], force: false })],
  ['S', target => ({ act: 'signal', targets: [target], signal: 'SIGTERM' })],
];

it.each(BY_KEY)('%s on a protected process asks for its pid, and then ends it', async (_, requestFor) => {
  const request = requestFor(server());
  system.change(700, SHARED);
  await start();
  const plan = await engine.plan(request);
  expect(plan.steps).toMatchObject([{ pid: 700, confirm: true }]);
  await engine.run(plan, request);
  expect(system.sent).toEqual(['700 SIGTERM']);
});

it.each(BY_KEY)('%s judges again on facts read again, before the first signal', async (_, requestFor) => {
  const request = requestFor(server());
  await start();
  const plan = await engine.plan(request);
  const asked: unknown[] = [];
  const collect = vi.spyOn(Collector.prototype, 'collect').mockImplementationOnce(async options => {
    asked.push(options, ...system.sent);
    throw new Error('the table is torn');
  });
  await engine.run(plan, request);
  collect.mockRestore();
  expect(asked).toEqual([expect.objectContaining({ all: true, fresh: true })]);
  expect(system.sent).toEqual([]);
});

it.each(BY_KEY)('%s signals nobody that is protected only since the plan', async (_, requestFor) => {
  const request = requestFor(server());
  await start();
  const plan = await engine.plan(request);
  expect(plan.steps).toMatchObject([{ pid: 700, confirm: false }]);
  system.change(700, SHARED);
  const again = await engine.run(plan, request);
  expect(system.sent).toEqual([]);
  expect(again?.plan.steps).toMatchObject([{ pid: 700, confirm: true }]);
});
