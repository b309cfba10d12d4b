import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EngineOptions } from '../../src/engine/engine.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { JudgedProcess } from '../../src/model/snapshot.ts';
import { readRemembered } from '../../src/remember/asleep.ts';
import { claude, ID, IDLE, MIB, server } from '../judge/plan/idle-session.ts';
import { id } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { hurry, linesOf, NO_RECORDS, Stage } from './stage.ts';

const OTHER_ID = '5d1f0c3e-1111-4222-8333-444455557777';
const OTHER = claude({ session: { ...IDLE, id: OTHER_ID, name: 'the other' } });
const RESUME = `claude --resume ${ID} --dangerously-skip-permissions`;

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  hurry();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

const stateOf = (one: string): string | undefined =>
  readRemembered(directory).find(session => session.id === one)?.state;

const stageOf = (options: Partial<EngineOptions> = {}): Stage => new Stage({ directory, ...options });
const put = (stage: Stage, reaction?: () => void): Stage => stage.put(claude(), reaction).put(server());
/** It ends as claude does: its server with it. */
const putEnding = (stage: Stage): Stage =>
  put(stage, () => {
    stage.system.remove(1000);
    stage.system.remove(1001);
  });
const second = (): JudgedProcess => ({
  ...OTHER,
  facts: { ...OTHER.facts, pid: 1002, start: 's1002', pgid: 1002, sid: 1002 },
});

const planned = (stage: Stage, pids = [1000]): Promise<Plan> =>
  stage.engine.plan(
    { act: 'sleep', targets: pids.map(id), minimumIdleSeconds: 0 },
    { by: 'sleep', snapshot: stage.moment() },
  );
const sleeps = async (stage: Stage, options: Parameters<Stage['execute']>[1] = {}) =>
  stage.execute(await planned(stage), { by: 'sleep', ...options });

it('a session is planned to sleep from two close samples a second apart, the second read anew', async () => {
  const stage = put(stageOf());
  const request = { act: 'sleep', targets: [id(1000)], minimumIdleSeconds: 0 } as const;
  const plan = await stage.engine.plan(request, { by: 'tui' });
  expect(plan.steps).toMatchObject([{ pid: 1000, signal: 'SIGTERM', rss: 380 * MIB }]);
  expect(stage.looks).toMatchObject([
    { all: true, closely: true },
    { all: true, closely: true, fresh: true },
  ]);
  expect(stage.looks[1]!.at - stage.looks[0]!.at).toBeGreaterThanOrEqual(1000);
  expect(stage.system.sent).toEqual([]);
});

it('the screen offers to end a session instead; a command does not', async () => {
  const stage = put(stageOf());
  const request = { act: 'sleep', targets: [id(1000)], minimumIdleSeconds: 0 } as const;
  const wayFor = async (by: 'tui' | 'sleep') =>
    (await stage.engine.plan(request, { by, snapshot: stage.moment() })).otherWay;
  expect([await wayFor('tui'), await wayFor('sleep')]).toEqual(['end', undefined]);
});

it('the way back is on disk when the agent gets SIGTERM, and what it freed is told when its server is gone', async () => {
  const stage = stageOf();
  let then: string | undefined;
  put(stage, () => {
    then = stateOf(ID);
    stage.system.remove(1000);
    stage.system.remove(1001);
  });
  const done = await sleeps(stage);
  expect(then).toBe('asleep');
  expect(stage.system.sent).toEqual(['1000 SIGTERM']);
  expect(readRemembered(directory)).toMatchObject([
    { agent: 'claude', id: ID, state: 'asleep', resume: RESUME, cwd: '/home/me/proofs' },
  ]);
  expect(done.outcomes).toMatchObject([{ pid: 1000, outcome: 'ended', freed: 380 * MIB, about: true }]);
  expect(done.otherOutcomes).toEqual([
    { act: 'sleep', target: 'claude (1000)', outcome: 'done', why: `asleep; way back: ${RESUME}` },
  ]);
  expect(done).toMatchObject({ worse: [], stopped: null, warnings: [] });
  expect(done.summary).toContain('1 ended, about 380 MiB freed');
});

