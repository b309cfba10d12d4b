/** Where a process stands, from any table of processes. */
export interface TreePlace {
  readonly pid: number;
  readonly ppid: number | null;
}

/** Something that is linked to what is above and below it. */
export interface Linked<N> {
  readonly parent: N | null;
  readonly children: readonly N[];
}

/** The same while it is being linked. */
export interface Linking<N> {
  parent: N | null;
  readonly children: N[];
}

/**
 * Links every node to its parent, and gives them by pid. A forged or torn table may call a process its own
 * grandparent: the link that would close the circle is left out, so that every walk ends.
 */
export const linkForest = <N extends Linking<N>>(
  nodes: readonly N[],
  placeOf: (node: N) => TreePlace,
  mayBeParent: (parent: N, child: N) => boolean,
  onLoop: (parent: N, child: N) => void = () => {},
): ReadonlyMap<number, N> => {
  const byPid = new Map<number, N>();
  for (const node of nodes) byPid.set(placeOf(node).pid, node);
  for (const node of nodes) {
    const { ppid } = placeOf(node);
    const parent = ppid === null ? undefined : byPid.get(ppid);
    if (parent === undefined || !mayBeParent(parent, node)) continue;
    if (isAtOrAbove(node, parent)) {
      onLoop(parent, node);
      continue;
    }
    node.parent = parent;
    parent.children.push(node);
  }
  return byPid;
};

const isAtOrAbove = <N extends Linked<N>>(node: N, start: N): boolean => {
  // A node without children is above nothing: in a table with parents first no walk is made at all.
  if (node.children.length === 0) return node === start;
  for (let up: N | null = start; up !== null; up = up.parent) if (up === node) return true;
  return false;
};

/** Every ancestor, nearest first. */
export function* ancestorsOf<N extends Linked<N>>(node: N): Generator<N> {
  for (let up = node.parent; up !== null; up = up.parent) yield up;
}

/** The node and what is below it, parents first. Not by recursion: a script that starts itself makes a chain of thousands. */
export function* subtreeOf<N extends Linked<N>>(node: N, mayEnter = (_below: N) => true): Generator<N> {
  const pending = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next !== node && !mayEnter(next)) continue;
    yield next;
    for (let index = next.children.length - 1; index >= 0; index -= 1) pending.push(next.children[index]!);
  }
}

/**
 * A value that a node gets from its parent's, worked out once a node and from the top down: asked of every process of a
 * chain, each costs one step, and the stack stays flat. What it is made from must not change any more.
 */
export const fromAbove = <N extends Linked<N>, T>(
  step: (node: N, above: T | undefined) => T,
): ((node: N) => T) => {
  const known = new WeakMap<N, { readonly value: T }>();
  const learn = (node: N, above: T | undefined): T => {
    const value = step(node, above);
    known.set(node, { value });
    return value;
  };
  return node => {
    const before = known.get(node);
    if (before !== undefined) return before.value;
    const unknown: N[] = [];
    let up = node.parent;
    for (; up !== null && !known.has(up); up = up.parent) unknown.push(up);
    let above = up === null ? undefined : known.get(up)!.value;
    for (let next = unknown.pop(); next !== undefined; next = unknown.pop()) above = learn(next, above);
    return learn(node, above);
  };
};

/** The same from the values of the children. `mayEnter`: below which nodes anything counts. */
export const fromBelow = <N extends Linked<N>, T>(
  step: (node: N, below: readonly T[]) => T,
  mayEnter = (_node: N) => true,
): ((node: N) => T) => {
  const known = new WeakMap<N, { readonly value: T }>();
  return top => {
    const before = known.get(top);
    if (before !== undefined) return before.value;
    const order: N[] = [];
    const pending = [top];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (known.has(next)) continue;
      order.push(next);
      if (mayEnter(next)) pending.push(...next.children);
    }
    for (const node of order.reverse()) {
      const below = mayEnter(node) ? node.children.map(child => known.get(child)!.value) : [];
      known.set(node, { value: step(node, below) });
    }
    return known.get(top)!.value;
  };
};

