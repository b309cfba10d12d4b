import { keyOf } from '../../model/identity.ts';
import type { Plan } from '../../model/plan.ts';
import type { SweepPlan } from './sweep-plan.ts';

/** What is left of a plan after a second look, and why the rest is not done. */
export interface SecondLook {
  /** By agent: nothing of it is touched. */
  readonly agents: ReadonlyMap<string, string>;
  /** By path, for files that belong to no agent. */
  readonly files: ReadonlyMap<string, string>;
  readonly ending: Plan;
  /** The agent of every process that is to end. */
  readonly owners: ReadonlyMap<string, string>;
}

const sessionKey = ({ socket, sessionId, session }: SweepPlan['sessions'][number]): string =>
  `${socket} ${sessionId} ${session}`;

/**
 * A plan was made a while ago, and a person may have read it since. Only what would be planned again is
 * done: whatever spoke against an act then speaks against it now, by the same rules.
 */
export const secondLook = (plan: SweepPlan, fresh: SweepPlan): SecondLook => {
  const agents = new Map<string, string>();
  const leave = (agent: string, why: string): void => {
    const told = fresh.refused.find(({ what }) => what === `agent ${agent}`)?.why;
    if (!agents.has(agent)) agents.set(agent, told ?? why);
  };
  const sessions = new Set(fresh.sessions.map(sessionKey));
  for (const act of plan.sessions)
    if (!sessions.has(sessionKey(act))) leave(act.agent, `${act.session} is not the session it was`);
  const paths = new Set(fresh.files.map(act => act.path));
  const files = new Map<string, string>();
  for (const { path, agent } of plan.files) {
    if (paths.has(path)) continue;
    if (agent !== null) leave(agent, `${path} changed after the plan was made`);
    else files.set(path, 'it is no longer what was planned for');
  }
  const owners = new Map(plan.sessions.flatMap(act => act.processes.map(key => [key, act.agent] as const)));
  const known = new Set(plan.ending.steps.map(step => keyOf(step)));
  for (const act of fresh.sessions)
    if (act.processes.some(key => !known.has(key)))
      leave(act.agent, `something started in ${act.session} after the plan was made`);
  const steps = plan.ending.steps.filter(step => !agents.has(owners.get(keyOf(step)) ?? ''));
  return { agents, files, owners, ending: { ...plan.ending, steps } };
};
