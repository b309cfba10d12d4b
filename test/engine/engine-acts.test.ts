import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_FILES } from '../../src/engine/agent-files.ts';
import { NO_PAST } from '../../src/judge/history.ts';
import type { Finding } from '../../src/model/finding.ts';
import { type ActRequest, EMPTY_PLAN, type Plan } from '../../src/model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../src/model/snapshot.ts';
import { claude, ID, IDLE, MIB, server } from '../judge/plan/idle-session.ts';
import { HOUSE, id, invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { hurry, linesOf, Stage } from './stage.ts';

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

const LEAK = invent(2000, 1, { verdict: 'leak' });
const end = (force = false): ActRequest => ({ act: 'end', targets: [id(2000)], force });

describe('two samples', () => {
  it('are a moment apart, and only what both call leaked is', async () => {
    const stage = new Stage().put(LEAK);
    stage.onLook = looks => {
      if (looks === 1) stage.put(invent(2001, 1, { verdict: 'leak' }));
    };
    const { processes } = await stage.engine.sampleTwice();
    const verdicts = processes.flatMap(p => (p.facts.pid < 2000 ? [] : [[p.facts.pid, p.verdict]]));
    expect(verdicts).toEqual([
      [2000, 'leak'],
      [2001, 'unknown'],
    ]);
    expect(stage.looks).toMatchObject([{ all: true }, { all: true }]);
    expect(stage.looks[1]!.at - stage.looks[0]!.at).toBe(300);
  });

  it('are a second apart where the second tells whether something works', async () => {
    const doubt = { why: 'whether it works is not known yet', atWork: true, unsampled: true } as const;
    const stage = new Stage().put({ ...LEAK, verdict: 'suspect', doubt });
    await stage.engine.sampleTwice();
    expect(stage.looks[1]!.at - stage.looks[0]!.at).toBeGreaterThanOrEqual(1000);
  });
});

it('every sample is held against what earlier ones showed, and against nothing where there were none', async () => {
  const stage = new Stage({ past: NO_PAST });
  await stage.engine.sample();
  const other = { ...NO_PAST };
  await stage.engine.sample({ past: other });
  expect(stage.looks.map(({ past }) => past)).toEqual([NO_PAST, other]);
  expect(stage.looks[1]!.past).toBe(other);
  const without = new Stage();
  await without.engine.sample();
  expect('past' in without.looks[0]!).toBe(false);
});

describe('a process is ended', () => {
  it('after it was judged again from a whole fresh sample', async () => {
    const stage = new Stage().put(LEAK);
    const done = await stage.execute(await stage.engine.plan(end(), { by: 'tui' }));
    expect(stage.looks.slice(0, 2)).toMatchObject([
      { all: true, sent: [] },
      { all: true, fresh: true, closely: false, sent: [] },
    ]);
    expect('files' in stage.looks[1]!).toBe(false);
    expect(stage.system.sent).toEqual(['2000 SIGTERM']);
    expect(done).toMatchObject({ outcomes: [{ pid: 2000, outcome: 'ended' }], otherOutcomes: [] });
  });

  it('with the files of agents from where they were read for the plan', async () => {
    const stage = new Stage().put(LEAK);
    await stage.execute(await stage.engine.plan(end(), { by: 'tui' }), { files: NO_FILES });
    expect(stage.looks[1]!.files).toBe(NO_FILES);
  });

  it.each([
    ['of the engine', { graceMs: 2000 }, {}, 2000, 4800],
    ['that was asked for', { graceMs: 9000 }, { graceMs: 100 }, 100, 8000],
  ])('and killed after the grace %s', async (_, own, asked, least, most) => {
    const stage = new Stage(own);
    stage.put(LEAK, () => {
      if (stage.system.sent.includes('2000 SIGKILL')) stage.system.remove(2000);
    });
    const done = await stage.execute(await stage.engine.plan(end(), { by: 'tui' }), asked);
    expect(stage.system.sent).toEqual(['2000 SIGTERM', '2000 SIGKILL']);
    expect(done.durationMs).toBeGreaterThanOrEqual(least);
    expect(done.durationMs).toBeLessThan(most);
  });
});

describe('what the screen showed', () => {
  const shown = snapshotOf([...HOUSE, invent(2000, 1, { verdict: 'live' })]);

  it('does not change what x on a process knows of it', async () => {
    const stage = new Stage().put(LEAK);
    const plan = await stage.engine.plan(end(), { by: 'tui', shown });
    expect(plan.steps).toMatchObject([{ pid: 2000, subject: { verdict: 'leak' } }]);
  });

  it('is not asked of a command, which has shown nothing', async () => {
    const stage = new Stage().put(LEAK);
    const plan = await stage.engine.plan({ act: 'clean' }, { by: 'clean' });
    expect(plan.steps).toMatchObject([{ pid: 2000 }]);
  });

  it('does not weaken a finding that is no leak', async () => {
    const stage = new Stage().put(LEAK);
    const finding = findingOf('end', LEAK);
    stage.shown = put => snapshotOf([...HOUSE, ...put], { findings: [finding] });
    const plan = await stage.engine.plan({ act: 'fix', finding }, { by: 'tui', shown });
    expect(plan.steps).toMatchObject([{ pid: 2000, subject: { verdict: 'leak' } }]);
  });
});

it.each([
  [{ suspects: true }, [2000, 2001]],
  [{}, [2000]],
  [{ minimumAgeSeconds: 1e9 }, []],
])('what is cleaned is what was asked for: %j', async (asked, pids) => {
  const stage = new Stage().put(LEAK).put(invent(2001, 1, { verdict: 'suspect' }));
  const plan = await stage.engine.plan({ act: 'clean', ...asked }, { by: 'clean' });
  expect(plan.steps.map(({ pid }) => pid).sort()).toEqual(pids);
});

const findingOf = (action: NonNullable<Finding['action']>, ...about: readonly JudgedProcess[]): Finding => ({
  id: action === 'sleep' ? 'idle-agent' : 'over-memory',
  severity: 'warn',
  title: 'a title',
  why: '',
  processes: about.map(({ facts: { pid, start } }) => ({ pid, start })),
  files: [],
  remedy: '',
  action,
});

describe('an idle session that a finding names', () => {
  const idle = (): { readonly stage: Stage; readonly finding: Finding } => {
    const stage = new Stage({ directory }).put(claude()).put(server());
    const finding = findingOf('sleep', claude());
    stage.shown = put => snapshotOf([...HOUSE, ...put], { findings: [finding] });
    stage.system.proportionalMemory = async () => 7;
    return { stage, finding };
  };

  it('is planned to sleep from two close samples, with the memory of all that ends with it', async () => {
    const { stage, finding } = idle();
    const plan = await stage.engine.plan({ act: 'fix', finding }, { by: 'tui' });
    expect(stage.looks).toMatchObject([
      { all: true, closely: true },
      { all: true, closely: true, fresh: true },
    ]);
    expect(plan).toMatchObject({ steps: [{ pid: 1000 }], bytes: 380 * MIB, otherWay: 'end' });
    expect('pss' in plan.steps[0]!).toBe(false);
    const done = await stage.execute(plan);
    expect(done.otherOutcomes).toMatchObject([{ act: 'sleep', outcome: 'done' }]);
    expect(linesOf(directory, 'asleep.jsonl')).toMatchObject([{ id: ID, state: 'asleep' }]);
  });

  it('is planned to end from one sample', async () => {
    const { stage, finding } = idle();
    const plan = await stage.engine.plan({ act: 'fix', finding, way: 'end' }, { by: 'tui' });
    expect(stage.looks).toHaveLength(1);
    expect(stage.looks[0]!.closely).toBeUndefined();
    expect(plan).toMatchObject({
      steps: [
        { pid: 1001, pss: 7 },
        { pid: 1000, pss: 7 },
      ],
      bytes: 14,
    });
  });
});

describe('sleep is offered instead of an end', () => {
  const offered = async (request: ActRequest, ...processes: readonly JudgedProcess[]) => {
    const snapshot: Snapshot = snapshotOf([...HOUSE, ...processes]);
    return (await new Stage().engine.plan(request, { by: 'tui', snapshot })).otherWay;
  };
  const ends = (force: boolean, ...pids: number[]): ActRequest => ({
    act: 'end',
    targets: pids.map(id),
    force,
  });
  const doing = (word: 'busy' | 'waiting') => claude({ session: { ...IDLE, doing: word } });

  it('of one session that is idle', async () => {
    expect(await offered(ends(false, 1000), claude())).toBe('sleep');
  });

  it.each([
    ['that is killed at once', ends(true, 1000), [claude()]],
    ['among several', ends(false, 1000, 2000), [claude(), LEAK]],
    ['at work', ends(false, 1000), [doing('busy')]],
    ['that waits for its user', ends(false, 1000), [doing('waiting')]],
    ['of which nothing is known', ends(false, 1000), [claude({ session: null })]],
    ['that is no session', ends(false, 1000), [claude({ isSession: false })]],
    ['that has ended', ends(false, 1000), []],
    ['that gets another signal', { act: 'signal', targets: [id(1000)], signal: 'SIGTERM' }, [claude()]],
  ] as const)('but not of one %s', async (_, request, processes) => {
    expect(await offered(request, ...processes)).toBeUndefined();
  });
});

it('a finding about files that is over leaves nothing to do, as two whole samples say', async () => {
  const stage = new Stage({ directory });
  const plan = await stage.engine.plan({ act: 'fix', finding: findingOf('remove-file') }, { by: 'tui' });
  const nothing: Plan = {
    ...EMPTY_PLAN,
    otherSteps: [],
    leftAlone: [{ what: 'a title', why: 'it is already resolved' }],
  };
  expect(plan).toEqual(nothing);
  expect(stage.looks).toMatchObject([{ all: true }, { all: true, fresh: true }]);
});

it('the record of a run that was killed is completed by one that has nothing to do', async () => {
  const stage = new Stage({ directory });
  stage.system.add(process.pid, 800, { argv: ['reaptop'] });
  mkdirSync(directory, { mode: 0o700 });
  const cut = {
    event: 'intent',
    id: 'one',
    by: 'clean',
    writer: { pid: 600, start: 's600' },
    boot: 'now',
    plan: { steps: [{ pid: 2000, start: 's2000', name: 'p2000' }] },
  };
  writeFileSync(join(directory, 'audit.jsonl'), `${JSON.stringify(cut)}\n`);
  stage.shown = () => ({ ...snapshotOf(HOUSE), host: { ...snapshotOf([]).host, bootId: 'now' } });
  await stage.engine.sample();
  await stage.engine.completeEarlierActs('clean');
  expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
    cut,
    { event: 'outcome', id: 'one', outcomes: [{ pid: 2000, outcome: 'gone' }], completedBy: { by: 'clean' } },
  ]);
});
