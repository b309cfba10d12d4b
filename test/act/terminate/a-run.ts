import { takeCensus } from '../../../src/act/terminate/census.ts';
import { type Progress, type TerminateRun, type Tracked, track } from '../../../src/act/terminate/tracked.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { Step } from '../../../src/model/plan.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { FakeSystem, planOf } from '../fake-system.ts';

/** A run that has begun on a machine as it is now, and what it tells of itself. */
export const runOn = async (
  machine: FakeSystem,
  part: Partial<TerminateRun> = {},
  resample?: () => Promise<Snapshot>,
): Promise<TerminateRun & { readonly progress: Progress[] }> => {
  const progress: Progress[] = [];
  const startedAt = machine.clock.now();
  return {
    system: machine,
    clock: machine.clock,
    startedAt,
    graceMs: 8000,
    alone: false,
    holds: false,
    deadlineAt: startedAt + 60_000,
    abort: undefined,
    before: await takeCensus(machine, resample),
    tracked: new Map(),
    byPid: new Map(),
    links: new Map(),
    spared: new Set(),
    warnings: [],
    onProgress: event => progress.push(event),
    progress,
    ...part,
  };
};

/** One of the run's processes becomes a member of its plan. */
export const follow = (
  run: TerminateRun,
  pid: number,
  part: Partial<Tracked> = {},
  step: Partial<Step> = {},
): Tracked => {
  const facts = run.before.byPid.get(pid)!.facts;
  const identity = { pid, start: facts.start };
  const [planned] = planOf([{ ...identity, ...step }]).steps;
  const tracked = Object.assign(track(run, planned!, part.facts ?? facts), part);
  run.tracked.set(keyOf(identity), tracked);
  return tracked;
};

/** The clock of the machine, with something happening once that much time has passed. */
export const clockWith = (machine: FakeSystem, ms: number, event: () => void): TerminateRun['clock'] => {
  const at = machine.clock.now() + ms;
  let due = true;
  return {
    now: machine.clock.now,
    wait: async (time, signal) => {
      await machine.clock.wait(time, signal);
      if (due && machine.clock.now() >= at) {
        due = false;
        event();
      }
    },
  };
};

/** A machine that counts how often it is looked at. */
export const countedMachine = (): { readonly machine: FakeSystem; readonly looks: () => number } => {
  const machine = new FakeSystem();
  const look = machine.sample.bind(machine);
  let looks = 0;
  machine.sample = () => {
    looks += 1;
    return look();
  };
  return { machine, looks: () => looks };
};
