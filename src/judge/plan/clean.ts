import { forestOf } from '../../model/forest.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import type { Kind } from '../../model/kind.ts';
import type { EndPolicy, Plan, Refusal } from '../../model/plan.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { leakGroups } from '../findings/leak.ts';
import { leakPolicy, type PlanContext, type PlanInput, planContext, unknownTarget } from './compose.ts';
import { planEndOn } from './end.ts';
import { memberReason } from './refuse.ts';

export interface CleanRequest extends PlanInput {
  readonly policy: EndPolicy;
  /** Only narrows: takes no process that the same request without it would not take. */
  readonly kinds?: readonly Kind[] | undefined;
  /** `--pid PID[:START]`: these alone, suspects included. Without a start, whatever is at the pid now. */
  readonly pids?: readonly { readonly pid: number; readonly start?: string | undefined }[] | undefined;
  /** Only leaks that these are the topmost of. */
  readonly within?: readonly Identity[] | undefined;
}

/** Everything the policy calls leaked, from its topmost leaked process down. */
export const planClean = (request: CleanRequest): Plan => {
  const context = planContext(request);
  const explicit = request.pids === undefined ? null : resolvePids(request.pids, context);
  const policy: EndPolicy =
    explicit === null ? request.policy : { ...request.policy, verdicts: ['leak', 'suspect'] };
  const roots = explicit?.found ?? among(request.within, leakRoots(context, policy));
  const targets = [...roots.map(identityOf), ...(policy.asked ?? [])];
  const whole = planEndOn(context, { targets, policy });
  const unknown = explicit?.unknown ?? [];
  if (request.kinds === undefined || request.kinds.length === 0)
    return { ...whole, refused: [...whole.refused, ...unknown] };

  const kinds = new Set(request.kinds);
  const taken = new Set(whole.steps.map(keyOf));
  const narrowed = roots
    .filter(root => taken.has(keyOf(root.facts)))
    .flatMap(root => outermostOfKind(root, kinds, policy, context));
  const plan = planEndOn(context, { targets: narrowed.map(identityOf), policy });
  // Lineage may lead out of a narrowed root to what the whole request left alone.
  const steps = plan.steps.filter(step => taken.has(keyOf(step)));
  return {
    ...plan,
    steps,
    bytes: steps.reduce((sum, step) => sum + step.rss, 0),
    refused: [...whole.refused, ...unknown],
  };
};

const among = (within: CleanRequest['within'], roots: readonly JudgedProcess[]): readonly JudgedProcess[] => {
  if (within === undefined) return roots;
  const keys = new Set(within.map(keyOf));
  return roots.filter(root => keys.has(keyOf(root.facts)));
};

/** Leaks (and suspects, when allowed) that have no such process above them. */
export const leakRoots = (context: PlanContext, policy: EndPolicy): readonly JudgedProcess[] => {
  const wanted = new Set<JudgedProcess>(
    context.snapshot.processes.filter(
      p => !isZombie(p.facts) && policy.verdicts.includes(p.verdict) && p.protection === null,
    ),
  );
  return [...wanted].filter(p => !context.family.ancestorsOf(p).some(up => wanted.has(up)));
};

/** `npm exec x-mcp` is a wrapper by kind, but what it carries is what the user means. */
const carriedKind = (p: JudgedProcess, context: PlanContext): Kind => {
  let at = p;
  while (at.kind === 'wrapper' && at.seen.wraps === null) {
    const [only, ...others] = context.family.childrenOf(at).filter(child => !isZombie(child.facts));
    if (only === undefined || others.length > 0) break;
    at = only;
  }
  return at.kind === 'wrapper' ? (at.seen.wraps ?? at.kind) : at.kind;
};

const outermostOfKind = (
  root: JudgedProcess,
  kinds: ReadonlySet<Kind>,
  policy: EndPolicy,
  context: PlanContext,
): readonly JudgedProcess[] => {
  const found: JudgedProcess[] = [];
  const pending = [root];
  for (let p = pending.shift(); p !== undefined; p = pending.shift()) {
    const matches = kinds.has(p.kind) || kinds.has(carriedKind(p, context));
    if (matches && policy.verdicts.includes(p.verdict) && !isZombie(p.facts)) found.push(p);
    else pending.push(...context.family.childrenOf(p));
  }
  return found;
};

const resolvePids = (
  pids: NonNullable<CleanRequest['pids']>,
  context: PlanContext,
): { readonly found: readonly JudgedProcess[]; readonly unknown: readonly Refusal[] } => {
  const found: JudgedProcess[] = [];
  const unknown: Refusal[] = [];
  for (const { pid, start } of pids) {
    const now = context.snapshot.processes.find(p => p.facts.pid === pid);
    if (now !== undefined && (start === undefined || start === now.facts.start)) found.push(now);
    else unknown.push(unknownTarget({ pid, start: start ?? '' }, context.family));
  }
  return { found, unknown };
};

export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** What `clean` would make of the leaks, by the age of their roots. */
export interface CleanableLeaks {
  /** Old enough now. */
  readonly now: Amount;
  /** Younger than the threshold. */
  readonly later: Amount;
}

const amountOf = (trees: readonly (readonly JudgedProcess[])[]): Amount => {
  const all = trees.flat();
  return { count: all.length, bytes: all.reduce((sum, p) => sum + memoryOf(p.facts), 0) };
};

/**
 * What `clean` with this age would end, without its plan: that needs every process of the machine, a sample only
 * those that concern an agent. A tree with something in it that clean leaves alone is in neither amount.
 */
export const cleanableLeaks = (
  processes: readonly JudgedProcess[],
  minimumAgeSeconds: number,
): CleanableLeaks => {
  const policy = leakPolicy('clean');
  const forest = forestOf(processes, p => p.facts);
  const trees = leakGroups(processes)
    .flatMap(({ roots }) => roots)
    .map(root => ({ root, tree: forest.subtreeOf(root).filter(p => !isZombie(p.facts)) }))
    .filter(({ tree }) => tree.every(p => p.protection !== 'hard' && memberReason(p, policy) === null));
  const isRipe = ({ root }: (typeof trees)[number]): boolean => (root.ageSeconds ?? -1) >= minimumAgeSeconds;
  return {
    now: amountOf(trees.filter(isRipe).map(({ tree }) => tree)),
    later: amountOf(trees.filter(one => !isRipe(one)).map(({ tree }) => tree)),
  };
};
