import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { executeWith } from '../../src/act/execute.ts';
import { LiveEngine } from '../../src/engine/live-engine.ts';
import type { LiveEngineOptions } from '../../src/engine/live-store.ts';
import type { RememberedSession } from '../../src/model/asleep.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Finding } from '../../src/model/finding.ts';
import type { ActRequest, Plan } from '../../src/model/plan.ts';
import { readRemembered, tryRemember } from '../../src/remember/asleep.ts';
import { planOf } from '../act/fake-system.ts';
import { DONE, FAILED, ScriptedTmux } from '../act/tmux/scripted-tmux.ts';
import { claude, ID, IDLE, server } from '../judge/plan/idle-session.ts';
import { HOUSE, id, invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { awaited } from '../support/until.ts';
import { tmux } from '../support/world.ts';
import { linesOf, NO_RECORDS, Stage } from './stage.ts';

let sandbox: Sandbox;
let directory: string;
let scripted: ScriptedTmux;
let stage: Stage;
let live: LiveEngine;
/** Milliseconds of the clock that only the test moves. */
let now: number;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('xdg/reaptop');
  scripted = new ScriptedTmux(sandbox);
  scripted.answers();
  stage = new Stage();
  now = 1_000_000;
  vi.stubEnv('XDG_STATE_HOME', sandbox.path('xdg'));
});
afterEach(async () => {
  await live.stop();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await sandbox.close();
});

/** With the sessions and the log that this machine remembers. */
const startHere = async (more: Partial<LiveEngineOptions> = {}): Promise<void> => {
  live = await LiveEngine.start({
    collector: stage.collector,
    system: stage.system,
    config: DEFAULT_CONFIG,
    env: { PATH: scripted.PATH, XDG_STATE_HOME: sandbox.path('xdg') },
    intervalSeconds: 60,
    all: false,
    byHand: true,
    ...more,
  });
};
/** With a log of its own, as an invented machine has it. */
const start = (more: Partial<LiveEngineOptions> = {}): Promise<void> => startHere({ log: [], ...more });

/** No kernel gives this number out: the agent is gone. */
const NOBODY = 5_000_000;
const OTHER_ID = '5d1f0c3e-1111-4222-8333-444455557777';
const SESSION: RememberedSession = {
  pid: NOBODY,
  start: 's1',
  agent: 'claude',
  id: ID,
  project: 'proofs',
  name: 'fix the lemma',
  cwd: '/home/me/proofs',
  tmux: null,
  bytes: 0,
  resume: `claude --resume ${ID}`,
  boot: null,
  registry: null,
  state: 'asleep',
  at: Date.now() - 60_000,
};
const OTHER: RememberedSession = {
  ...SESSION,
  id: OTHER_ID,
  resume: `claude --resume ${OTHER_ID}`,
  project: 'site',
  name: null,
  at: Date.now() - 30_000,
};
const remember = (...sessions: readonly RememberedSession[]): void => {
  expect(tryRemember(directory, sessions)).toBeNull();
};
const asleep = (): readonly (readonly [string, string])[] =>
  (live.getState().asleep ?? []).map(({ id: one, state }) => [one, state]);
const texts = (): readonly string[] => live.getState().log.map(({ text }) => text);

