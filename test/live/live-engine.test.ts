import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Collector } from '../../src/collect/collector.ts';
import { LiveEngine } from '../../src/live/live-engine.ts';
import type { ActRequest } from '../../src/model/act-request.ts';
import { DEFAULT_CONFIG } from '../../src/model/config.ts';
import type { Identity } from '../../src/model/identity.ts';
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

  override async look() {
    this.looks += 1;
    this.looking += 1;
    this.atOnce = Math.max(this.atOnce, this.looking);
    try {
      await (this.hold ?? new Promise(resolve => setTimeout(resolve, 1)));
      return await super.look();
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

const start = async (intervalSeconds = 60): Promise<void> => {
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
