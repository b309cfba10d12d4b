import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import {
  type AskedBy,
  ENDING_SIGNALS,
  type EndPolicy,
  PART_OF,
  type Plan,
  type Refusal,
  type SignalName,
  type Step,
} from '../../model/plan.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, VERDICTS } from '../../model/snapshot.ts';
import { adopts } from '../rules/climb.ts';
import { memberReason, neverReason, type PlanFamily, planFamily } from './refuse.ts';

/** What every planner starts from. */
export interface PlanInput {
  /** Judged with every process in it, not only the related ones. */
  readonly snapshot: Snapshot;
  /** Living identities once seen below this one that may since have been reparented. */
  readonly lineageMembers: (target: IdentityKey) => readonly IdentityKey[];
}

export interface PlanContext extends PlanInput {
  readonly family: PlanFamily;
}

export const planContext = (input: PlanInput): PlanContext => ({
  snapshot: input.snapshot,
  lineageMembers: input.lineageMembers,
  family: planFamily(input.snapshot),
});

/** A subtree that is either taken whole or left whole. */
export type EndableTree =
  | { readonly taken: true; readonly members: readonly JudgedProcess[] }
  | { readonly taken: false; readonly why: string };

export type ExtraReason = (member: JudgedProcess) => string | null;

/** Judges a whole subtree: one process in it that must stay keeps all of it. Zombies are passed over. */
export const endableTree = (
  root: JudgedProcess,
  context: PlanContext,
  policy: EndPolicy,
  extraReason: ExtraReason = () => null,
): EndableTree => {
  const subtree = context.family.subtreeOf(root);
  const kept: { readonly p: JudgedProcess; readonly why: string }[] = [];
  for (const p of subtree) {
    if (isZombie(p.facts)) continue;
    const why = neverReason(p, context.snapshot, context.family) ?? memberReason(p, policy) ?? extraReason(p);
    if (why !== null) kept.push({ p, why });
  }
  const [first, ...others] = kept;
  if (first === undefined) return { taken: true, members: subtree.filter(p => !isZombie(p.facts)) };
  if (first.p === root) return { taken: false, why: first.why };
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return {
    taken: false,
    why: `the whole subtree stays, because ${label(first.p)} is in it: ${first.why}${more}`,
  };
};

/** A process that has left the target's subtree since the ledger saw it there. */
export type LineageBranch =
  | { readonly root: JudgedProcess; readonly adopted: true }
  | { readonly root: JudgedProcess; readonly adopted: false; readonly why: string };

/** The topmost reparented members of a target: what is still in its subtree needs no lineage. */
export const lineageBranchesOf = (target: JudgedProcess, context: PlanContext): readonly LineageBranch[] => {
  const { family, snapshot } = context;
  const inside = new Set(family.subtreeOf(target));
  const members = new Set<JudgedProcess>();
  for (const key of context.lineageMembers(keyOf(target.facts))) {
    const p = family.byKey.get(key);
    if (p !== undefined && !inside.has(p) && !isZombie(p.facts)) members.add(p);
  }
  const branches: LineageBranch[] = [];
  for (const root of members) {
    const parent = family.parentOf(root);
    if (parent !== null && members.has(parent)) continue;
    if (isAdopted(root, parent, snapshot)) branches.push({ root, adopted: true });
    else
      branches.push({
        root,
        adopted: false,
        why: `it once ran below ${label(target)} but belongs to ${parent === null ? 'another parent' : label(parent)} now`,
      });
  }
  return branches;
};

/** Adopted by an orphan root, not started by it (a pane of a tmux server is the server's own child). */
const isAdopted = (p: JudgedProcess, parent: JudgedProcess | null, snapshot: Snapshot): boolean => {
  if (p.facts.ppid === 1) return true;
  if (parent === null) return false;
  if (parent.seen.role === 'tmux-server')
    return snapshot.tmux.some(
      server =>
        server.pid === parent.facts.pid &&
        server.reachable &&
        !server.panes.some(pane => pane.pid === p.facts.pid),
    );
  return adopts(parent, p);
};

const endsProcess = (signal: SignalName): boolean => ENDING_SIGNALS.has(signal);