describe('sessions that sleep', () => {
  it('are there after the first look, the latest first; what runs is not among them', async () => {
    remember(SESSION, OTHER);
    stage.put({ ...claude({ session: { ...IDLE, id: '5d1f0c3e-1111-4222-8333-444455559999' } }) });
    await startHere();
    await live.refresh();
    expect(asleep()).toEqual([
      [OTHER_ID, 'asleep'],
      [ID, 'asleep'],
    ]);
    expect(readRemembered(directory)).toHaveLength(3);
  });

  it('are read again after five seconds, or when a session comes or goes; a process that is none changes nothing', async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    await startHere();
    await live.refresh();
    remember(SESSION);
    now += 4999;
    stage.put(server());
    await live.refresh();
    expect(asleep()).toEqual([]);
    now += 1;
    await live.refresh();
    expect(asleep()).toEqual([[ID, 'asleep']]);
    remember(OTHER);
    stage.put(claude({ session: { ...IDLE, id: '5d1f0c3e-1111-4222-8333-444455559999' } }));
    await live.refresh();
    expect(asleep()).toHaveLength(2);
    remember({
      ...SESSION,
      id: '5d1f0c3e-1111-4222-8333-444455558888',
      resume: 'claude --resume 5d1f0c3e-1111-4222-8333-444455558888',
    });
    // The agent went on to another conversation.
    stage.put(claude({ session: null }));
    await live.refresh();
    expect(asleep().length).toBeGreaterThan(2);
  });

  it('stay what they are to whoever watches, where nothing changed', async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    remember(SESSION);
    await startHere();
    await live.refresh();
    const { asleep: before } = live.getState();
    now += 60_000;
    await live.refresh();
    expect(live.getState().asleep).toBe(before);
  });

  it('of another machine are what that one brings along', async () => {
    remember(OTHER);
    Object.assign(stage.system, { inventedRecords: () => NO_RECORDS });
    await startHere({ asleep: [SESSION] });
    await live.refresh();
    expect(asleep()).toEqual([[ID, 'asleep']]);
    await live.stop();
    await startHere();
    await live.refresh();
    expect(asleep()).toEqual([]);
  });

  it('are none of a recorded table', async () => {
    remember(SESSION);
    stage.system.readOnly = 'a recorded table';
    await startHere();
    await live.refresh();
    expect(asleep()).toEqual([]);
  });
});

it('a session whose agent was killed is lost: the log says so once, and the way back is listed', async () => {
  const registry = sandbox.path('claude');
  const record = { pid: NOBODY, sessionId: ID, procStart: 's1', cwd: '/home/me/proofs', kind: 'interactive' };
  sandbox.write(`claude/sessions/${NOBODY}.json`, JSON.stringify(record));
  remember({ ...SESSION, state: 'running', registry });
  await startHere();
  await live.refresh();
  await live.refresh();
  expect(asleep()).toEqual([[ID, 'lost']]);
  expect(live.getState().log.filter(({ text }) => text.startsWith('lost'))).toMatchObject([
    { text: 'lost 1 session: proofs “fix the lemma”; Asleep lists the way back', tone: 'bad' },
  ]);
});

it('sessions that cannot be written down are told of once', async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  await startHere();
  await live.refresh();
  now += 60_000;
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(directory, 'asleep.jsonl'));
  stage.put(claude());
  for (let n = 0; n < 3; n += 1) {
    await live.refresh();
    now += 60_000;
  }
  expect(live.getState().log).toMatchObject([
    { text: expect.stringMatching(/^asleep\.jsonl could not be written/), tone: 'warn' },
  ]);
});

describe('a session that is to come back', () => {
  it('is typed into tmux, and the sentence says where', async () => {
    sandbox.write('bin/stty', '#!/bin/sh\necho "-icanon -echo"\n', 0o755);
    vi.stubEnv('PATH', `${sandbox.path('bin')}:${process.env.PATH}`);
    scripted.answers(DONE('%7 /dev/pts/999\n'), DONE(''));
    stage.shown = put => snapshotOf([...HOUSE, ...put], { tmux: [tmux(4000, [4001])] });
    await startHere();
    const place = { socket: '/tmp/tmux-1000/default', session: 'main', pane: '%9', server: 4000 };
    expect(await live.wake({ ...SESSION, tmux: place })).toBe(
      'proofs “fix the lemma”: typed in tmux main %7, a new window: press Enter there',
    );
    expect(scripted.asked().at(-1)).toContain('send-keys');
    expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
      { event: 'intent', by: 'tui', why: `Enter: wake ${ID}` },
      { event: 'outcome' },
    ]);
  });

  it('that runs already is named', async () => {
    stage.put(claude());
    await start({ stateDirectory: null });
    expect(await live.wake(SESSION)).toBe('proofs “fix the lemma”: it runs already: claude (1000)');
  });

  it.each([
    ['Copied', { TMUX: '/tmp/sock,1,0' }, [DONE('')]],
    ['Run it yourself', { TMUX: '/tmp/sock,1,0' }, [FAILED, FAILED]],
    ['Run it yourself', {}, []],
  ])('without a place to type it, is for its user to run: %s', async (told, env, answers) => {
    scripted.answers(...answers);
    stage.system.readOnly = 'a recorded table';
    await start({ stateDirectory: null, env: { PATH: scripted.PATH, ...env } });
    const line = `cd /home/me/proofs && claude --resume ${ID}`;
    expect(await live.wake(SESSION)).toBe(`${told}: ${line}`);
    if (answers.length > 0) expect(scripted.asked()[0]).toContain(line);
  });

  it('waits for another clean-up, and says so', async () => {
    await startHere();
    stage.system.add(process.pid, 800, { argv: ['reaptop'] });
    const end = awaited<{ outcomes: []; durationMs: number }>();
    const begun = awaited();
    const theirs = executeWith({
      system: stage.system,
      by: 'clean',
      why: 'another',
      plan: planOf([]),
      directory,
      run: () => {
        begun.resolve();
        return end.promise;
      },
    });
    await begun.promise;
    expect(await live.wake(SESSION)).toMatch(/^another clean-up is running/);
    end.resolve({ outcomes: [], durationMs: 0 });
    await theirs;
  });
});

