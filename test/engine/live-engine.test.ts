import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Collector } from '../../src/engine/collector.ts';
import { LiveEngine } from '../../src/engine/live-engine.ts';
import type { LiveEngineOptions } from '../../src/engine/live-store.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { type Identity, keyOf } from '../../src/model/identity.ts';
import type { ActRequest } from '../../src/model/plan.ts';
import type { UiSettings } from '../../src/model/ui-settings.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

/** A machine in memory on which it can be seen whether two look at it at once. */
class Watched extends FakeSystem {
  looks = 0;
  looking = 0;
  atOnce = 0;
  /** Set: looks last until it is called. */
  hold: Promise<void> | null = null;

  override async sample() {
    this.looks += 1;
    this.looking += 1;
    this.atOnce = Math.max(this.atOnce, this.looking);
    try {
      await (this.hold ?? new Promise(resolve => setTimeout(resolve, 1)));
      return { ...(await super.sample()), takenAt: this.looks * 1000 };
    } finally {
      this.looking -= 1;
    }
  }
}

let sandbox: Sandbox;
let system: Watched;
let engine: LiveEngine;
beforeEach(() => {
  sandbox = new Sandbox();
  vi.stubEnv('XDG_STATE_HOME', sandbox.env.XDG_STATE_HOME);
  system = new Watched();
});
afterEach(async () => {
  await engine.stop();
  vi.unstubAllEnvs();
  await sandbox.close();
});

const start = async (intervalSeconds = 60, more: Partial<LiveEngineOptions> = {}): Promise<void> => {
  const collector = new Collector({
    system,
    config: DEFAULT_CONFIG,
    env: sandbox.env,
    cwd: sandbox.path('work'),
  });
  engine = await LiveEngine.start({
    collector,
    system,
    config: DEFAULT_CONFIG,
    env: sandbox.env,
    intervalSeconds,
    all: false,
    ...more,
  });
};

