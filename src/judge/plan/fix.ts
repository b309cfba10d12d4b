import type { Config } from '../../model/config.ts';
import { type Finding, type FindingAction, type FindingId, sameFinding } from '../../model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { EMPTY_PLAN, type Plan } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { type JudgedProcess, type Snapshot, VERDICTS } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import { type Ground, groundOf, type PlanGround } from './branches.ts';
import { planEndOn } from './end.ts';
import { type EndPolicy, handPolicy, leakPolicy } from './policy.ts';
import { memberReason } from './refuse.ts';
import { planBuilds, planDuplicates, type SiblingRequest } from './siblings.ts';
import { planSignal } from './signal.ts';
import { planZombies } from './zombies.ts';

export interface FixRequest extends PlanGround {
  /** As the user read it. */
  readonly finding: Finding;
  readonly config: Config;
}

/** The same finding in the snapshot that is planned from, and what is known around it. */
interface Fixing extends FixRequest {
  readonly now: Finding;
  readonly ground: Ground;
}

type Fix = (fixing: Fixing) => Plan;

/** Remedies that are plans of processes; what is done to files and sessions is planned by `sweep`. */
const PROCESS_ACTIONS = ['clean', 'zombies', 'end', 'continue', 'stop-session'] as const;
type ProcessAction = (typeof PROCESS_ACTIONS)[number] & FindingAction;

/** One key and `y` are less than a typed pid: what asks for that, and where somebody may work, is left to `x`. */
const UNGUARDED: EndPolicy = { ...handPolicy(), verdicts: VERDICTS, allowSoft: false };
const guarded = (p: JudgedProcess): string | null => {
  const why = memberReason(p, UNGUARDED);
  return why === null ? null : `${why}; x may end it`;
};

const endAll = (targets: readonly Identity[], { ground }: Fixing): Plan =>
  planEndOn(ground, { targets, policy: handPolicy() }, guarded);

/** The one that the finding is about comes first; what else it names is below it, and goes or stays with it. */
const endFirst: Fix = fixing => endAll(fixing.now.processes.slice(0, 1), fixing);

/** A marker may belong to any of several agents: then ending one is a guess, and nobody's. */
const endOnlyOne: Fix = fixing => {
  const { processes } = fixing.now;
  if (processes.length < 2) return endAll(processes, fixing);
  const why = `which of ${processes.length} agents it belongs to is not known; x ends one of them`;
  return refuseAll(processes, why, fixing.ground);
};

const siblings = ({ ground, now }: Fixing): SiblingRequest => ({
  ...ground,
  policy: handPolicy(),
  about: new Set(now.processes.map(keyOf)),
  extraReason: guarded,
});

/** What `end` means where it is not simply the first of the processes. */
const ENDS: Readonly<Partial<Record<FindingId, Fix>>> = {
  'duplicate-server': fixing => planDuplicates(siblings(fixing)),
  'concurrent-builds': fixing => planBuilds(siblings(fixing)),
  'marker-age': endOnlyOne,
};

const FIXES = {
  /** Only what was in the finding, though more may have leaked since, and by the rules of `c`. */
  clean: ({ finding, ground }) => {
    const leaked = leakedAmong(finding.processes, ground);
    return planEndOn(ground, { targets: leaked, policy: leakPolicy('tui') });
  },
  zombies: ({ ground, now, config }) =>
    planZombies({
      ...ground,
      by: 'tui',
      targets: now.processes,
      minimumAgeSeconds: config.thresholds.zombie.minimumAgeSeconds,
      quietSeconds: config.thresholds.zombie.quietSeconds,
    }),
  end: fixing => (ENDS[fixing.now.id] ?? endFirst)(fixing),
  continue: ({ ground, now }) =>
    planSignal({ snapshot: ground.snapshot, targets: now.processes, signal: 'SIGCONT' }),
  'stop-session': ({ ground, now }) => {
    const [agent] = now.processes.flatMap(one => ground.family.byKey.get(keyOf(one)) ?? []);
    if (agent?.job == null) return refuseAll(now.processes, 'its job is not known any more', ground);
    const why = `${calls(agent)} is a background session: its supervisor stops it`;
    return { ...EMPTY_PLAN, chores: [{ act: 'claude-stop', target: agent.job, why }] };
  },
} satisfies Record<ProcessAction, Fix>;

/** The topmost of the leaks: each is taken whole or left whole. */
const leakedAmong = (targets: readonly Identity[], { family }: Ground): readonly Identity[] => {
  const leaked = new Map<IdentityKey, JudgedProcess>();
  for (const target of targets) {
    const p = family.byKey.get(keyOf(target));
    if (p?.verdict === 'leak' && !isZombie(p.facts)) leaked.set(keyOf(target), p);
  }
  return [...leaked.values()]
    .filter(p => !family.ancestorsOf(p).some(up => leaked.has(keyOf(up.facts))))
    .map(({ facts: { pid, start } }) => ({ pid, start }));
};

const refuseAll = (targets: readonly Identity[], why: string, { family }: Ground): Plan => ({
  ...EMPTY_PLAN,
  refused: targets.map(({ pid, start }) => ({
    pid,
    start,
    name: family.byKey.get(keyOf({ pid, start }))?.name ?? '?',
    why,
  })),
});

const isProcessAction = (action: FindingAction | null): action is ProcessAction =>
  PROCESS_ACTIONS.some(one => one === action);

/** What mends a finding, from a snapshot in which it must still be so. */
export const planFix = (request: FixRequest): Plan => {
  const ground = groundOf(request);
  const now = sameFinding(request.finding, request.snapshot.findings);
  if (now === undefined) return refuseAll(request.finding.processes, 'this is no longer so', ground);
  if (!isProcessAction(now.action)) return refuseAll(now.processes, now.remedy, ground);
  return FIXES[now.action]({ ...request, now, ground });
};

/** Plans that are dropped step by step, by the rules of their policy, need no second reading. */
const DROPPED_BY_STEP: ReadonlySet<FindingAction | null> = new Set(['clean', 'zombies']);

/**
 * What speaks against carrying out a plan that was read a while ago: it would not be made again. The finding may be
 * over, the idle agent may have begun to work, another build may be the oldest by now.
 */
export const whyNotFixedAgain = (
  plan: Plan,
  fresh: Plan,
  action: FindingAction | null,
  snapshot: Snapshot,
): readonly string[] => {
  if (DROPPED_BY_STEP.has(action)) return [];
  const planned = new Set(fresh.steps.map(keyOf));
  const there = new Map(snapshot.processes.map(p => [keyOf(p.facts), p]));
  const steps = plan.steps.flatMap(step => {
    const p = there.get(keyOf(step));
    if (p === undefined || isZombie(p.facts) || planned.has(keyOf(step))) return [];
    const told = fresh.refused.find(one => keyOf(one) === keyOf(step)) ?? fresh.refused[0];
    return [`${calls(p)} may not be signalled any more: ${told?.why ?? 'this is no longer so'}`];
  });
  const chores = (plan.chores ?? [])
    .filter(({ act, target }) => !fresh.chores?.some(one => one.act === act && one.target === target))
    .map(({ target }) => `${target}: ${fresh.refused[0]?.why ?? 'this is no longer so'}`);
  return [...steps, ...chores];
};