describe('the pane of a process', () => {
  const PLACE = { socket: '/t/sock', session: 'main', pane: '%3' };
  const paned = claude({ tmux: PLACE });

  it('is looked into, and attached to, where it is in one', async () => {
    scripted.answers(DONE('one\ntwo\n\n'));
    stage.put(paned).put(server());
    await start();
    expect(await live.peek(id(1000))).toEqual(['one', 'two']);
    expect(scripted.asked()).toEqual(['-u -S /t/sock capture-pane -p -t %3']);
    expect(live.attachment(id(1000))).toBeTypeOf('function');
  });

  it.each([
    ['has ended', { pid: 1000, start: 'another' }, 'This process has ended.'],
    ['is in none', id(1001), 'p1001 (1001) is not in a tmux pane.'],
  ])('is not looked into where it %s', async (_, target, why) => {
    stage.put(paned).put(invent(1001, 1000));
    await start();
    expect(await live.peek(target)).toBe(why);
    expect(live.attachment(target)).toBeNull();
  });

  it('of another machine is out of reach', async () => {
    stage.put(paned);
    Object.assign(stage.system, { inventedRecords: () => NO_RECORDS });
    await start();
    expect(await live.peek(id(1000))).toBe('Its pane is on another machine.');
    expect(live.attachment(id(1000))).toBeNull();
    expect(await live.jump(id(1000))).toBe('claude (1000) is in a pane of another machine.');
    expect(scripted.asked()).toEqual([]);
  });
});

describe('a first look', () => {
  it('is in a hurry, and of what is shown', async () => {
    await start({ all: true });
    expect(stage.looks).toMatchObject([{ all: true, hurry: true }]);
    await live.refresh();
    expect(stage.looks[1]).toMatchObject({ all: true });
    expect(stage.looks[1]!.hurry).toBeUndefined();
  });

  it('shows the load of this machine, and none of an invented one', async () => {
    await start();
    expect(live.getState()).toMatchObject({ load: expect.any(Number), slowedDown: false, asleep: [] });
    // It moves while we look.
    expect(Math.abs(live.getState().load! - loadavg()[0]!)).toBeLessThan(50);
    await live.stop();
    Object.assign(stage.system, { inventedRecords: () => NO_RECORDS });
    await start();
    expect(live.getState().load).toBeNull();
    await live.refresh();
    expect(live.getState().load).toBeNull();
  });

  it('is the only one of a machine that is looked at by hand, and of a recorded table', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await start();
      await vi.advanceTimersByTimeAsync(600_000);
      expect(stage.looks).toHaveLength(1);
      await live.stop();
      stage.system.readOnly = 'a recorded table';
      await start({ byHand: false });
      await vi.advanceTimersByTimeAsync(600_000);
      expect(stage.looks).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });
});

