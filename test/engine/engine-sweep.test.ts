import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineOptions, PlannedSweep } from '../../src/engine/engine.ts';
import { type JudgedFiles, judgeFiles } from '../../src/judge/heartbeats/judge-files.ts';
import type { SessionAct, SweepPlan } from '../../src/judge/plan/sweep-plan.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { scanFiles } from '../../src/observe/files/watched-directories.ts';
import { planOf } from '../act/fake-system.ts';
import { id, invent } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { hurry, linesOf, Stage } from './stage.ts';

let sandbox: Sandbox;
let directory: string;
/** Archived years ago, in the archive of a task that is still worked on: to expire. */
let old: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  sandbox.write('work/specs/688_x/progress/phase-1-progress.json', '{}');
  old = sandbox.write(
    'work/specs/688_x/progress/archive/.agent-progress.json.archived-20200101T000000Z',
    '{}',
  );
  hurry();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

/** What the sandbox's files say now. */
const filesNow = (): JudgedFiles => {
  const { readings } = scanFiles([sandbox.path('work')], []);
  const now = Date.now();
  return judgeFiles({ readings, processes: [], tmux: [], sessions: [], config: DEFAULT_CONFIG, now });
};
const stageOf = (options: Partial<EngineOptions> = {}): Stage => {
  const stage = new Stage({ directory, ...options });
  stage.files = filesNow;
  return stage;
};
const WEEK = { retentionDays: 7 };
/** One process that the sweep of another session would end. */
const withEnding = ({ sweep }: PlannedSweep): SweepPlan => ({ ...sweep, ending: planOf([id(2000)]) });

describe('a sweep is planned', () => {
  it('from two samples, with a moment between them, the second read anew; nothing is touched', async () => {
    const stage = stageOf();
    const { sweep, plan, moment } = await stage.engine.planSweep(WEEK);
    expect(stage.looks).toMatchObject([{ all: true }, { all: true, fresh: true }]);
    expect(stage.looks[0]!.fresh).toBeUndefined();
    expect(stage.looks[1]!.at - stage.looks[0]!.at).toBe(300);
    expect(sweep.files).toMatchObject([{ act: 'expire', path: old }]);
    expect(plan).toMatchObject({ steps: [], files: [old] });
    expect(moment.files.joined).toHaveLength(1);
    expect(existsSync(old)).toBe(true);
  });

  it('from one more sample where there has been one', async () => {
    const stage = stageOf();
    const begun = performance.now();
    const { plan } = await stage.engine.planSweep(WEEK, stage.moment());
    expect(performance.now()).toBe(begun);
    expect(stage.looks).toMatchObject([{ all: true, fresh: true }]);
    expect(plan.files).toEqual([old]);
  });

  it('within its limits: what is to be kept for longer is not in it', async () => {
    const { plan } = await stageOf().engine.planSweep({ retentionDays: 100_000 });
    expect(plan.files).toEqual([]);
  });
});

