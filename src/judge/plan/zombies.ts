import { type Identity, keyOf } from '../../model/identity.ts';
import { type Kind, mayProve } from '../../model/kind.ts';
import {
  type AskedBy,
  type EndPolicy,
  PART_OF,
  type Plan,
  type Refusal,
  type Step,
} from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, type Ownership } from '../../model/snapshot.ts';
import { someOf } from '../../model/text.ts';
import { plural } from '../../model/units.ts';
import { SHOWN_ID } from '../rules/environment-marks.ts';
import { type PlanContext, type PlanInput, planContext, refusalFor, stepFor } from './compose.ts';
import { planEndOn } from './end.ts';
import { neverReason, unfitSnapshot } from './refuse.ts';

export interface ZombieRequest extends PlanInput {
  readonly by: AskedBy;
  /** Zombies or their parents; without it, every related parent that owes a wait. */
  readonly targets?: readonly Identity[] | undefined;
  /** A server is ended only when all its zombies are at least this old. */
  readonly minimumAgeSeconds: number;
  /** For how long its subtree must use no CPU before it is ended; carried out by the act. */
  readonly quietSeconds: number;
  /** End nothing. */
  readonly nudgeOnly?: boolean | undefined;
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
  const context = planContext(request);
  const unfit = unfitSnapshot(context.snapshot, context.family);
  const nudges: Step[] = [];
  const ends: Step[] = [];
  const refused: Refusal[] = [];
  for (const parent of parentsOf(request, context)) {
    const zombies = zombiesOf(parent, context);
    const never = unfit ?? neverReason(parent, context.snapshot, context.family);
    if (never !== null) {
      refused.push(refusalFor(parent, never));
      continue;
    }
    const owes = `has ${plural(zombies.length, 'zombie child', 'zombie children')}: ${someOf(zombies.map(label))}`;
    const nudge = (why: string): void =>
      void nudges.push(stepFor(parent, { root: parent, signal: 'SIGCHLD', why }));
    if (request.nudgeOnly === true) {
      nudge(owes);
      continue;
    }
    const plan = planEndOn(context, { targets: [identityOf(parent)], policy: policyOf(request) }, keepsWork);
    const stays =
      mayNotEnd(parent, zombies, request, context) ?? (plan.steps.length === 0 ? plan.refused[0]?.why : null);
    if (stays != null) {
      nudge(`${owes}; only nudged: ${stays}`);
      continue;
    }
    nudge(owes);
    const condition = `only if the nudge fails and its tree then uses no CPU for ${request.quietSeconds} s`;
    for (const step of plan.steps) ends.push({ ...step, why: `${loser(parent, step)}; ${condition}` });
    refused.push(...plan.refused);
  }
  return {
    steps: [...nudges, ...ends],
    refused,
    files: [],
    bytes: ends.reduce((sum, step) => sum + step.rss, 0),
    policy: policyOf(request),
    how: 'zombies',
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

const zombiesOf = (parent: JudgedProcess, context: PlanContext): readonly JudgedProcess[] =>
  context.family.childrenOf(parent).filter(child => isZombie(child.facts));

const parentsOf = (request: ZombieRequest, context: PlanContext): readonly JudgedProcess[] => {
  const { family, snapshot } = context;
  const asked = request.targets?.map(target => family.byKey.get(keyOf(target)) ?? null);
  const candidates =
    asked === undefined
      ? snapshot.processes.filter(p => p.related)
      : asked.map(p => (p !== null && isZombie(p.facts) ? family.parentOf(p) : p));
  const unique = new Set(candidates.filter((p): p is JudgedProcess => p !== null && !isZombie(p.facts)));
  return [...unique].filter(p => zombiesOf(p, context).length > 0).sort((a, b) => a.facts.pid - b.facts.pid);
};

const mayNotEnd = (
  parent: JudgedProcess,
  zombies: readonly JudgedProcess[],
  request: ZombieRequest,
  context: PlanContext,
): string | null => {
  if (!MAY_END.has(parent.kind))
    return `only MCP and lean-lsp servers are ended for zombies; this is ${parent.kind}`;
  if (!mayProve(parent.seen.known) && !SHOWS_AN_AGENT.has(parent.owner?.how ?? null))
    return 'only its arguments or a project’s file call it a server';
  const young = zombies.filter(z => z.ageSeconds === null || z.ageSeconds < request.minimumAgeSeconds);
  if (young.length > 0)
    return `${young.map(label).join(', ')} ${young.length === 1 ? 'is' : 'are'} younger than ${request.minimumAgeSeconds / 60} min`;
  const busy = context.family.subtreeOf(parent).find(p => !isZombie(p.facts) && (p.facts.cpu ?? 0) > 0);
  return busy === undefined ? null : `${label(busy)} is using the CPU`;
};

const loser = (parent: JudgedProcess, step: Step): string => {
  if (step.pid !== parent.facts.pid) return `${PART_OF}${label(parent)}`;
  const { owner, tmux } = parent;
  if (owner === null || !owner.alive) return 'no running session uses it';
  const who =
    owner.sessionId === null ? `agent ${owner.pid ?? '?'}` : `session ${owner.sessionId.slice(0, SHOWN_ID)}`;
  const where = tmux === null ? '' : ` in tmux ${tmux.session}`;
  return `${who}${where} would lose this server`;
};
