import { type Performed, perform } from '../act/perform.ts';
import { type TerminateResult, terminate } from '../act/terminate/terminate.ts';
import { endZombies } from '../act/zombies/nudge.ts';
import type { Collector } from '../collect/collector.ts';
import { weigh } from '../collect/weigh.ts';
import type { Config } from '../model/config.ts';
import type { System } from '../observe/system.ts';
import type { Ending, GuardAct } from './policy.ts';

export interface ActingGround {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly graceMs: number;
  readonly abort: AbortSignal;
  readonly directory: string | null;
  readonly boot: string | null;
}

const WHY = {
  leaks: 'policy: proven leaks',
  zombieServers: 'policy: servers that do not reap their children',
  overMemory: 'policy: agents over the memory limit, after a warning',
  idleAgents: 'policy: agents idle too long, after a warning',
  builds: 'policy: newer builds of a project with too many',
} as const satisfies Record<Ending, string>;

/** One act of the policy, the way every act goes: lock, intent, judged anew, signals, outcomes. */
export const carryOut = async (
  { what, plan: light }: GuardAct,
  ground: ActingGround,
): Promise<Performed<TerminateResult>> => {
  const { collector, system, config, graceMs, abort, directory, boot } = ground;
  const plan = await weigh(light, system);
  const common = {
    system,
    plan,
    graceMs,
    signal: abort,
    snapshotAgain: () => collector.collect({ all: true, fresh: true }),
  };
  return perform({
    system,
    by: 'guard',
    why: WHY[what],
    plan,
    boot,
    directory,
    run: () =>
      what === 'zombieServers'
        ? endZombies({ ...common, quietSeconds: config.thresholds.zombie.quietSeconds })
        : terminate(common),
  });
};
