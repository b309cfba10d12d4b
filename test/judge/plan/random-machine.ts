import fc from 'fast-check';
import { type IdentityKey, keyOf } from '../../../src/model/identity.ts';
import { KINDS } from '../../../src/model/kind.ts';
import { type JudgedProcess, VERDICTS } from '../../../src/model/snapshot.ts';
import { HOUSE, invent, SELF, snapshotOf, UID } from './machine.ts';

/** Rare things rare enough that many trees stay plannable, common enough that thousands do not. */
export const mostly = <T>(usual: T, ...rare: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 50, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

/** One process of a machine that nobody would think of. */
export const node = fc.record({
  /** Picks among the earlier processes; low values are PID 1, the shell and reaptop. */
  parent: fc.nat(),
  uid: mostly<number | null>(UID, 0, 33, null),
  verdict: fc.constantFrom(...VERDICTS.filter(v => v !== 'protected'), 'leak' as const, 'leak' as const),
  protection: mostly<'hard' | 'soft' | null>(null, 'hard', 'soft'),
  state: mostly('S', 'T', 'Z', 'D'),
  kind: fc.constantFrom(...KINDS),
  unreadable: mostly(false, true),
  kernelThread: mostly(false, true),
  pgid: mostly<number | null>(7, SELF, null),
  anchor: mostly<'editor' | null>(null, 'editor'),
  born: mostly<'pid' | 'old' | 'unknown'>('pid', 'old', 'unknown'),
  age: fc.constantFrom(10, 100, 5000),
  lineageOf: mostly<number | null>(null, 0, 1, 2, 3, 4, 5),
});

export const build = ({
  nodes,
  firstPid,
}: {
  nodes: readonly (typeof node extends fc.Arbitrary<infer T> ? T : never)[];
  firstPid: number;
}) => {
  const processes: JudgedProcess[] = [...HOUSE];
  const lineage = new Map<IdentityKey, IdentityKey[]>();
  nodes.forEach((n, index) => {
    const pid = firstPid + index;
    const parent = processes[n.parent % processes.length]!;
    const bornOf = { pid: undefined, old: 0, unknown: null };
    const born = bornOf[n.born] === undefined ? (parent.facts.born ?? pid) + 1 : bornOf[n.born]!;
    processes.push(
      invent(pid, parent.facts.pid, {
        kind: n.kind,
        verdict: n.protection === null ? n.verdict : 'protected',
        protection: n.protection,
        protectedBecause: n.protection,
        ageSeconds: n.age,
        facts: {
          uid: n.uid,
          state: n.state,
          unreadable: n.unreadable,
          kernelThread: n.kernelThread,
          pgid: n.pgid === 7 ? pid : n.pgid,
          born,
        },
        seen: { anchor: n.anchor, role: n.kind === 'lake' ? 'lake-build' : null },
      }),
    );
    if (n.lineageOf !== null) {
      const ancestor = keyOf(processes[n.lineageOf % processes.length]!.facts);
      lineage.set(ancestor, [...(lineage.get(ancestor) ?? []), `${pid}:s${pid}`]);
    }
  });
  return { snapshot: snapshotOf(processes), lineage };
};
