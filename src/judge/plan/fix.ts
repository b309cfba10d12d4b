import { formatOf } from '../../agents/files/formats.ts';
import type { Config } from '../../model/config.ts';
import { type Finding, type FindingAction, type FindingId, sameFinding } from '../../model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import {
  EMPTY_PLAN,
  type EndPolicy,
  type FixWay,
  type OtherStep,
  type Plan,
  type Refusal,
} from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, VERDICTS } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import {
  buildsByProject,
  chooseOne,
  duplicateServers,
  type Keep,
  type Siblings,
  withWrappers,
} from '../duplicates.ts';
import {
  type ExtraReason,
  handPolicy,
  leakPolicy,
  type PlanContext,
  type PlanInput,
  planContext,
  refusalFor,
} from './compose.ts';
import { planEndOn, planSignal } from './end.ts';
import { planFreeCall } from './free-call.ts';
import { memberReason } from './refuse.ts';
import { planSleep } from './sleep.ts';
import { fileAct, planSweep } from './sweep.ts';
import {
  asPlan,
  type FileAct,
  type SweepPlan,
  type SweepRefusal,
  type SweepRequest,
  sweepBytes,
} from './sweep-plan.ts';
import { planZombies } from './zombies.ts';

export interface FixRequest extends PlanInput {
  /** As the user read it. */
  readonly finding: Finding;
  readonly config: Config;
  /** Of a remedy that has two. */
  readonly way?: FixWay | undefined;
}

/** The same finding in the snapshot that is planned from, and what is known around it. */
interface Fixing extends FixRequest {
  readonly now: Finding;
  readonly context: PlanContext;
}

type Fix = (fixing: Fixing) => Plan;

/** Remedies that are plans of processes; what is done to files and sessions is planned by `sweep`. */
const PROCESS_ACTIONS = [
  'clean',
  'zombies',
  'end',
  'continue',
  'stop-session',
  'free-call',
  'sleep',
] as const;
type ProcessAction = (typeof PROCESS_ACTIONS)[number] & FindingAction;

/** One key and `y` are less than a typed pid: what asks for that, and where a user may work, is left to `x`. */
const UNGUARDED: EndPolicy = { ...handPolicy(), verdicts: VERDICTS, allowSoft: false };
const guarded = (p: JudgedProcess): string | null => {
  const why = memberReason(p, UNGUARDED);
  return why === null ? null : `${why}; x may end it`;
};

const endAll = (targets: readonly Identity[], { context }: Fixing): Plan =>
  planEndOn(context, { targets, policy: handPolicy() }, guarded);

/** The one that the finding is about comes first; what else it names is below it, and goes or stays with it. */
const endFirst: Fix = fixing => endAll(fixing.now.processes.slice(0, 1), fixing);

/** A marker may belong to any of several agents: then ending one would be a guess. */
const endOnlyOne: Fix = fixing => {
  const { processes } = fixing.now;
  if (processes.length < 2) return endAll(processes, fixing);
  const why = `which of ${processes.length} agents it belongs to is not known; x ends one of them`;
  return refuseAll(processes, why, fixing.context);
};