it('it is judged again from close samples, a second after the one before, and then signalled', async () => {
  const stage = putEnding(stageOf());
  await sleeps(stage);
  expect(stage.looks.slice(0, 2)).toMatchObject([
    { all: true, closely: true, sent: [] },
    { all: true, closely: true, fresh: true, sent: [] },
  ]);
  expect(stage.looks[1]!.at - stage.looks[0]!.at).toBeGreaterThanOrEqual(1000);
});

it('the record of it names the session and its way back, before and after', async () => {
  await sleeps(putEnding(stageOf()));
  const chore = { act: 'sleep', target: 'claude (1000)' };
  expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
    { event: 'intent', by: 'sleep', sessions: [{ ...chore, why: `way back: ${RESUME}` }] },
    { event: 'outcome', sessions: [{ ...chore, outcome: 'done' }], outcomes: [{ pid: 1000 }] },
  ]);
});

it('of two, the way back of each is written right before its own signal', async () => {
  const stage = stageOf();
  const states: (string | undefined)[][] = [];
  const ends = (pid: number) => () => {
    states.push([stateOf(ID), stateOf(OTHER_ID)]);
    stage.system.remove(pid);
  };
  stage.put(claude(), ends(1000)).put(second(), ends(1002));
  const done = await stage.execute(await planned(stage, [1000, 1002]));
  expect(states).toEqual([
    ['asleep', undefined],
    ['asleep', 'asleep'],
  ]);
  expect(stage.system.sent).toEqual(['1000 SIGTERM', '1002 SIGTERM']);
  expect(done.outcomes.map(({ pid, outcome }) => [pid, outcome])).toEqual([
    [1000, 'ended'],
    [1002, 'ended'],
  ]);
  expect(done.otherOutcomes.map(({ target, outcome }) => [target, outcome])).toEqual([
    ['claude (1000)', 'done'],
    ['claude (1002)', 'done'],
  ]);
});

it('of two, one that has begun to work goes on, and the other sleeps', async () => {
  const stage = putEnding(stageOf()).put(second());
  const plan = await planned(stage, [1000, 1002]);
  stage.put(claude({ session: { ...IDLE, doing: 'busy' } })).put(server());
  const done = await stage.execute(plan);
  expect(stage.system.sent).toEqual(['1002 SIGTERM']);
  expect(done.outcomes.map(({ pid, outcome }) => [pid, outcome])).toEqual([
    [1000, 'refused'],
    [1002, 'ended'],
  ]);
  expect(done.otherOutcomes).toMatchObject([
    { outcome: 'skipped', why: expect.stringContaining('judged again before the signal: it works') },
    { outcome: 'done' },
  ]);
  expect([stateOf(ID), stateOf(OTHER_ID)]).toEqual(['running', 'asleep']);
});

it('of two, the second stays awake when the run is cancelled after the first', async () => {
  const stage = stageOf();
  const abort = new AbortController();
  stage.put(claude(), () => {
    stage.system.remove(1000);
    abort.abort();
  });
  stage.put(second());
  const plan = await planned(stage, [1000, 1002]);
  const done = await stage.execute(plan, { signal: abort.signal });
  expect(stage.system.sent).toEqual(['1000 SIGTERM']);
  expect(done.otherOutcomes).toMatchObject([
    { outcome: 'done' },
    { outcome: 'skipped', why: 'it was cancelled' },
  ]);
  expect([stateOf(ID), stateOf(OTHER_ID)]).toEqual(['asleep', undefined]);
});

it.each(['step', 'chore'])('a session without its %s in the plan is left as it is', async lacking => {
  const stage = stageOf();
  stage.put(claude()).put(second());
  const plan = await planned(stage, [1000, 1002]);
  const less =
    lacking === 'step'
      ? { ...plan, steps: plan.steps.slice(0, 1) }
      : { ...plan, otherSteps: plan.otherSteps!.slice(0, 1) };
  const done = await stage.execute(less);
  expect(stage.system.sent).toEqual(['1000 SIGTERM']);
  expect(done.otherOutcomes).toMatchObject([{ target: 'claude (1000)', outcome: 'done' }]);
  expect(stateOf(OTHER_ID)).toBeUndefined();
});