const leak = (pid: number): Identity =>
  system.add(pid, 1, { comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'], env: {} });
const end = (...targets: Identity[]): ActRequest => ({ act: 'end', targets, force: false });
const leaks = (): number => engine.getState().snapshot.findings.filter(f => f.id === 'leak').length;

it('a leak is a finding from its second sighting on, which comes soon', async () => {
  leak(700);
  await start();
  expect(engine.getState().snapshot.totals.leaks).toBe(1);
  expect(leaks()).toBe(0);
  await until('the second look', () => leaks() === 1);
  leak(701);
  engine.refresh();
  await until('the new one to be seen', () => engine.getState().snapshot.totals.leaks === 2);
  expect(leaks()).toBe(1);
});

it('when the machine cannot be read the last snapshot stays, with the reason; the next good look ends it', async () => {
  await start(0.02);
  const before = engine.getState().snapshot;
  system.lookFails = '/proc is gone';
  await until('the error', () => engine.getState().error === '/proc is gone');
  expect(engine.getState().snapshot.processes.length).toBe(before.processes.length);
  system.lookFails = null;
  await until('the recovery', () => engine.getState().error === null);
});

it('two plans, refreshes and an act never look at the machine at the same time', async () => {
  const target = leak(700);
  await start(0.005);
  const plans = [engine.plan(end(target)), engine.plan({ act: 'clean' })];
  engine.refresh();
  const [first] = await Promise.all(plans);
  const running = engine.run(first!, end(target));
  engine.refresh();
  const later = engine.plan(end(target));
  await running;
  await later;
  expect(system.atOnce).toBe(1);
  expect(system.sent).toEqual(['700 SIGTERM']);
});

it('runs a plan: outcomes and a summary in the state, a line in the log, the tree looked at again', async () => {
  const target = leak(700);
  await start();
  const request = end(target);
  const plan = await engine.plan(request);
  const seen: string[] = [];
  engine.subscribe(() => {
    const { running } = engine.getState();
    if (running) seen.push(`${running.done} ${running.outcomes.map(o => o.outcome).join()}`);
  });
  await engine.run(plan, request);
  const { running, log, snapshot } = engine.getState();
  expect(seen[0]).toBe('false ');
  expect(seen).toContain('false ended');
  expect(running).toMatchObject({ done: true, outcomes: [{ pid: 700, outcome: 'ended' }] });
  expect(log[0]).toMatchObject({ text: expect.stringContaining('1 ended'), tone: 'good' });
  expect(snapshot.processes.some(p => p.facts.pid === 700)).toBe(false);
});

it('a process that was replaced between plan and run is not signalled', async () => {
  const target = leak(700);
  await start();
  const plan = await engine.plan(end(target));
  system.remove(700);
  system.add(700, 1, { start: 'another', comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'] });
  await engine.run(plan, end(target));
  expect(engine.getState().running?.outcomes).toMatchObject([{ pid: 700, outcome: 'gone' }]);
  expect(system.sent).toEqual([]);
});

const becomesLive = (pid: number): void => {
  system.add(600, 800, { comm: 'claude', argv: ['claude'], born: 500 });
  system.change(pid, { env: { CLAUDE_PID: '600' }, argv: ['/usr/bin/mcp-server-x', ''] });
};

it.each([
  ['x', (target: Identity) => end(target)],
  ['X', (target: Identity): ActRequest => ({ act: 'end', targets: [target], force: true })],
  ['S', (target: Identity): ActRequest => ({ act: 'signal', targets: [target], signal: 'SIGKILL' })],
])(
  '%s on a leak that is live by now signals nobody, and the plan is to be read again',
  async (_, requestFor) => {
    const request = requestFor(leak(700));
    await start();
    const plan = await engine.plan(request);
    becomesLive(700);
    const again = await engine.run(plan, request);
    expect(system.sent).toEqual([]);
    expect(again?.because).toContain(
      'mcp-server-x (700) was leak and is live now: its environment names claude',
    );
    expect(again?.plan.steps).toMatchObject([{ pid: 700, subject: { verdict: 'live' } }]);
    expect(await engine.run(again!.plan, request)).toBeNull();
    expect(system.has(700)).toBe(false);
  },
);

it('c drops a leak that is live by now, says why, and ends the rest', async () => {
  leak(700);
  leak(701);
  await start();
  await until('the second look', () => leaks() > 0);
  const plan = await engine.plan({ act: 'clean' });
  expect(plan.steps.map(step => step.pid)).toEqual([700, 701]);
  becomesLive(700);
  expect(await engine.run(plan, { act: 'clean' })).toBeNull();
  expect(system.sent).toEqual(['701 SIGTERM']);
  expect(engine.getState().running?.outcomes).toMatchObject([
    { pid: 700, outcome: 'refused', why: expect.stringContaining('it is live') },
    { pid: 701, outcome: 'ended' },
  ]);
});

it('cancel sends no further signal, and says so by what survived; a second plan does not run beside the first', async () => {
  const target = system.add(700, 1, { comm: 'mcp-server-x', argv: ['/usr/bin/mcp-server-x'] }, () => {});
  await start();
  const plan = await engine.plan(end(target));
  const running = engine.run(plan, end(target));
  await expect(engine.run(plan, end(target))).rejects.toThrow('still running');
  await until('the first signal', () => system.sent.length === 1);
  engine.cancel();
  await running;
  expect(system.sent).toEqual(['700 SIGTERM']);
  expect(engine.getState().running?.outcomes).toMatchObject([{ pid: 700, outcome: 'survived' }]);
  expect(engine.getState().log.map(line => line.tone)).toContain('bad');
});

it('all processes are there as soon as they are asked for, even while a look is under way', async () => {
  await start();
  let letGo = (): void => {};
  system.hold = new Promise(resolve => (letGo = resolve));
  const before = system.looks;
  engine.refresh();
  await until('the look', () => system.looks === before + 1);
  engine.setAll(true);
  letGo();
  system.hold = null;
  await until('pid 1 in the snapshot', () =>
    engine.getState().snapshot.processes.some(p => p.facts.pid === 1),
  );
});

it('a recorded table is judged once, keeps its findings, and is not looked at again by itself', async () => {
  const outcome = { pid: 7, start: 's', name: 'here', outcome: 'ended', why: '', freed: 0 };
  sandbox.write(
    'home/.local/state/reaptop/audit.jsonl',
    `${JSON.stringify({ time: '2026-11-16T03:10:20.000Z', event: 'outcomes', by: 'clean', outcomes: [outcome] })}\n`,
  );
  system.readOnly = 'a recorded table';
  leak(700);
  await start(0.005);
  // What was done on this machine says nothing about that one.
  expect(engine.getState().log).toEqual([]);
  expect(leaks()).toBe(1);
  engine.refresh();
  await until('the look that was asked for', () => system.looks === 2);
  const plan = await engine.plan(end({ pid: 700, start: 's700' }));
  await engine.run(plan, end({ pid: 700, start: 's700' }));
  expect(system.sent).toEqual([]);
});

it('each look adds a point to the course of each process', async () => {
  const target = leak(700);
  await start(60, { byHand: true });
  system.change(700, { rss: 5 * 1024 ** 2 });
  for (let n = 0; n < 10; n += 1) await engine.refresh();
  expect(engine.history(keyOf(target)).at(-1)?.bytes).toBe(5 * 1024 ** 2);
  expect(engine.history(keyOf({ pid: 700, start: 'another' }))).toEqual([]);
});

it('keeps the memory of an agent’s tree from the first sample on; what never had a child has none', async () => {
  const target = leak(700);
  const agent = system.add(600, 800, { comm: 'claude', argv: ['claude'], born: 500 });
  await start(60, { byHand: true });
  await engine.refresh();
  expect(engine.treeHistory(keyOf(agent))).toHaveLength(2);
  expect(engine.treeHistory(keyOf(target))).toEqual([]);
});

it('looks by hand only, until it is to look by itself; what was asked for comes before each look', async () => {
  await start(0.005, { byHand: true });
  const begun = system.looks;
  await engine.refresh();
  expect(system.looks).toBe(begun + 1);
  let before = 0;
  engine.startLooking(() => (before += 1));
  await until('looks by itself', () => before >= 2);
  expect(system.looks).toBeGreaterThanOrEqual(begun + 2);
});

it('another interval is shown, and kept to', async () => {
  await start(60);
  engine.setInterval(0.005);
  expect(engine.getState()).toMatchObject({ intervalSeconds: 0.005, slowedDown: false });
  const before = system.looks;
  await until('three looks', () => system.looks >= before + 3);
});

it('files that change, however many, bring one look; none comes after the end', async () => {
  await start(60, { byHand: true });
  const before = system.looks;
  for (let n = 0; n < 50; n += 1) engine.noteFiles();
  expect(system.looks).toBe(before);
  await until('the look', () => system.looks > before);
  await engine.refresh();
  expect(system.looks).toBe(before + 2);
  vi.useFakeTimers();
  try {
    engine.noteFiles();
    await engine.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(system.looks).toBe(before + 2);
  } finally {
    vi.useRealTimers();
  }
});

it('settings are saved where the config lies; not for an invented machine, and not without a home', async () => {
  const settings = { theme: 'mono', columns: null, mouse: true, interval: 3 } as unknown as UiSettings;
  const configPath = sandbox.path('home/.config/reaptop/config.json');
  await start(60, { byHand: true });
  await expect(engine.saveSettings(settings)).rejects.toThrow('there is no home directory');
  await engine.stop();
  system.backend = 'demo';
  await start(60, { byHand: true, configPath });
  expect(await engine.saveSettings(settings)).toContain('nothing was saved');
  expect(existsSync(configPath)).toBe(false);
  await engine.stop();
  system.backend = 'procfs';
  await start(60, { byHand: true, configPath });
  expect(await engine.saveSettings(settings)).toContain('Saved to');
  expect(JSON.parse(readFileSync(configPath, 'utf8'))).toMatchObject({ interval: 3 });
});

it('a jump to what is gone, or is in no pane, says so', async () => {
  const target = leak(700);
  await start();
  expect(await engine.jump({ pid: 700, start: 'another' })).toBe('This process has ended.');
  expect(await engine.jump(target)).toContain('is not in a tmux pane');
});

it('outside tmux nothing is copied to it', async () => {
  await start();
  expect(await engine.copyToTmux('text')).toBe(false);
});

it('proportional memory is what the machine says', async () => {
  Object.assign(system, { proportionalMemory: async (pid: number) => pid + 1 });
  await start();
  expect(await engine.proportionalMemory(700)).toBe(701);
});

it('what others did before is the log at first, its last twenty lines; a log that is brought along stands alone', async () => {
  const line = (pid: number): string => {
    const outcomes = [{ pid, start: 's', name: 'x', outcome: 'ended', why: '', freed: 0 }];
    return `${JSON.stringify({ time: '2026-11-16T03:10:20.000Z', event: 'outcome', id: `${pid}`, by: 'clean', outcomes })}\n`;
  };
  const lines = Array.from({ length: 25 }, (_, n) => line(n + 1)).join('');
  sandbox.write('home/.local/state/reaptop/audit.jsonl', lines, 0o600);
  await start(60, { byHand: true });
  expect(engine.getState().log.map(one => one.entry?.rows[0]?.pid)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 6),
  );
  await engine.stop();
  const log = [{ at: 0, text: 'mine', tone: 'plain' }] as const;
  await start(60, { byHand: true, log });
  await engine.refresh();
  expect(engine.getState().log).toEqual(log);
});

it('a critical finding rings once, on a live machine only', async () => {
  const config = { ...DEFAULT_CONFIG, alerts: { ...DEFAULT_CONFIG.alerts, command: null } };
  system.add(600, 800, { comm: 'claude', argv: ['claude'], born: 500, rss: 400 * 1024 ** 3 });
  await start(60, { byHand: true, config });
  expect(engine.getState().snapshot.findings.some(f => f.severity === 'critical')).toBe(true);
  await engine.refresh();
  await engine.refresh();
  expect(engine.getState().rings).toBe(1);
  await engine.stop();
  system.readOnly = 'a recorded table';
  await start(60, { byHand: true, config });
  await engine.refresh();
  expect(engine.getState().rings ?? 0).toBe(0);
});

it('a finding that was acknowledged is quiet, also after a restart, until it is taken back', async () => {
  leak(700);
  await start(60, { byHand: true });
  await engine.refresh();
  const [finding] = engine.getState().snapshot.findings;
  expect(finding?.id).toBe('leak');
  expect(engine.acknowledge(finding!)).toContain('quiet until it changes');
  expect(engine.getState().snapshot.findings).toEqual([]);
  await engine.refresh();
  expect(engine.getState().snapshot.findings).toEqual([]);
  const texts = () => engine.getState().log.map(line => line.text);
  expect(texts()).toContain(`acknowledged: ${finding!.title}`);
  expect(texts().join()).not.toContain('resolved');
  await engine.stop();

  await start(60, { byHand: true });
  await engine.refresh();
  expect(engine.getState().snapshot.findings).toEqual([]);
  const line = engine.getState().log.find(one => one.acknowledged !== undefined);
  expect(line?.text).toBe(`acknowledged: ${finding!.title}`);
  engine.takeBack(line!.acknowledged!);
  await engine.refresh();
  expect(engine.getState().snapshot.findings).toHaveLength(1);
  expect(texts()).not.toContain(`acknowledged: ${finding!.title}`);
});

it('a finding that says something else is loud again', async () => {
  leak(700);
  await start(60, { byHand: true });
  await engine.refresh();
  engine.acknowledge(engine.getState().snapshot.findings[0]!);
  leak(701);
  await engine.refresh();
  await engine.refresh();
  expect(engine.getState().snapshot.findings.map(({ title }) => title)).toEqual([
    expect.stringContaining('2 leaked'),
  ]);
});