const LEAK = invent(2000, 1, { verdict: 'leak' });
const finding = (title: string): Finding => ({
  id: 'over-memory',
  severity: 'warn',
  title,
  why: '',
  processes: [id(2000)],
  files: [],
  remedy: '',
  action: null,
});

it('an acknowledgement that cannot be kept lasts until reaptop ends, and says why', async () => {
  await startHere();
  mkdirSync(sandbox.path('xdg'), { recursive: true });
  writeFileSync(directory, 'a file');
  expect(live.acknowledge(finding('too much'))).toMatch(/^Acknowledged until reaptop ends: .+\.$/);
  rmSync(directory);
  expect(live.acknowledge(finding('too little'))).toMatch(/^Acknowledged; quiet until it changes/);
});

it('what is taken back takes its own line out of the log, and no other', async () => {
  await start({ log: [{ at: 0, text: 'before', tone: 'plain' }] });
  const [one, other] = [finding('one'), finding('other')];
  live.acknowledge(one);
  live.acknowledge(other);
  live.takeBack(one);
  expect(texts()).toEqual(['before', 'acknowledged: other']);
});

it('what was acknowledged before stands in the log where it belongs in time', async () => {
  const line = (pid: number, time: string): string => {
    const outcomes = [{ pid, start: 's', name: `p${pid}`, outcome: 'ended', why: '', freed: 0 }];
    return `${JSON.stringify({ time, event: 'outcome', id: `${pid}`, by: 'clean', outcomes })}\n`;
  };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await startHere();
  live.acknowledge(finding('too much'));
  await live.stop();
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const lines = line(1, '2026-01-01T00:00:00.000Z') + line(2, later);
  writeFileSync(join(directory, 'audit.jsonl'), lines, { mode: 0o600 });
  await startHere();
  const order = live.getState().log.map(({ entry, text }) => entry?.rows[0]?.pid ?? text);
  expect(order).toEqual([1, 'acknowledged: too much', 2]);
});

describe('an act that is not recorded', () => {
  const end: ActRequest = { act: 'end', targets: [id(2000)], force: false };
  const runs = async (request: ActRequest, plan?: Plan): Promise<void> => {
    await live.run(plan ?? (await live.plan(request)), request);
  };

  it('is told of in the log', async () => {
    writeFileSync(sandbox.path('file'), '');
    stage.put(LEAK);
    await start({ stateDirectory: sandbox.path('file') });
    await runs(end);
    expect(stage.system.sent).toEqual(['2000 SIGTERM']);
    expect(live.getState().log).toContainEqual({
      at: expect.any(Number),
      text: expect.stringMatching(/^the audit log .+ could not be written: /),
      tone: 'warn',
    });
  });

  it('because nothing of it is to be, is not', async () => {
    stage.put(LEAK);
    await start({ stateDirectory: null });
    await runs(end);
    expect(live.getState().log.map(({ tone }) => tone)).toEqual(['good']);
  });

  it('c is the reason in the log of what c ended', async () => {
    stage.put(LEAK);
    await start({ stateDirectory: null });
    await live.refresh();
    await runs({ act: 'clean' });
    expect(live.getState().log).toMatchObject([{ entry: { why: 'c: clean what is proven leaked' } }]);
  });

  it('keeps what had come of it when it failed', async () => {
    // It takes no notice of its signal.
    stage.put(LEAK).put(invent(2001, 1, { verdict: 'leak' }), () => {});
    await start({ stateDirectory: null });
    const request: ActRequest = { act: 'end', targets: [id(2000), id(2001)], force: false };
    const plan = await live.plan(request);
    const presence = stage.system.presence.bind(stage.system);
    stage.system.presence = pid => {
      if (live.getState().running?.outcomes.length === 1) throw new Error('the table is torn');
      return presence(pid);
    };
    await runs(request, plan);
    expect(live.getState().running).toMatchObject({
      done: true,
      summary: 'it failed: the table is torn',
      outcomes: [{ pid: 2000, outcome: 'ended' }],
    });
    expect(live.getState().log).toMatchObject([{ text: 'it failed: the table is torn', tone: 'bad' }]);
  });
});