it.each([
  ['a table that is only shown', { readOnly: 'a recorded table' }, {}, 'a recorded table'],
  ['a run that was cancelled', {}, { signal: AbortSignal.abort() }, 'it was cancelled'],
])('on %s nothing is signalled or written, and everybody is told why', async (_, facts, options, why) => {
  const stage = put(stageOf());
  const plan = await planned(stage);
  Object.assign(stage.system, facts);
  const done = await stage.execute(plan, options);
  expect(stage.system.sent).toEqual([]);
  expect(linesOf(directory, 'asleep.jsonl')).toEqual([]);
  expect(done.outcomes).toMatchObject([{ pid: 1000, outcome: 'refused', why }]);
  expect(done.otherOutcomes).toMatchObject([{ act: 'sleep', outcome: 'skipped', why }]);
  expect(done.warnings).toEqual([]);
  expect(stage.progress).toMatchObject([
    { type: 'outcome', outcome: { pid: 1000, outcome: 'refused', why } },
  ]);
});

it('a refusal needs nobody who watches', async () => {
  const stage = put(stageOf());
  const done = await sleeps(stage, { signal: AbortSignal.abort(), onProgress: undefined });
  expect(done.outcomes).toMatchObject([{ outcome: 'refused' }]);
});

it('without a state directory no session sleeps: its way back would be lost', async () => {
  const stage = put(stageOf({ directory: null }));
  const done = await sleeps(stage);
  const why = 'its way back could not be written: there is no state directory';
  expect(stage.system.sent).toEqual([]);
  expect(done.outcomes).toMatchObject([{ outcome: 'refused', why }]);
  expect(done.otherOutcomes).toMatchObject([{ outcome: 'skipped', why }]);
});

it('where the state directory cannot be written no session sleeps', async () => {
  writeFileSync(directory, 'a file');
  const stage = put(stageOf());
  const done = await sleeps(stage);
  expect(stage.system.sent).toEqual([]);
  expect(done.outcomes[0]!.why).toMatch(/^its way back could not be written: asleep\.jsonl could not/);
});

it('the usual state directory is taken where none is named', async () => {
  vi.stubEnv('XDG_STATE_HOME', sandbox.path('xdg'));
  await sleeps(putEnding(stageOf({ directory: undefined })));
  vi.unstubAllEnvs();
  expect(linesOf(sandbox.path('xdg/reaptop'), 'asleep.jsonl')).toMatchObject([{ id: ID, state: 'asleep' }]);
});

it('on an invented machine a session sleeps, and nothing of it is written down', async () => {
  const stage = putEnding(stageOf());
  Object.assign(stage.system, { inventedRecords: () => NO_RECORDS });
  const done = await sleeps(stage);
  expect(done.otherOutcomes).toMatchObject([{ outcome: 'done' }]);
  expect(existsSync(join(directory, 'asleep.jsonl'))).toBe(false);
});

it('one that ignores SIGTERM has ten seconds, is not killed, and is remembered as running', async () => {
  const stage = put(stageOf({ graceMs: 10 }), () => {});
  const begun = performance.now();
  const done = await sleeps(stage, { graceMs: 20 });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(10_000);
  expect(stage.system.sent).toEqual(['1000 SIGTERM']);
  expect(done.outcomes).toMatchObject([{ pid: 1000, outcome: 'survived', freed: 0 }]);
  expect(done.otherOutcomes).toMatchObject([
    { act: 'sleep', outcome: 'skipped', why: done.outcomes[0]!.why },
  ]);
  expect(done.warnings).toEqual([]);
  expect(linesOf(directory, 'asleep.jsonl')).toMatchObject([
    { id: ID, state: 'asleep', resume: RESUME },
    { id: ID, state: 'running', resume: RESUME, at: expect.any(Number) },
  ]);
});

it('one that ended by itself before its signal is not said to sleep', async () => {
  const stage = put(stageOf());
  const plan = await planned(stage);
  stage.system.remove(1000);
  const done = await stage.execute(plan);
  expect(stage.system.sent).toEqual([]);
  expect(done.outcomes).toMatchObject([{ outcome: 'gone' }]);
  expect(done.otherOutcomes).toMatchObject([{ outcome: 'skipped', why: 'it had already ended' }]);
  expect(readRemembered(directory)).toEqual([]);
  expect(linesOf(directory, 'asleep.jsonl')).toMatchObject([{ state: 'asleep' }, { state: 'gone' }]);
});