const siblings = ({ context, now }: Fixing): SiblingRequest => ({
  ...context,
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
  clean: ({ finding, context }) => {
    const leaked = leakedAmong(finding.processes, context);
    return planEndOn(context, { targets: leaked, policy: leakPolicy('tui') });
  },
  zombies: ({ context, now, config }) =>
    planZombies({
      ...context,
      by: 'tui',
      targets: now.processes,
      minimumAgeSeconds: config.thresholds.zombie.minimumAgeSeconds,
      quietSeconds: config.thresholds.zombie.quietSeconds,
    }),
  end: fixing => (ENDS[fixing.now.id] ?? endFirst)(fixing),
  continue: ({ context, now }) =>
    planSignal({ snapshot: context.snapshot, targets: now.processes, signal: 'SIGCONT' }),
  'stop-session': ({ context, now }) => {
    const [agent] = now.processes.flatMap(one => context.family.byKey.get(keyOf(one)) ?? []);
    if (agent?.job == null) return refuseAll(now.processes, 'its job is not known any more', context);
    const why = `${label(agent)} is a background session: its supervisor stops it`;
    return { ...EMPTY_PLAN, otherSteps: [{ act: 'claude-stop', target: agent.job, why }] };
  },
  'free-call': ({ context, now, way }) =>
    planFreeCall({ finding: now, context, way, policy: handPolicy(), extraReason: guarded }),
  /** `end` is the other way, of a session that has no way back. */
  sleep: fixing => {
    if (fixing.way === 'end') return { ...endFirst(fixing), otherWay: 'sleep' };
    const { context, now } = fixing;
    const plan = planSleep({ ...context, by: 'tui', targets: now.processes, minimumIdleSeconds: 0 });
    return { ...plan, otherWay: 'end' };
  },
} satisfies Record<ProcessAction, Fix>;

/** The topmost of the leaks: each is taken whole or left whole. */
const leakedAmong = (targets: readonly Identity[], { family }: PlanContext): readonly Identity[] => {
  const leaked = new Map<IdentityKey, JudgedProcess>();
  for (const target of targets) {
    const p = family.byKey.get(keyOf(target));
    if (p?.verdict === 'leak' && !isZombie(p.facts)) leaked.set(keyOf(target), p);
  }
  return [...leaked.values()]
    .filter(p => !family.ancestorsOf(p).some(up => leaked.has(keyOf(up.facts))))
    .map(({ facts: { pid, start } }) => ({ pid, start }));
};

const refuseAll = (targets: readonly Identity[], why: string, { family }: PlanContext): Plan => ({
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
  const context = planContext(request);
  const now = sameFinding(request.finding, request.snapshot.findings);
  if (now === undefined) return refuseAll(request.finding.processes, 'it is already resolved', context);
  if (!isProcessAction(now.action)) return refuseAll(now.processes, now.remedy, context);
  return FIXES[now.action]({ ...request, now, context });
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
    return [`${label(p)} may not be signalled any more: ${told?.why ?? 'it is already resolved'}`];
  });
  const others = (plan.otherSteps ?? [])
    .filter(({ act, target }) => !fresh.otherSteps?.some(one => one.act === act && one.target === target))
    .map(({ target }) => `${target}: ${fresh.refused[0]?.why ?? 'it is already resolved'}`);
  return [...steps, ...others];
};

/**
 * A stale lock is held by no process, so removing it takes nothing away. `sweep` leaves the locks
 * of live agents to them; who asks for this one in person reads whose it is.
 */
const staleLocks = (request: SweepRequest, { files }: Finding): FileAct[] =>
  request.files.joined.flatMap(({ reading, state, agent, candidates, ageSeconds }) => {
    if (formatOf(reading).thresholds !== 'lock-stale' || state !== 'warn' || candidates.length === 0)
      return [];
    if (!files.includes(reading.path) || request.facts.growing.has(reading.path)) return [];
    const whose = agent === null ? 'an agent that lives' : `${agent.name} (${agent.facts.pid}), which lives`;
    const why = `${formatAge(ageSeconds)} old; it belongs to ${whose}`;
    const act = fileAct(reading, request.facts, { why, agent: null });
    return act === null ? [] : [act];
  });

/** A heartbeat that no agent is left to write: it is archived, as that of a finished agent is. */
const staleBeats = (request: SweepRequest, { files }: Finding): FileAct[] =>
  request.files.joined.flatMap(({ reading, state, candidates, ageSeconds }) => {
    if (formatOf(reading).thresholds !== 'heartbeat-stale' || state !== 'critical') return [];
    if (candidates.length > 0 || !files.includes(reading.path) || request.facts.growing.has(reading.path))
      return [];
    const why = `no agent is left to write it; last written ${formatAge(ageSeconds)} ago`;
    const act = fileAct(reading, request.facts, { why, agent: null });
    return act === null ? [] : [act];
  });

/** The part of a sweep that is about one finding: its files, and the sessions of the agents they belong to. Pure. */
export const planFixFiles = (request: SweepRequest, finding: Finding): SweepPlan => {
  const whole = planSweep(request);
  const wanted = new Set(finding.files);
  const members = new Set(finding.processes.map(keyOf));
  const files = [
    ...whole.files.filter(act => wanted.has(act.path) && act.act !== 'expire'),
    ...staleLocks(request, finding),
    ...(finding.id === 'heartbeat-stale' ? staleBeats(request, finding) : []),
  ];
  const agents = new Set(files.map(act => act.agent));
  // The files of an agent are touched only after its session has ended, so its session comes with them.
  const sessions = whole.sessions.filter(
    session => agents.has(session.agent) || session.processes.some(key => members.has(key)),
  );
  const ended = new Set(sessions.flatMap(session => session.processes));
  const steps = whole.ending.steps.filter(step => ended.has(keyOf(step)));
  const bytes = steps.reduce((sum, step) => sum + step.rss, 0);
  const ending = steps.length === 0 ? EMPTY_PLAN : { ...whole.ending, steps, refused: [], bytes };
  return {
    ending,
    sessions,
    files,
    refused: refusedOf(whole, files, request, finding),
    ...sweepBytes(files),
  };
};

