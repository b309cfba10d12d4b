import { type Forest, forestOf, selfAndAncestors } from '../../model/forest.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { AnchorKind } from '../../model/kind.ts';
import type { EndPolicy } from '../../model/plan.ts';
import { isZombie, userRelation } from '../../model/process.ts';
import { type JudgedProcess, label, type Snapshot } from '../../model/snapshot.ts';
import { anchorOf } from '../rules/climb.ts';

/** The portable backend has births from `lstart`, in whole seconds, and rounding moves them by one. */
const BIRTH_SLACK_SECONDS = { procfs: 0, darwin: 1, portable: 2, recorded: 2, demo: 2 } as const;

const ANCHOR_WORDS = {
  terminal: 'it is a terminal',
  'remote-login': 'it is a remote login',
  login: 'it is a login',
  cron: 'it is a cron job',
  editor: 'it is an editor',
  'desktop-app': 'it is a desktop application',
  'service-manager': 'it manages services',
} as const satisfies Record<AnchorKind, string>;

/** Why this snapshot is no context for any plan; null when it is. */
export const unfitSnapshot = (snapshot: Snapshot, family: PlanFamily): string | null => {
  if (snapshot.self === null || snapshot.host.backend === 'recorded')
    return 'nothing is ever signalled from a recorded table';
  if (family.lineOfSelf.size === 0)
    return 'reaptop does not find itself in the process table, so it cannot tell its own ancestors: nothing is signalled';
  return null;
};

/**
 * Why this process must never be signalled; null when nothing forbids it. Judging marks most of these
 * as hard-protected already; they are asked again here because a missed one is the worst bug.
 */
export const neverReason = (p: JudgedProcess, snapshot: Snapshot, family: PlanFamily): string | null => {
  const { facts } = p;
  if (p.protection === 'hard') return p.protectedBecause ?? 'it is protected';
  if (facts.pid <= 2) return 'pids up to 2 belong to the system';
  if (facts.pid === snapshot.self?.pid) return 'it is reaptop itself';
  if (family.lineOfSelf.has(keyOf(facts))) return 'reaptop runs below it';
  if (facts.kernelThread) return 'it is a kernel thread';
  const owner = facts.unreadable ? 'untold' : userRelation(facts, snapshot.self?.uid);
  if (owner === 'untold') return 'who owns it cannot be read';
  if (owner !== 'ours') return `it belongs to another user (uid ${owner})`;
  if (facts.pgid !== null && facts.pgid === snapshot.self?.pgid)
    return "it is in reaptop's own process group";
  if (p.verdict === 'protected' && p.protection === null) return p.protectedBecause ?? 'it is protected';
  const parent = family.parentOf(p);
  const slack = BIRTH_SLACK_SECONDS[snapshot.host.backend];
  // On a sound table a parent is never younger: orphans are adopted by an ancestor or by PID 1.
  if (parent?.facts.born != null && facts.born !== null && parent.facts.born > facts.born + slack)
    return `its parent ${label(parent)} is younger than it, so a pid was reused while the table was read: look again`;
  return null;
};

/** Why this policy may not take a process along with its target; null when it may. */
export const memberReason = (
  p: JudgedProcess,
  policy: Pick<EndPolicy, 'verdicts' | 'allowSoft'>,
): string | null => {
  if (p.protection === 'soft' && !policy.allowSoft) return p.protectedBecause ?? 'it is protected';
  if (policy.allowSoft) return null;
  // An editor or a terminal that an agent opened carries the agent's environment and the user's work.
  const anchor = anchorOf(p);
  if (anchor !== null && !isDrivenHelper(p)) return `${ANCHOR_WORDS[anchor]}: it may be in use`;
  if (p.verdict === 'live' && !policy.verdicts.includes('live')) return `it is live: ${p.why[0] ?? 'in use'}`;
  if (p.verdict === 'suspect' && !policy.verdicts.includes('suspect'))
    return `it is only suspected: ${p.why[0] ?? 'no proof'}`;
  return null;
};

/** A helper of a browser that an agent drives says what the helper of a person's says, and goes with its browser. */
const isDrivenHelper = (p: JudgedProcess): boolean => p.kind === 'browser' && p.seen.anchor === 'desktop-app';

/** Why this policy may not choose a process as a target; null when it may. */
export const targetReason = (p: JudgedProcess, policy: EndPolicy): string | null => {
  if (!policy.verdicts.includes(p.verdict))
    return p.protectedBecause ?? `its verdict is ${p.verdict}: ${p.why[0] ?? 'no evidence against it'}`;
  if (policy.minimumAgeSeconds <= 0) return null;
  if (p.ageSeconds === null) return 'its age is unknown';
  if (p.ageSeconds < policy.minimumAgeSeconds)
    return `it is younger than the threshold of ${spellDuration(policy.minimumAgeSeconds)}`;
  return null;
};

const spellDuration = (seconds: number): string =>
  seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;

const LEAKS_ONLY = { verdicts: ['leak'], allowSoft: false } as const;

/**
 * A tree with something in it that no clean-up would end stays whole: nothing of it is leaked or reclaimable, on any
 * face. The rest is as it was judged.
 */
export const withoutRefused = (processes: readonly JudgedProcess[]): readonly JudgedProcess[] => {
  if (processes.every(p => p.verdict !== 'leak')) return processes;
  const forest = forestOf(processes, p => p.facts);
  const refused = new Map<JudgedProcess, string>();
  for (const root of processes) {
    const parent = forest.parentOf(root);
    if (root.verdict !== 'leak' || parent?.verdict === 'leak') continue;
    const tree = forest.subtreeOf(root).filter(p => !isZombie(p.facts));
    for (const p of tree) {
      const why = p.protection === 'hard' ? p.protectedBecause : memberReason(p, LEAKS_ONLY);
      if (why === null) continue;
      const because = p === root ? why : `the whole subtree stays, because ${label(p)} is in it: ${why}`;
      for (const member of tree) if (member.verdict === 'leak') refused.set(member, because);
      break;
    }
  }
  if (refused.size === 0) return processes;
  return processes.map(p => {
    const because = refused.get(p);
    return because === undefined ? p : { ...p, verdict: 'suspect', why: [because, ...p.why] };
  });
};

/** Who descends from whom in one snapshot. */
export interface PlanFamily extends Forest<JudgedProcess> {
  readonly byKey: ReadonlyMap<IdentityKey, JudgedProcess>;
  /** Reaptop itself and everything above it. Empty when the snapshot does not hold reaptop. */
  readonly lineOfSelf: ReadonlySet<IdentityKey>;
}

export const planFamily = ({ processes, self }: Snapshot): PlanFamily => {
  // By pid, so that plans come out the same every time.
  const forest = forestOf(
    [...processes].sort((a, b) => a.facts.pid - b.facts.pid),
    p => p.facts,
  );
  const line = selfAndAncestors(forest.at(self?.pid ?? null), p => forest.at(p.facts.ppid));
  const lineOfSelf = new Set(Array.from(line, p => keyOf(p.facts)));
  return { ...forest, byKey: new Map(processes.map(p => [keyOf(p.facts), p])), lineOfSelf };
};
