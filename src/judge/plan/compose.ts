import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { EndPolicy, Plan, Refusal, SignalName, Step } from '../../model/plan.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import type { Family } from './family.ts';

const ENDING: ReadonlySet<SignalName> = new Set(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

const endsProcess = (signal: SignalName): boolean => ENDING.has(signal);

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

export const unknownTarget = (target: Identity, family: Family): Refusal => {
  const now = [...family.byKey.values()].find(p => p.facts.pid === target.pid);
  return {
    ...target,
    name: now === undefined ? '?' : now.name,
    why:
      now === undefined
        ? `there is no process ${target.pid} any more`
        : `pid ${target.pid} names another process now (${now.name}): it was reused`,
  };
};

/** Why a step is in the plan, seen from its target. */
export const memberWhy = (p: JudgedProcess, root: JudgedProcess, how: 'subtree' | 'lineage'): string => {
  if (p === root) return p.why[0] ?? 'asked for';
  return how === 'subtree' ? `part of ${calls(root)}` : `once part of ${calls(root)}, reparented since`;
};

/** Steps in order of execution, one per identity; refusals of what another target takes anyway are dropped. */
export const composePlan = (
  chosen: ReadonlyMap<JudgedProcess, Step>,
  refused: readonly Refusal[],
  family: Family,
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
