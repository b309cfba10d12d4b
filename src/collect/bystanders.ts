import type { Lineage } from '../judge/rules/lineage.ts';
import type { Node, Tree } from '../judge/rules/tree.ts';
import type { Look } from '../model/observation.ts';
import { isZombie, type ProcessFacts } from '../model/process.ts';

/** Nothing that decides what it is or whose it is has changed. An exec replaces argv, even by the same words. */
const isAsBefore = (before: ProcessFacts, now: ProcessFacts): boolean =>
  before.start === now.start &&
  before.ppid === now.ppid &&
  before.argv === now.argv &&
  before.comm === now.comm &&
  before.uid === now.uid &&
  isZombie(before) === isZombie(now);

interface Grown {
  readonly tree: Tree;
  readonly related: ReadonlySet<Node>;
  readonly whole: boolean;
}

/** tmux servers are asked for their panes, and an unreadable process may be somebody's owner: both stay in sight. */
const isBystander = (node: Node, related: ReadonlySet<Node>): boolean =>
  !related.has(node) && node.seen.role === null && !node.facts.unreadable;

/**
 * Processes that concern no agent, and cannot before they exec or get another parent. Growing and judging
 * a tree of 5,000 takes 15 ms a look; noticing that they are all the same takes one.
 */
export class Bystanders {
  readonly #known = new Map<number, ProcessFacts>();
  #grown: Grown | null = null;

  /** Who has to be judged: everybody but the bystanders, and those above them. All, when a bystander has changed. */
  leaveOut(look: Look, lineage: Lineage, registered: Iterable<number> = []): readonly ProcessFacts[] {
    if (this.#grown !== null) this.#learn(this.#grown);
    this.#grown = null;
    if (this.#known.size === 0) return look.processes;
    for (const key of lineage.entries().keys()) this.#known.delete(Number.parseInt(key, 10));
    // Whatever they look like, Claude calls them its sessions: they may be somebody's owner.
    for (const pid of registered) this.#known.delete(pid);
    const pending: ProcessFacts[] = [];
    for (const now of look.processes) {
      const before = this.#known.get(now.pid);
      if (before === undefined || now.pid === look.self?.pid) pending.push(now);
      else if (before !== now) {
        if (!isAsBefore(before, now)) return look.processes;
        this.#known.set(now.pid, now);
      }
    }
    const wanted = new Set(pending.map(p => p.pid));
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const above = this.#known.get(next.ppid ?? 0);
      if (above === undefined || wanted.has(above.pid)) continue;
      wanted.add(above.pid);
      pending.push(above);
    }
    return look.processes.filter(p => wanted.has(p.pid));
  }

  /** Keeps a tree that was grown, whole or not, to learn from it when there is another look: `--once` has none. */
  remember(tree: Tree, related: ReadonlySet<Node>, look: Look): void {
    this.#grown = { tree, related, whole: tree.nodes.length === look.processes.length };
  }

  #learn({ tree, related, whole }: Grown): void {
    if (whole) this.#known.clear();
    for (const node of tree.nodes) {
      if (isBystander(node, related)) this.#known.set(node.facts.pid, node.facts);
      else this.#known.delete(node.facts.pid);
    }
  }

  /** Words mean something else from now on. */
  forget(): void {
    this.#grown = null;
    this.#known.clear();
  }
}
