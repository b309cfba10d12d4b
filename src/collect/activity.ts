import type { Node } from '../judge/rules/tree.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Activity } from '../model/process.ts';

/** One tick of the kernel's clock is 10 ms: over less than a second it says nothing about one percent. */
export const ACTIVITY_SECONDS = 1;

interface Mark {
  readonly clock: number;
  readonly cpuSeconds: number;
  readonly io: number;
}

/** What processes did between this sample and the last one that is at least a second old. */
export class ActivityWatch {
  #marks = new Map<IdentityKey, readonly Mark[]>();

  /** Puts the activity on every node whose work was asked for. */
  attach(nodes: Iterable<Node>, clock: number): void {
    const marks = new Map<IdentityKey, readonly Mark[]>();
    for (const node of nodes) {
      const { cpuSeconds, details } = node.facts;
      const io = details?.io ?? null;
      // An invented machine says itself what its processes do.
      if (cpuSeconds === null || io === null || node.facts.activity != null) continue;
      const now = { clock, cpuSeconds, io };
      const key = keyOf(node.facts);
      const earlier = (this.#marks.get(key) ?? []).filter(mark => mark.clock < clock);
      const old = earlier.filter(mark => clock - mark.clock >= ACTIVITY_SECONDS);
      const base = old.at(-1);
      node.facts = { ...node.facts, activity: base === undefined ? null : between(base, now) };
      // Older marks than the one that was compared with are never needed again.
      marks.set(key, [...(base === undefined ? [] : [base]), ...earlier.slice(old.length), now]);
    }
    this.#marks = marks;
  }
}

const between = (from: Mark, to: Mark): Activity => ({
  cpu: (100 * (to.cpuSeconds - from.cpuSeconds)) / (to.clock - from.clock),
  bytes: to.io - from.io,
});
