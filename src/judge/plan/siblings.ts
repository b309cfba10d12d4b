import type { Plan, Refusal } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { type Ground, groundOf, type PlanGround } from './branches.ts';
import { refusalFor } from './compose.ts';
import { planEndOn } from './end.ts';
import type { EndPolicy } from './policy.ts';

export interface SiblingRequest extends PlanGround {
  readonly policy: EndPolicy;
}

/** The same server twice below one parent: all but the newest, which is the one the parent talks to. */
export const planDuplicates = (request: SiblingRequest): Plan => {
  const ground = groundOf(request);
  const groups = groupBy(ground.snapshot.processes, p => duplicateKey(p, ground));
  return planAllButOne(groups, 'newest', request, ground);
};

/** Several `lake build` in one project: all but the oldest, which is furthest along and holds the lock. */
export const planBuilds = (request: SiblingRequest): Plan => {
  const ground = groundOf(request);
  const groups = groupBy(ground.snapshot.processes, p => buildKey(p, ground));
  return planAllButOne(groups, 'oldest', request, ground);
};

const duplicateKey = (p: JudgedProcess, { family }: Ground): string | null => {
  const parent = family.parentOf(p);
  const cwd = p.facts.details?.cwd ?? null;
  const carries = p.kind === 'wrapper' ? p.seen.wraps : p.kind;
  if (carries !== 'mcp' && carries !== 'lean-lsp') return null;
  // Below an orphan root, equal servers may come from different sessions: no duplicates of one another.
  if (parent === null || parent.facts.pid === 1 || parent.seen.adoptsOrphans || parent.kind === 'tmux')
    return null;
  if (p.facts.argv === null || cwd === null || isZombie(p.facts)) return null;
  return JSON.stringify([parent.facts.pid, cwd, p.facts.argv]);
};

const isBuild = (p: JudgedProcess): boolean => p.seen.role === 'lake-build' && !isZombie(p.facts);

const buildKey = (p: JudgedProcess, { family }: Ground): string | null => {
  const cwd = p.facts.details?.cwd ?? null;
  if (!isBuild(p) || cwd === null) return null;
  // `lake` re-executes itself as `lake.orig` and the like: one build, counted at its top.
  const seen = new Set([p]);
  for (let up = family.parentOf(p); up !== null && !seen.has(up); up = family.parentOf(up)) {
    if (isBuild(up) && up.facts.details?.cwd === cwd) return null;
    seen.add(up);
  }
  return cwd;
};

const groupBy = (
  processes: readonly JudgedProcess[],
  key: (p: JudgedProcess) => string | null,
): readonly (readonly JudgedProcess[])[] => {
  const groups = new Map<string, JudgedProcess[]>();
  for (const p of processes) {
    const name = key(p);
    if (name === null) continue;
    groups.set(name, [...(groups.get(name) ?? []), p]);
  }
  return [...groups.values()].filter(group => group.length > 1);
};

const planAllButOne = (
  groups: readonly (readonly JudgedProcess[])[],
  keep: 'newest' | 'oldest',
  { policy }: SiblingRequest,
  ground: Ground,
): Plan => {
  const targets: JudgedProcess[] = [];
  const untold: Refusal[] = [];
  for (const group of groups) {
    const births = group.map(p => p.facts.born ?? Number.NaN);
    const best = keep === 'newest' ? Math.max(...births) : Math.min(...births);
    // NaN when an age is unknown; a tie is as bad: the one in use could be the one we end.
    if (births.filter(born => born === best).length !== 1)
      untold.push(...group.map(p => refusalFor(p, `which of ${group.length} is the ${keep} cannot be told`)));
    else targets.push(...group.filter(p => p.facts.born !== best));
  }
  const plan = planEndOn(ground, { targets: targets.map(identityOf), policy });
  return { ...plan, refused: [...plan.refused, ...untold] };
};