export const stepFor = (
  p: JudgedProcess,
  { root, signal, why }: { readonly root: JudgedProcess; readonly signal: SignalName; readonly why: string },
): Step => ({
  ...identityOf(p),
  name: p.name,
  command: p.command,
  signal,
  rss: endsProcess(signal) ? memoryOf(p.facts) : 0,
  ageSeconds: p.ageSeconds,
  why,
  root: identityOf(root),
  stopped: p.facts.state === 'T',
  confirm: p.protection === 'soft',
  subject: {
    kind: p.kind,
    agent: p.agent,
    verdict: p.verdict,
    session: p.owner?.sessionId ?? null,
    cwd: p.facts.details?.cwd ?? null,
  },
});

export const refusalFor = (p: JudgedProcess, why: string): Refusal => ({
  ...identityOf(p),
  name: p.name,
  why,
});

export const unknownTarget = (target: Identity, family: PlanFamily): Refusal => {
  const now = [...family.byKey.values()].find(p => p.facts.pid === target.pid);
  return {
    ...target,
    name: now === undefined ? '?' : now.name,
    why:
      now === undefined
        ? `no process ${target.pid}`
        : `pid ${target.pid} names another process now (${now.name}): it was reused`,
  };
};

/** Why a step is in the plan, seen from its target. */
export const memberWhy = (p: JudgedProcess, root: JudgedProcess, how: 'subtree' | 'lineage'): string => {
  if (p === root) return p.why[0] ?? 'asked for';
  return how === 'subtree' ? `${PART_OF}${label(root)}` : `once part of ${label(root)}, reparented since`;
};

/** Steps in order of execution, one per identity; refusals of what another target takes anyway are dropped. */
export const composePlan = (
  chosen: ReadonlyMap<JudgedProcess, Step>,
  refused: readonly Refusal[],
  family: PlanFamily,
  policy: EndPolicy,
): Plan => {
  const steps = family.leavesFirst([...chosen.keys()]).map(p => chosen.get(p)!);
  const planned = new Set<IdentityKey>(steps.map(keyOf));
  const lines = new Map<string, Refusal>();
  for (const refusal of refused)
    if (!planned.has(keyOf(refusal))) lines.set(`${keyOf(refusal)} ${refusal.why}`, refusal);
  return {
    steps,
    refused: [...lines.values()].sort((a, b) => a.pid - b.pid),
    files: [],
    bytes: steps.reduce((sum, step) => sum + step.rss, 0),
    policy,
  };
};

/** What was asked for by whoever started it may be live; the rest of the plan may not. */
export const policyFor = (target: Identity, policy: EndPolicy): EndPolicy =>
  policy.asked?.some(asked => keyOf(asked) === keyOf(target)) === true
    ? { ...policy, verdicts: ['leak', 'suspect', 'live'], minimumAgeSeconds: 0 }
    : policy;

/** `x` and `X`: it is the user's machine; everything but the hard-protected, after the plan. */
export const handPolicy = (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): EndPolicy => ({
  by: 'tui',
  signal,
  verdicts: VERDICTS,
  allowSoft: true,
  minimumAgeSeconds: 0,
});

/** `c`, `clean`, `guard` and hooks: proven leaks, and suspects only when asked for. */
export const leakPolicy = (
  by: AskedBy,
  options: Partial<Pick<EndPolicy, 'minimumAgeSeconds' | 'asked'>> & { readonly suspects?: boolean } = {},
): EndPolicy => ({
  by,
  signal: 'SIGTERM',
  verdicts: options.suspects === true ? ['leak', 'suspect'] : ['leak'],
  allowSoft: false,
  minimumAgeSeconds: options.minimumAgeSeconds ?? 0,
  asked: options.asked,
});

/** `sweep`: also a live agent, but only one whose own records say that it finished; the caller proves that. */
export const sweepPolicy = (): EndPolicy => ({
  by: 'sweep',
  signal: 'SIGTERM',
  verdicts: ['leak', 'suspect', 'live'],
  allowSoft: false,
  minimumAgeSeconds: 0,
});