/**
 * The line upwards by the pids themselves, the first one included: where a torn table has a circle, links are left
 * out, and who is above must not be lost.
 */
export const selfAndAncestors = <T>(
  first: T | null | undefined,
  above: (member: T) => T | null | undefined,
): ReadonlySet<T> => {
  const line = new Set<T>();
  for (let up = first; up !== null && up !== undefined && !line.has(up); up = above(up)) line.add(up);
  return line;
};

/** Who descends from whom, for things that are not linked themselves. */
export interface Forest<T> {
  /** Those without a parent among the members. */
  readonly roots: readonly T[];
  at(pid: number | null): T | null;
  parentOf(member: T): T | null;
  /** In the order in which the members were given. */
  childrenOf(member: T): readonly T[];
  /** Nearest first. */
  ancestorsOf(member: T): readonly T[];
  /** The member and all its descendants, parents before children. */
  subtreeOf(member: T): readonly T[];
  /**
   * Leaves first, then up: by height above the deepest descendant, which puts every child before its parent; ties
   * by pid.
   */
  leavesFirst(members: readonly T[]): readonly T[];
}

interface Tree<T> extends Linking<Tree<T>> {
  readonly member: T;
  readonly place: TreePlace;
  /** Children by their own word whose link would have closed a circle. */
  readonly strays: Tree<T>[];
}

const memberOf = <T>({ member }: Tree<T>): T => member;

const heightsOf = <T>(tops: readonly Tree<T>[]): ReadonlyMap<Tree<T>, number> => {
  const heights = new Map<Tree<T>, number>();
  for (const top of tops) {
    if (heights.has(top)) continue;
    // Parents come before children in a subtree, so backwards every child is known before its parent.
    for (const tree of [...subtreeOf(top)].reverse())
      heights.set(
        tree,
        tree.children.reduce((most, child) => Math.max(most, heights.get(child)! + 1), 0),
      );
  }
  return heights;
};

/** A subtree that may be ended holds everybody who claims to be in it, strays too. */
const withStrays = <T>(top: Tree<T>): Iterable<Tree<T>> => {
  const found = new Set<Tree<T>>();
  const pending = [top];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    pending.push(...next.strays, ...[...next.children].reverse());
  }
  return found;
};

export const forestOf = <T>(
  members: Iterable<T>,
  placeOf: (member: T) => TreePlace,
  mayBeParent: (parent: T, child: T) => boolean = () => true,
): Forest<T> => {
  const trees = new Map<T, Tree<T>>();
  for (const member of members)
    trees.set(member, { member, place: placeOf(member), parent: null, children: [], strays: [] });
  const all = [...trees.values()];
  const byPid = linkForest(
    all,
    ({ place }) => place,
    (parent, child) => mayBeParent(parent.member, child.member),
    (parent, child) => parent.strays.push(child),
  );
  const treeOf = (member: T): Tree<T> | undefined => trees.get(member);
  const listed = (found: Iterable<Tree<T>> | undefined): readonly T[] => Array.from(found ?? [], memberOf);
  return {
    roots: all.filter(({ parent }) => parent === null).map(memberOf),
    at: pid => (pid === null ? null : (byPid.get(pid)?.member ?? null)),
    parentOf: member => treeOf(member)?.parent?.member ?? null,
    childrenOf: member => listed(treeOf(member)?.children),
    ancestorsOf: member => {
      const above: T[] = [];
      for (let up = treeOf(member)?.parent ?? null; up !== null; up = up.parent) above.push(up.member);
      return above;
    },
    subtreeOf: member => {
      const tree = treeOf(member);
      return tree === undefined ? [member] : listed(withStrays(tree));
    },
    leavesFirst: some => {
      const found = some.flatMap(member => treeOf(member) ?? []);
      const heights = heightsOf(found);
      return found
        .sort((a, b) => heights.get(a)! - heights.get(b)! || a.place.pid - b.place.pid)
        .map(memberOf);
    },
  };
};

/** Adds to the list that a map keeps under a key. */
export const pushTo = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
