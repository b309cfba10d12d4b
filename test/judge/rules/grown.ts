import { BLANK } from '../../../src/judge/recognise/answer.ts';
import { growTree, type Node, type Tree } from '../../../src/judge/rules/tree.ts';
import type { Kind, Recognition } from '../../../src/model/kind.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { type Extra, factsOf, world } from '../../support/world.ts';

/** What differs from an ordinary process that nothing is known of. */
export interface Part extends Extra {
  readonly seen?: Partial<Recognition>;
}

/** `[pid, ppid, 'command line', kind, what differs]`: what it is is said, not recognised. */
export type Member = readonly [pid: number, ppid: number, command: string, kind: Kind, part?: Part];

export interface Grown {
  readonly tree: Tree;
  readonly observation: Observation;
  readonly at: (pid: number) => Node;
}

/** A tree of these processes alone, each of the kind that its row says. */
export const grown = (members: readonly Member[], around: Partial<Observation> = {}): Grown => {
  const seen = new Map<number, Recognition>();
  const processes = members.map(([pid, ppid, command, kind, { seen: words, ...extra } = {}]) => {
    seen.set(pid, { ...BLANK, kind, mentionsMcp: false, ...words });
    return factsOf([pid, ppid, command, extra]);
  });
  const observation = { ...world([], { bare: true }).observation, ...around, processes };
  const tree = growTree(observation, ({ pid }) => seen.get(pid)!);
  return { tree, observation, at: pid => tree.byPid.get(pid)! };
};
