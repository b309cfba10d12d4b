import { describe, expect, test } from 'vitest';
import { allowedSweep, SweepSightings } from '../../src/guard/sweep-policy.ts';
import type { JudgedFiles } from '../../src/judge/heartbeats/judge-files.ts';
import type { FileAct, SweepPlan } from '../../src/judge/plan/sweep-plan.ts';
import type { GuardPolicy } from '../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { EMPTY_PLAN } from '../../src/model/plan.ts';
import { planOf } from '../act/fake-system.ts';

const act = (kind: FileAct['act'], path: string, agent: string | null = null): FileAct => ({
  act: kind,
  path,
  to: null,
  toWithin: null,
  root: '/work',
  bytes: 100,
  why: '',
  agent,
  seen: { mtimeMs: 0, size: 100, file: '1:1', directory: '1:2' },
});

const STALE = act('remove', '/work/.diagnostic-lock');
const OLD = act('expire', '/work/archive/old');
const LEFT = act('archive', '/work/findings');
const OWN = act('archive', '/work/a-1.jsonl', 'a-1');

const PLAN: SweepPlan = {
  ending: {
    ...planOf([
      { pid: 10, start: 's10' },
      { pid: 20, start: 's20' },
    ]),
    bytes: 99,
  },
  sessions: [
    { socket: '/s', session: '$1', name: 'agent_a-1', agent: 'a-1', processes: ['10:s10'], why: '' },
  ] as unknown as SweepPlan['sessions'],
  files: [STALE, OLD, LEFT, OWN],
  refused: [],
  archivedBytes: 0,
  freedBytes: 0,
};

const sweep = (
  part: Partial<GuardPolicy> = {},
  quietSeconds: number | null = 600,
  plannedSeconds = 30,
  plan = PLAN,
): SweepPlan => {
  const files = { orchestrated: [{ id: 'a-1', quietSeconds }] } as unknown as JudgedFiles;
  const policy = { ...DEFAULT_CONFIG.policy, ...part };
  return allowedSweep(plan, { files }, policy, (_, seconds) => plannedSeconds >= seconds);
};

describe('guard sweeps', () => {
  test('everything that is planned, with its bytes, where the policy has both', () => {
    const { files, sessions, ending, archivedBytes, freedBytes } = sweep();
    expect(files).toEqual([STALE, OLD, LEFT, OWN]);
    expect(sessions).toHaveLength(1);
    // The other process is of no session that is swept.
    expect(ending.steps.map(step => step.pid)).toEqual([10]);
    expect(ending.bytes).toBe(ending.steps[0]!.rss);
    expect([archivedBytes, freedBytes]).toEqual([200, 200]);
  });

  test('with staleFiles alone only stale locks, markers and guards', () => {
    const { files, sessions, ending } = sweep({ sweep: false });
    expect(files).toEqual([STALE]);
    expect([sessions, ending]).toEqual([[], EMPTY_PLAN]);
  });

  test('with sweep alone no stale file', () =>
    expect(sweep({ staleFiles: false }).files).toEqual([OLD, LEFT, OWN]));

  test('no agent that finished less than terminalSeconds ago', () => {
    const { files, sessions, ending } = sweep({}, 599);
    expect(files).toEqual([STALE, OLD, LEFT]);
    expect([sessions, ending]).toEqual([[], EMPTY_PLAN]);
  });

  test('no agent that the files do not show at all', () => {
    const strangers = { ...PLAN, files: [{ ...OWN, agent: 'a-2' }], sessions: [] };
    expect(sweep({}, 600, 30, strangers).files).toEqual([]);
  });

  test('an agent without a file of its own only when it was seen finished for terminalSeconds', () => {
    expect(sweep({}, null, 599).sessions).toEqual([]);
    expect(sweep({}, null, 600).sessions).toHaveLength(1);
  });

  test('nothing that was not planned for sightingSeconds', () => {
    const { files, sessions } = sweep({}, 600, 29);
    expect([files, sessions]).toEqual([[], []]);
  });
});

describe('what was planned', () => {
  test('counts from the first plan of an unbroken line', () => {
    const seen = new SweepSightings();
    const isConfirmed = (at: number): boolean => seen.isConfirmed(STALE.path, 30, at);
    expect(isConfirmed(30)).toBe(false);
    seen.note(PLAN, 0);
    seen.note(PLAN, 20);
    expect([isConfirmed(29), isConfirmed(30)]).toEqual([false, true]);
    seen.note({ ...PLAN, files: [] }, 40);
    seen.note(PLAN, 50);
    expect([isConfirmed(79), isConfirmed(80)]).toEqual([false, true]);
    seen.forget();
    expect(isConfirmed(1000)).toBe(false);
  });

  test('an agent counts by its session as by its files', () => {
    const seen = new SweepSightings();
    seen.note({ ...PLAN, files: [OWN], sessions: [] }, 0);
    seen.note({ ...PLAN, files: [] }, 10);
    expect(seen.isConfirmed('agent a-1', 30, 30)).toBe(true);
    expect(seen.isConfirmed(OWN.path, 0, 30)).toBe(false);
  });
});