/** Why something that the finding names is not in the plan. */
const refusedOf = (
  { refused }: SweepPlan,
  files: readonly FileAct[],
  { files: { joined, orchestrated } }: SweepRequest,
  finding: Finding,
): readonly SweepRefusal[] => {
  const taken = new Set(files.map(act => act.path));
  const agentOf = new Map(joined.map(({ reading }) => [reading.path, reading.agentId]));
  const mine = new Set(
    orchestrated
      .filter(agent => agent.files.some(({ reading }) => finding.files.includes(reading.path)))
      .map(agent => `agent ${agent.id}`),
  );
  const told = refused.filter(({ what }) => mine.has(what) || finding.files.includes(what));
  const explained = new Set(told.map(({ what }) => what));
  const rest = finding.files.filter(
    path => !taken.has(path) && !explained.has(path) && !explained.has(`agent ${agentOf.get(path)}`),
  );
  return [...told, ...rest.map(what => ({ what, why: 'it changed, is gone, or is still needed' }))];
};

/** The same for the eye: what is signalled, then the sessions, then the files. */
export const shownFixFiles = (plan: SweepPlan): Plan => ({
  ...asPlan(plan),
  otherSteps: [
    ...plan.sessions.map(({ session, why }): OtherStep => ({ act: 'end-session', target: session, why })),
    ...plan.files.map(({ act, path, why }): OtherStep => ({ act, target: path, why })),
  ],
  leftAlone: plan.refused,
});

export interface SiblingRequest extends PlanInput {
  readonly policy: EndPolicy;
  /** Only groups with one of these among them; without it, all. */
  readonly about?: ReadonlySet<IdentityKey> | undefined;
  readonly extraReason?: ExtraReason | undefined;
}

const isAbout = ({ members }: Siblings, { about }: SiblingRequest): boolean =>
  about === undefined || members.some(p => about.has(keyOf(p.facts)));

/** The same server twice for one process: all but the newest. */
export const planDuplicates = (request: SiblingRequest): Plan => {
  const context = planContext(request);
  const found = duplicateServers(context.snapshot.processes, context.family).filter(one =>
    isAbout(one, request),
  );
  return planAllButOne(found, 'newest', request, context, p => withWrappers(p, context.family));
};

/** Several `lake build` in one project: all but the oldest, or all but so many of the oldest. */
export const planBuilds = (request: SiblingRequest & { readonly keep?: number }): Plan => {
  const context = planContext(request);
  const found = buildsByProject(context.snapshot.processes, context.family).filter(one =>
    isAbout(one, request),
  );
  const crowded = found.flatMap(siblings => withoutOldest(siblings, Math.max(1, request.keep ?? 1) - 1));
  return planAllButOne(crowded, 'oldest', request, context, p => p);
};

/** The same siblings without so many of the oldest; none when no more are left than may stay. */
const withoutOldest = (siblings: Siblings, count: number): readonly Siblings[] => {
  if (count === 0) return [siblings];
  const births = siblings.members.map(p => p.facts.born);
  // A tie at the border, or an unknown age: which are the oldest is not known, and all of them stay.
  const told = !births.includes(null) && births[count - 1] !== births[count];
  return told ? [{ ...siblings, members: siblings.members.slice(count) }] : [];
};

const planAllButOne = (
  found: readonly Siblings[],
  keep: Keep,
  { policy, extraReason }: SiblingRequest,
  context: PlanContext,
  whole: (p: JudgedProcess) => JudgedProcess,
): Plan => {
  const targets: JudgedProcess[] = [];
  const untold: Refusal[] = [];
  for (const siblings of found) {
    const choice = chooseOne(siblings, keep);
    const { length } = siblings.members;
    if (choice !== null) targets.push(...choice.others.map(whole));
    else
      untold.push(
        ...siblings.members.map(p => refusalFor(p, `it is not known which of ${length} is the ${keep}`)),
      );
  }
  const plan = planEndOn(context, { targets: targets.map(identityOf), policy }, extraReason);
  return { ...plan, refused: [...plan.refused, ...untold] };
};