it('what cannot be written after the signal is told', async () => {
  const stage = stageOf();
  put(stage, () => {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file');
  });
  const done = await sleeps(stage);
  expect(done.outcomes).toMatchObject([{ outcome: 'survived' }]);
  expect(done.warnings).toEqual([expect.stringMatching(/^asleep\.jsonl could not be written: /)]);
});

it('what went wrong while it was judged again is told', async () => {
  const stage = putEnding(stageOf());
  const plan = await planned(stage);
  stage.onLook = looks => {
    if (looks > 0) throw new Error('the table is torn');
  };
  const done = await stage.execute(plan);
  expect(stage.system.sent).toEqual([]);
  expect(done.otherOutcomes).toMatchObject([
    { outcome: 'skipped', why: expect.stringContaining('the table is torn') },
  ]);
  expect(stateOf(ID)).toBe('running');
});

it('servers have a moment to end after their agent, and nobody waits for them once they have', async () => {
  const stage = stageOf();
  const presence = stage.system.presence.bind(stage.system);
  let asked = 0;
  stage.system.presence = pid => {
    // It takes a few looks to notice that its agent has gone.
    if (pid === 1001 && !stage.system.has(1000)) asked += 1;
    if (asked === 5) stage.system.remove(1001);
    return presence(pid);
  };
  put(stage);
  const done = await sleeps(stage);
  expect(asked).toBe(5);
  expect(done.outcomes).toMatchObject([{ freed: 380 * MIB }]);
  expect(done.otherOutcomes[0]!.why).not.toContain('remain');
});

const late = (pid: number): JudgedProcess =>
  server({ facts: { pid, start: `s${pid}`, pgid: pid, sid: pid, rss: 20 * MIB } });

it.each([
  [[1001], '1 process of it remain'],
  [[1001, 1003], '2 processes of it remain'],
])('servers that do not end within three seconds are told of, and not signalled', async (pids, told) => {
  const stage = stageOf();
  stage.put(claude());
  for (const pid of pids) stage.put(late(pid));
  const plan = await planned(stage);
  const begun = performance.now();
  const done = await stage.execute(plan);
  const waited = performance.now() - begun;
  expect(stage.system.sent).toEqual(['1000 SIGTERM']);
  expect(done.outcomes).toMatchObject([{ outcome: 'ended', freed: 300 * MIB }]);
  expect(done.otherOutcomes).toMatchObject([
    { outcome: 'done', why: `asleep; way back: ${RESUME}; ${told}, and are judged like any other` },
  ]);
  expect(waited).toBeGreaterThanOrEqual(3000);
  expect(waited).toBeLessThan(8000);
});

it.each([
  ['a zombie', (stage: Stage) => stage.system.change(1001, { state: 'Z' }), 380],
  ['another by now', (stage: Stage) => stage.system.change(1001, { start: 's9' }), 380],
  ['unreadable', (stage: Stage) => stage.system.unreadable.add(1001), 300],
])('a server that is %s', async (_, becomes, freed) => {
  const stage = stageOf();
  put(stage, () => {
    stage.system.remove(1000);
    becomes(stage);
  });
  const done = await sleeps(stage);
  expect(done.outcomes).toMatchObject([{ outcome: 'ended', freed: freed * MIB }]);
  expect(done.otherOutcomes[0]!.why.includes('1 process of it remain')).toBe(freed === 300);
});

it('sessions that run are written down, and told of as long as they are known', async () => {
  const stage = put(stageOf());
  const { sessions, lost, warning } = stage.engine.remembered(stage.moment());
  expect([lost, warning]).toEqual([[], null]);
  expect(sessions).toMatchObject([{ id: ID, state: 'running', resume: RESUME }]);
  expect(linesOf(directory, 'asleep.jsonl')).toMatchObject([{ id: ID, state: 'running' }]);
});

it.each([
  ['a table that is only shown', { readOnly: 'a recorded table' }],
  ['an invented machine', { inventedRecords: () => NO_RECORDS }],
])('of %s no session is remembered', (_, facts) => {
  const stage = put(stageOf());
  Object.assign(stage.system, facts);
  expect(stage.engine.remembered(stage.moment())).toEqual({ sessions: [], lost: [], warning: null });
  expect(existsSync(directory)).toBe(false);
});

it('without a state directory no session is remembered', () => {
  const stage = put(stageOf({ directory: null }));
  expect(stage.engine.remembered(stage.moment())).toEqual({ sessions: [], lost: [], warning: null });
});
