import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planClean } from '../../../src/judge/plan/clean.ts';
import { handPolicy, leakPolicy, sweepPolicy } from '../../../src/judge/plan/compose.ts';
import { planEnd, planSignal } from '../../../src/judge/plan/end.ts';
import { planZombies } from '../../../src/judge/plan/zombies.ts';
import { type IdentityKey, keyOf } from '../../../src/model/identity.ts';
import { KINDS } from '../../../src/model/kind.ts';
import type { EndPolicy, Plan } from '../../../src/model/plan.ts';
import { identityOf, type Snapshot } from '../../../src/model/snapshot.ts';
import { SELF, UID } from './machine.ts';
import { build, mostly, node } from './random-machine.ts';

const world = fc.record({
  nodes: fc.array(node, { maxLength: 14, size: 'max' }),
  firstPid: fc.constantFrom(2, 3, 50, 2000),
  targets: fc.array(fc.record({ pick: fc.integer({ min: 2, max: 1000 }), recycled: mostly(false, true) }), {
    minLength: 1,
    maxLength: 4,
  }),
  policy: fc.constantFrom<EndPolicy>(
    handPolicy(),
    handPolicy('SIGKILL'),
    sweepPolicy(),
    leakPolicy('clean'),
    leakPolicy('clean', { suspects: true, minimumAgeSeconds: 60 }),
    leakPolicy('guard', { minimumAgeSeconds: 60 }),
    leakPolicy('hook'),
  ),
  kinds: fc.option(fc.subarray([...KINDS]), { nil: undefined }),
});

/** Everything that a plan for these targets could ever name, by brute force. */
const reachOf = (
  snapshot: Snapshot,
  targets: readonly IdentityKey[],
  lineage: ReadonlyMap<IdentityKey, readonly IdentityKey[]>,
) => {
  const reach = new Set<IdentityKey>(targets);
  for (const target of targets) for (const key of lineage.get(target) ?? []) reach.add(key);
  for (let grown = true; grown; ) {
    grown = false;
    for (const child of snapshot.processes) {
      const parent = snapshot.processes.find(p => p.facts.pid === child.facts.ppid);
      if (parent === undefined || !reach.has(keyOf(parent.facts)) || reach.has(keyOf(child.facts))) continue;
      reach.add(keyOf(child.facts));
      grown = true;
    }
  }
  return reach;
};

const SELF_LINE = new Set([1, 800, SELF]);

const mustHold = (plan: Plan, snapshot: Snapshot, reach: ReadonlySet<IdentityKey> | null): void => {
  const at = new Map(snapshot.processes.map(p => [keyOf(p.facts), p]));
  const position = new Map<number, number>();
  const ending = plan.steps.filter(step => step.signal !== 'SIGCHLD');
  for (const [index, step] of ending.entries()) position.set(step.pid, index);
  expect(position.size).toBe(ending.length);
  for (const step of plan.steps) {
    const p = at.get(keyOf(step));
    if (p === undefined) throw new Error(`planned an identity that is not there: ${keyOf(step)}`);
    const forbidden =
      step.pid <= 2 ||
      SELF_LINE.has(step.pid) ||
      p.protection === 'hard' ||
      p.facts.uid !== UID ||
      p.facts.kernelThread ||
      p.facts.unreadable ||
      p.facts.pgid === SELF ||
      p.facts.state === 'Z';
    if (forbidden) throw new Error(`planned the forbidden ${JSON.stringify(p)}`);
    if (reach !== null && !reach.has(keyOf(step)))
      throw new Error(`planned ${step.pid}, outside the targets`);
  }
  for (const step of ending) {
    const parent = position.get(at.get(keyOf(step))!.facts.ppid ?? -1);
    if (parent !== undefined) expect(parent).toBeGreaterThan(position.get(step.pid)!);
  }
  expect(plan.bytes).toBe(plan.steps.reduce((sum, step) => sum + step.rss, 0));
};

/** No soft-protected process without the pid to type, and none at all where the policy forbids it; nothing live for leak policies. */
const mustRespect = (plan: Plan, snapshot: Snapshot, policy: EndPolicy): void => {
  const at = new Map(snapshot.processes.map(p => [keyOf(p.facts), p]));
  for (const step of plan.steps) {
    const p = at.get(keyOf(step))!;
    expect(step.confirm).toBe(p.protection === 'soft');
    if (policy.allowSoft) continue;
    expect(p.protection).toBeNull();
    // Below a driven browser, what looks like a person's browser is its helper.
    if (p.kind !== 'browser' || p.seen.anchor !== 'desktop-app') expect(p.seen.anchor).toBeNull();
    if (!policy.verdicts.includes('live')) expect(p.verdict).not.toBe('live');
    if (!policy.verdicts.includes('suspect')) expect(p.verdict).not.toBe('suspect');
    expect(policy.verdicts).toContain(at.get(keyOf(step.root))!.verdict);
  }
};

/** A subtree is taken whole or left whole: a planned process never leaves a running child behind. */
const mustBeWhole = (plan: Plan, snapshot: Snapshot): void => {
  const planned = new Set(plan.steps.map(step => step.pid));
  for (const p of snapshot.processes)
    if (p.facts.ppid !== null && planned.has(p.facts.ppid) && p.facts.state !== 'Z')
      expect(planned.has(p.facts.pid), `child ${p.facts.pid} of planned ${p.facts.ppid}`).toBe(true);
};

test('no plan for any random machine names what must not be ended', () => {
  let planned = 0;
  let refused = 0;
  fc.assert(
    fc.property(world, sample => {
      const { snapshot, lineage } = build(sample);
      const { policy } = sample;
      const targets = sample.targets.map(({ pick, recycled }) => {
        const identity = identityOf(snapshot.processes[pick % snapshot.processes.length]!);
        return recycled ? { ...identity, start: 'earlier' } : identity;
      });
      const lineageMembers = (key: IdentityKey): readonly IdentityKey[] => lineage.get(key) ?? [];
      const ground = { snapshot, lineageMembers };

      const end = planEnd({ ...ground, targets, policy });
      mustHold(end, snapshot, reachOf(snapshot, targets.map(keyOf), lineage));
      mustRespect(end, snapshot, policy);
      mustBeWhole(end, snapshot);
      for (const target of targets)
        expect([...end.steps, ...end.refused].some(entry => keyOf(entry) === keyOf(target))).toBe(true);

      const whole = planClean({ ...ground, policy });
      mustHold(whole, snapshot, null);
      mustRespect(whole, snapshot, policy);
      const narrowed = planClean({ ...ground, policy, kinds: sample.kinds });
      mustHold(narrowed, snapshot, new Set(whole.steps.map(keyOf)));
      mustRespect(narrowed, snapshot, policy);

      mustHold(planSignal({ snapshot, targets, signal: 'SIGSTOP' }), snapshot, new Set(targets.map(keyOf)));
      const zombies = planZombies({ ...ground, by: 'clean', minimumAgeSeconds: 60, quietSeconds: 10 });
      mustHold(zombies, snapshot, null);
      for (const step of zombies.steps) if (step.signal !== 'SIGCHLD') expect(step.confirm).toBe(false);

      planned += end.steps.length;
      refused += end.refused.length;
    }),
    { numRuns: 4_000 },
  );
  // The generator must reach both sides often, or the properties above would hold of nothing.
  expect(planned).toBeGreaterThan(2_500);
  expect(refused).toBeGreaterThan(2_500);
}, 120_000);
