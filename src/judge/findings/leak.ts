import type { Finding, Severity } from '../../model/finding.ts';
import { forestOf, pushTo } from '../../model/forest.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, type Owner } from '../../model/snapshot.ts';
import { someOf } from '../../model/text.ts';
import { formatAge, formatBytes, spellBytes } from '../../model/units.ts';
import type { Detector } from './detector.ts';

/** What was left by one dead session; by one program where no session is known. Roots first told, each with its subtree. */
export interface LeakGroup {
  readonly session: Owner | null;
  readonly roots: readonly JudgedProcess[];
  readonly members: readonly JudgedProcess[];
}

/** One piece of evidence may name an agent's pid and another its session: those that name both join them. */
const sessionKeys = (roots: readonly JudgedProcess[]): ((owner: Owner) => string) => {
  const known = new Map<string, string>();
  const pidKey = ({ pid, start }: Owner): string => `agent ${pid}:${start}`;
  for (const { owner } of roots)
    if (owner?.sessionId != null && owner.pid !== null) known.set(pidKey(owner), owner.sessionId);
  return owner => owner.sessionId ?? known.get(pidKey(owner)) ?? pidKey(owner);
};

const deadOwner = ({ owner }: JudgedProcess): Owner | null => (owner === null || owner.alive ? null : owner);

/** Everything with verdict leak, grouped by who left it. */
export const leakGroups = (processes: readonly JudgedProcess[]): readonly LeakGroup[] => {
  const leaked = processes.filter(p => p.verdict === 'leak' && !isZombie(p.facts));
  const forest = forestOf(leaked, p => p.facts);
  const keyFor = sessionKeys(forest.roots);
  const groups = new Map<string, JudgedProcess[]>();
  for (const root of forest.roots) {
    const session = deadOwner(root);
    pushTo(groups, session === null ? `program ${root.name}` : keyFor(session), root);
  }
  return [...groups.values()].map(roots => ({
    session: deadOwner(roots.find(root => deadOwner(root)?.sessionId != null) ?? roots[0]!),
    roots,
    members: roots.flatMap(root => forest.subtreeOf(root)),
  }));
};

/** `session 9c33ca78 (proofs)`, `agent 2988`, `lean-lsp-mcp`. */
const originOf = ({ session, roots }: LeakGroup): string => {
  if (session === null) return roots[0]!.name;
  const where = session.project === undefined ? '' : ` (${session.project})`;
  const who =
    session.sessionId === null ? `agent ${session.pid}` : `session ${session.sessionId.slice(0, 8)}`;
  return `${who}${where}`;
};

const titleOf = (group: LeakGroup, bytes: string, oldest: string | null): string => {
  const [only, ...others] = group.members;
  if (only !== undefined && others.length === 0)
    return `leaked: ${label(only)}, ${bytes}${oldest === null ? '' : `, ${oldest} old`}`;
  return `${originOf(group)}: ${group.members.length} leaked, ${bytes}${oldest === null ? '' : `, oldest ${oldest}`}`;
};

export const leakFinding = (group: LeakGroup, severity: Severity): Finding => {
  const { session, roots, members } = group;
  const bytes = members.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const oldest = Math.max(...members.map(p => p.ageSeconds ?? -1));
  const reasons = [...new Set(roots.map(root => root.why.join('; ')))];
  const names =
    session === null || members.length === 1 ? '' : `${someOf([...new Set(roots.map(root => root.name))])}: `;
  return {
    id: 'leak',
    severity,
    title: titleOf(group, formatBytes(bytes), oldest < 0 ? null : formatAge(oldest)),
    why: `${names}${reasons[0]}${reasons.length > 1 ? ' (and other reasons)' : ''}`,
    processes: members.map(identityOf),
    files: [],
    remedy: `end ${members.length === 1 ? 'it' : 'them'}: ${spellBytes(bytes)} reclaimable`,
    action: 'clean',
  };
};

/** One finding for what one dead session left, or one program where no session is known. */
export const leak: Detector = ({ processes, config }) => {
  const groups = leakGroups(processes);
  const total = groups.flatMap(({ members }) => members).reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const severity = total >= config.thresholds.leak.criticalBytes ? 'critical' : 'warn';
  return groups.map(group => leakFinding(group, severity));
};
