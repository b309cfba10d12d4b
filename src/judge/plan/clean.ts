import { keyOf } from '../../model/identity.ts';
import type { Kind } from '../../model/kind.ts';
import type { Plan, Refusal } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { type Ground, groundOf, type PlanGround } from './branches.ts';
import { unknownTarget } from './compose.ts';
import { planEndOn } from './end.ts';
import type { EndPolicy } from './policy.ts';

export interface CleanRequest extends PlanGround {
  readonly policy: EndPolicy;
  /** Only narrows: takes no process that the same request without it would not take. */
  readonly kinds?: readonly Kind[] | undefined;
  /** `--pid PID[:START]`: these alone, suspects included. Without a start, whatever is at the pid now. */
  readonly pids?: readonly { readonly pid: number; readonly start?: string | undefined }[] | undefined;
}

/** Everything the policy calls leaked, from its topmost leaked process down. */
export const planClean = (request: CleanRequest): Plan => {
  const ground = groundOf(request);
  const explicit = request.pids === undefined ? null : resolvePids(request.pids, ground);
  const policy: EndPolicy =
    explicit === null ? request.policy : { ...request.policy, verdicts: ['leak', 'suspect'] };
  const roots = explicit?.found ?? leakRoots(ground, policy);
  const whole = planEndOn(ground, { targets: roots.map(identityOf), policy });
  const unknown = explicit?.unknown ?? [];
  if (request.kinds === undefined || request.kinds.length === 0)
    return { ...whole, refused: [...whole.refused, ...unknown] };

  const kinds = new Set(request.kinds);
  const taken = new Set(whole.steps.map(keyOf));
  const narrowed = roots
    .filter(root => taken.has(keyOf(root.facts)))
    .flatMap(root => outermostOfKind(root, kinds, policy, ground));
  const plan = planEndOn(ground, { targets: narrowed.map(identityOf), policy });
  // Lineage may lead out of a narrowed root to what the whole request left alone.
  const steps = plan.steps.filter(step => taken.has(keyOf(step)));
  return {
    ...plan,
    steps,
    bytes: steps.reduce((sum, step) => sum + step.rss, 0),
    refused: [...whole.refused, ...unknown],
  };
};

/** Leaks (and suspects, when allowed) that have no such process above them. */
export const leakRoots = (ground: Ground, policy: EndPolicy): readonly JudgedProcess[] => {
  const wanted = new Set<JudgedProcess>(
    ground.snapshot.processes.filter(
      p => !isZombie(p.facts) && policy.verdicts.includes(p.verdict) && p.protection === null,
    ),
  );
  return [...wanted].filter(p => !ground.family.ancestorsOf(p).some(up => wanted.has(up)));
};

/** `npm exec x-mcp` is a wrapper by kind, but what it carries is what the user means. */
const carriedKind = (p: JudgedProcess, ground: Ground): Kind => {
  let at = p;
  while (at.kind === 'wrapper' && at.seen.wraps === null) {
    const [only, ...others] = ground.family.childrenOf(at).filter(child => !isZombie(child.facts));
    if (only === undefined || others.length > 0) break;
    at = only;
  }
  return at.kind === 'wrapper' ? (at.seen.wraps ?? at.kind) : at.kind;
};

const outermostOfKind = (
  root: JudgedProcess,
  kinds: ReadonlySet<Kind>,
  policy: EndPolicy,
  ground: Ground,
): readonly JudgedProcess[] => {
  const found: JudgedProcess[] = [];
  const pending = [root];
  for (let p = pending.shift(); p !== undefined; p = pending.shift()) {
    const matches = kinds.has(p.kind) || kinds.has(carriedKind(p, ground));
    if (matches && policy.verdicts.includes(p.verdict) && !isZombie(p.facts)) found.push(p);
    else pending.push(...ground.family.childrenOf(p));
  }
  return found;
};

const resolvePids = (
  pids: NonNullable<CleanRequest['pids']>,
  ground: Ground,
): { readonly found: readonly JudgedProcess[]; readonly unknown: readonly Refusal[] } => {
  const found: JudgedProcess[] = [];
  const unknown: Refusal[] = [];
  for (const { pid, start } of pids) {
    const now = ground.snapshot.processes.find(p => p.facts.pid === pid);
    if (now !== undefined && (start === undefined || start === now.facts.start)) found.push(now);
    else unknown.push(unknownTarget({ pid, start: start ?? '' }, ground.family));
  }
  return { found, unknown };
};
