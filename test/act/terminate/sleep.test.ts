import { expect, it } from 'vitest';
import { terminate } from '../../../src/act/terminate/terminate.ts';
import { planSleep } from '../../../src/judge/plan/sleep.ts';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { claude, server } from '../../judge/plan/idle-session.ts';
import { id, machine, noLineage } from '../../judge/plan/machine.ts';
import { FakeSystem } from '../fake-system.ts';

/** Suspect, so that not even its being live speaks against an end. */
const AGENT = claude({ verdict: 'suspect' });

const asleep = async (deaf: boolean, later: readonly JudgedProcess[] | null) => {
  const system = new FakeSystem();
  system.add(1000, 800, { comm: 'claude' }, deaf ? () => {} : undefined);
  system.add(1001, 1000);
  const plan = planSleep({
    snapshot: machine(AGENT, server()),
    lineageMembers: noLineage,
    by: 'sleep',
    targets: [id(1000)],
    minimumIdleSeconds: 0,
  });
  expect(plan.steps.length).toBe(1);
  const resample = later === null ? {} : { resample: async (): Promise<Snapshot> => machine(...later) };
  const { outcomes } = await terminate({ system, plan, clock: system.clock, graceMs: 10_000, ...resample });
  return { sent: system.sent, outcomes: outcomes.map(({ outcome }) => outcome) };
};

it('a session gets SIGTERM and nothing else, and what is below it gets nothing', async () => {
  expect(await asleep(false, [AGENT, server()])).toEqual({ sent: ['1000 SIGTERM'], outcomes: ['ended'] });
});

it('one that ignores it is never killed', async () => {
  expect(await asleep(true, [AGENT, server()])).toEqual({ sent: ['1000 SIGTERM'], outcomes: ['survived'] });
});

it('one that works by now gets nothing', async () => {
  const busy = claude({ verdict: 'suspect', session: { ...AGENT.session!, doing: 'busy' } });
  expect(await asleep(false, [busy, server()])).toEqual({ sent: [], outcomes: ['refused'] });
});

it('one that cannot be judged again gets nothing', async () => {
  expect(await asleep(false, null)).toEqual({ sent: [], outcomes: ['refused'] });
});
