import { type Identity, keyOf } from '../../model/identity.ts';
import { type Kind, mayProve } from '../../model/kind.ts';
import type { Plan, Refusal, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess, type Ownership } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import { type Ground, groundOf, type PlanGround } from './branches.ts';
import { refusalFor, stepFor } from './compose.ts';
import { planEndOn } from './end.ts';
import type { AskedBy, EndPolicy } from './policy.ts';
import { neverReason, unfitSnapshot } from './refuse.ts';

export interface ZombieRequest extends PlanGround {
  readonly by: AskedBy;
  /** Zombies or their parents; without it, every related parent that owes a wait. */
  readonly targets?: readonly Identity[] | undefined;
  /** A server is ended only when all its zombies are at least this old. */
  readonly minimumAgeSeconds: number;
  /** For how long its subtree must use no CPU before it is ended; carried out by the act. */
  readonly quietSeconds: number;
}

/** The only kinds that are ever ended for their zombies: a blocked server that its agent can start again. */
const MAY_END: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp']);

/** An agent's own child is its server whatever says so; elsewhere a name or a project's file is not enough. */
const SHOWS_AN_AGENT: ReadonlySet<Ownership | null> = new Set(['ancestor', 'lineage', 'environ']);

/**
 * SIGCHLD first, for every parent; then, for servers only, the end of the parent. The steps after
 * the nudge are conditional: `endZombies` runs them when the nudge did not help and the subtree is quiet.
 */
export const planZombies = (request: ZombieRequest): Plan => {
  const ground = groundOf(request);
  const unfit = unfitSnapshot(ground.snapshot, ground.family);
  const nudges: Step[] = [];
  const ends: Step[] = [];
  const refused: Refusal[] = [];
  for (const parent of parentsOf(request, ground)) {
    const zombies = zombiesOf(parent, ground);
    const never = unfit ?? neverReason(parent, ground.snapshot, ground.family);
    if (never !== null) {
      refused.push(refusalFor(parent, never));
      continue;
    }
    const owes = `has not reaped ${zombies.map(calls).join(', ')}`;
    const nudge = (why: string): void =>
      void nudges.push(stepFor(parent, { root: parent, signal: 'SIGCHLD', why }));
    const plan = planEndOn(ground, { targets: [identityOf(parent)], policy: policyOf(request) }, keepsWork);
    const stays =
      mayNotEnd(parent, zombies, request, ground) ?? (plan.steps.length === 0 ? plan.refused[0]?.why : null);
    if (stays != null) {
      nudge(`${owes}; it is only nudged: ${stays}`);
      continue;
    }
    nudge(owes);
    const condition = `only if SIGCHLD does not help and the subtree then uses no CPU for ${request.quietSeconds} s`;
    for (const step of plan.steps) ends.push({ ...step, why: `${loser(parent, step)}; ${condition}` });
    refused.push(...plan.refused);
  }
  return {
    steps: [...nudges, ...ends],
    refused,
    files: [],
    bytes: ends.reduce((sum, step) => sum + step.rss, 0),
    policy: policyOf(request),
  };
};

/** Live servers are exactly what this is for, so `live` is allowed; soft protection and anchors still hold. */
const policyOf = ({ by }: ZombieRequest): EndPolicy => ({
  by,
  signal: 'SIGTERM',
  verdicts: ['live', 'leak', 'suspect', 'unknown'],
  allowSoft: false,
  minimumAgeSeconds: 0,
});

const keepsWork = (p: JudgedProcess): string | null =>
  p.kind === 'agent' || p.kind === 'shell' ? `${p.kind}s are never ended for zombies` : null;

const zombiesOf = (parent: JudgedProcess, ground: Ground): readonly JudgedProcess[] =>
  ground.family.childrenOf(parent).filter(child => isZombie(child.facts));

const parentsOf = (request: ZombieRequest, ground: Ground): readonly JudgedProcess[] => {
  const { family, snapshot } = ground;
  const asked = request.targets?.map(target => family.byKey.get(keyOf(target)) ?? null);
  const candidates =
    asked === undefined
      ? snapshot.processes.filter(p => p.related)
      : asked.map(p => (p !== null && isZombie(p.facts) ? family.parentOf(p) : p));
  const unique = new Set(candidates.filter((p): p is JudgedProcess => p !== null && !isZombie(p.facts)));
  return [...unique].filter(p => zombiesOf(p, ground).length > 0).sort((a, b) => a.facts.pid - b.facts.pid);
};

const mayNotEnd = (
  parent: JudgedProcess,
  zombies: readonly JudgedProcess[],
  request: ZombieRequest,
  ground: Ground,
): string | null => {
  if (!MAY_END.has(parent.kind))
    return `only MCP and lean-lsp servers are ended for zombies, and it is of kind ${parent.kind}`;
  if (!mayProve(parent.seen.known) && !SHOWS_AN_AGENT.has(parent.owner?.how ?? null))
    return 'only its arguments or a project’s file say that it is a server';
  const young = zombies.filter(z => z.ageSeconds === null || z.ageSeconds < request.minimumAgeSeconds);
  if (young.length > 0)
    return `${young.map(calls).join(', ')} ${young.length === 1 ? 'is' : 'are'} younger than ${request.minimumAgeSeconds / 60} min`;
  const busy = ground.family.subtreeOf(parent).find(p => !isZombie(p.facts) && (p.facts.cpu ?? 0) > 0);
  return busy === undefined ? null : `${calls(busy)} is using the CPU`;
};

const loser = (parent: JudgedProcess, step: Step): string => {
  if (step.pid !== parent.facts.pid) return `part of ${calls(parent)}`;
  const { owner, tmux } = parent;
  const session =
    owner === null || !owner.alive
      ? 'no live session'
      : `session ${owner.sessionId ?? `of agent ${owner.pid ?? '?'}`}${tmux === null ? '' : ` in tmux ${tmux.session}`}`;
  return `${session} loses its server ${parent.name}`;
};
