import { handPolicy, leakPolicy, planClean, planEnd, planSignal, planZombies } from '../judge/plan/index.ts';
import { confirmedBy } from '../judge/rules/confirm.ts';
import type { Lineage } from '../judge/rules/lineage.ts';
import type { ActRequest } from '../model/act-request.ts';
import type { Config } from '../model/config.ts';
import type { Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';

export interface PlannerInput {
  readonly request: Exclude<ActRequest, { act: 'fix' }>;
  /** The snapshot the user was looking at. */
  readonly shown: Snapshot;
  /** A fresh one with every process in it. */
  readonly fresh: Snapshot;
  readonly lineage: Lineage;
  readonly config: Config;
}

/** What the TUI's acting keys would do; the same planners that every command uses. */
export const planRequest = ({ request, shown, fresh, lineage, config }: PlannerInput): Plan => {
  const ground = { snapshot: fresh, lineageMembers: (target: string) => lineage.membersOf(target) };
  switch (request.act) {
    case 'end':
      return planEnd({
        ...ground,
        targets: request.targets,
        policy: handPolicy(request.force ? 'SIGKILL' : 'SIGTERM'),
      });
    case 'clean':
      return planClean({ ...ground, snapshot: confirmedBy(shown, fresh), policy: leakPolicy('tui') });
    case 'zombies':
      return planZombies({
        ...ground,
        by: 'tui',
        minimumAgeSeconds: config.thresholds.zombie.minimumAgeSeconds,
        quietSeconds: config.thresholds.zombie.quietSeconds,
      });
    case 'signal':
      return planSignal({ snapshot: fresh, targets: request.targets, signal: request.signal });
  }
};