describe('a sweep is executed', () => {
  it('after it was planned once more: the file goes, and the record says so', async () => {
    const stage = stageOf();
    const { plan } = await stage.engine.planSweep(WEEK);
    const looks = stage.looks.length;
    const done = await stage.execute(plan, { by: 'sweep' });
    expect(existsSync(old)).toBe(false);
    expect(stage.looks[looks]).toMatchObject({ all: true, fresh: true });
    expect(done).toMatchObject({
      summary: '1 file removed',
      otherOutcomes: [{ act: 'expire', target: old, outcome: 'done' }],
      sweep: { files: [{ path: old, outcome: 'done' }] },
      stopped: null,
    });
    expect(done.worse).toEqual([]);
    expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
      { event: 'intent', by: 'sweep', plan: { files: [old] }, sessions: [] },
      { event: 'outcome', files: [{ path: old, outcome: 'done' }] },
    ]);
  });

  it('but for what is not to go any more', async () => {
    const stage = stageOf();
    const { plan } = await stage.engine.planSweep(WEEK);
    stage.files = () => ({ ...filesNow(), now: Date.parse('2020-01-02') });
    const done = await stage.execute(plan);
    expect(existsSync(old)).toBe(true);
    expect(done.otherOutcomes).toMatchObject([
      { target: old, outcome: 'skipped', why: 'it is no longer what was planned for' },
    ]);
    expect(done.summary).toBe('1 left: it is no longer what was planned for');
  });

  it('as far as a policy allows: the rest stays', async () => {
    const stage = stageOf();
    const planned = await stage.engine.planSweep(WEEK);
    const done = await stage.execute(stage.engine.narrowed(planned, { ...planned.sweep, files: [] }));
    expect(existsSync(old)).toBe(true);
    expect(done).toMatchObject({ summary: 'nothing to do', otherOutcomes: [] });
  });

  it('only by the engine that planned it', async () => {
    const planned = await stageOf().engine.planSweep(WEEK);
    const stage = stageOf();
    expect(() => stage.engine.narrowed(planned, planned.sweep)).toThrow('this plan was not made here');
    await stage.execute(planned.plan);
    expect(existsSync(old)).toBe(true);
  });

  it('without a session that is not what it was; the record names it', async () => {
    const stage = stageOf();
    const planned = await stage.engine.planSweep(WEEK);
    const session: SessionAct = {
      socket: '/t/sock',
      sessionId: '$3',
      session: 'agent_a-1',
      agent: 'a-1',
      processes: [],
      why: 'it is done',
    };
    const plan = stage.engine.narrowed(planned, { ...planned.sweep, sessions: [session] });
    const done = await stage.execute(plan);
    expect(done.otherOutcomes).toEqual([
      {
        act: 'end-session',
        target: 'agent_a-1',
        outcome: 'skipped',
        why: 'agent_a-1 is not the session it was',
      },
      { act: 'expire', target: old, outcome: 'done', why: expect.any(String) },
    ]);
    expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
      { event: 'intent', sessions: [session] },
      { event: 'outcome', sessions: [{ session: 'agent_a-1', outcome: 'skipped' }] },
    ]);
  });
});

describe('what a sweep ends', () => {
  const ending = async (stage: Stage): Promise<ReturnType<Stage['engine']['narrowed']>> => {
    const planned = await stage.engine.planSweep(WEEK);
    return stage.engine.narrowed(planned, withEnding(planned));
  };

  it('is judged again from a whole fresh sample before its signal, and watched', async () => {
    const stage = stageOf().put(invent(2000, 1));
    const plan = await ending(stage);
    const done = await stage.execute(plan);
    expect(stage.system.sent).toEqual(['2000 SIGTERM']);
    expect(done.outcomes).toMatchObject([{ pid: 2000, outcome: 'ended' }]);
    // The sample of the new plan, and that of the recheck.
    expect(stage.looks.filter(({ fresh, all }) => fresh === true && all === true).length).toBeGreaterThan(2);
    expect(stage.looks.slice(2).every(({ fresh, all }) => fresh === true && all === true)).toBe(true);
    expect(stage.progress).toContainEqual(expect.objectContaining({ type: 'signal', signal: 'SIGTERM' }));
  });

  it('is left where it became protected since', async () => {
    const stage = stageOf().put(invent(2000, 1));
    const plan = await ending(stage);
    stage.put(invent(2000, 1, { protection: 'hard', protectedBecause: 'it is a shell' }));
    const done = await stage.execute(plan);
    expect(stage.system.sent).toEqual([]);
    expect(done.outcomes).toMatchObject([{ outcome: 'refused', why: expect.stringContaining('a shell') }]);
  });

  it.each([
    ['of the engine', { graceMs: 2000 }, {}, 2000, 4800],
    ['that was asked for', { graceMs: 9000 }, { graceMs: 100 }, 100, 8000],
  ])('has the grace %s to end before it is killed', async (_, own, asked, least, most) => {
    const stage = stageOf(own);
    const killed = (): void => {
      if (stage.system.sent.includes('2000 SIGKILL')) stage.system.remove(2000);
    };
    const plan = await ending(stage.put(invent(2000, 1), killed));
    const begun = performance.now();
    const done = await stage.execute(plan, asked);
    const waited = performance.now() - begun;
    expect(stage.system.sent).toEqual(['2000 SIGTERM', '2000 SIGKILL']);
    expect(done.outcomes).toMatchObject([{ outcome: 'killed' }]);
    expect(waited).toBeGreaterThanOrEqual(least);
    expect(waited).toBeLessThan(most);
    expect(done.durationMs).toBeGreaterThanOrEqual(least);
    expect(done.durationMs).toBeLessThan(most);
  });
});
