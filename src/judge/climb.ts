import type { AnchorKind, Kind } from '../model/kind.ts';
import type { TmuxPane, TmuxServer } from '../model/snapshot.ts';
import type { Node } from './tree.ts';

/** Where climbing from a process towards the root ends. */
export type Climb =
  /** Adopted: nobody who started it is left. `root` is PID 1, `systemd --user`, a tmux server… */
  | { readonly end: 'orphan-root'; readonly root: string }
  | { readonly end: 'pane'; readonly pane: TmuxPane | null }
  | { readonly end: 'anchor'; readonly anchor: AnchorKind | 'outside' | 'service'; readonly at: string }
  /** An ordinary process that is alive: its own affair, unless it is itself leaked. */
  | { readonly end: 'stranger'; readonly at: Node }
  /** The table does not show the parent. */
  | { readonly end: 'unknown' };

/** Kinds that only pass on what is above them. */
const PASSABLE: ReadonlySet<Kind> = new Set([
  'wrapper',
  'shell',
  'mcp',
  'lean-lsp',
  'lake',
  'lean',
  'browser',
  'agent',
]);

export interface Panes {
  readonly byPid: ReadonlyMap<number, TmuxPane>;
  /** tmux servers that told us their panes; for the others every child is taken for a pane. */
  readonly answered: ReadonlySet<number>;
}

export const panesOf = (servers: readonly TmuxServer[]): Panes => {
  const byPid = new Map<number, TmuxPane>();
  const answered = new Set<number>();
  for (const server of servers) {
    if (server.reachable && server.pid !== null) answered.add(server.pid);
    for (const pane of server.panes) if (!pane.dead) byPid.set(pane.pid, pane);
  }
  return { byPid, answered };
};

/** Climbs with a memory, so that a whole table costs one step per process. `isService`: soft-protected servers and units. */
export const climber = (panes: Panes, isService: (node: Node) => string | null): ((node: Node) => Climb) => {
  const known = new Map<Node, Climb>();

  const climb = (node: Node): Climb => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const result = step(node);
    known.set(node, result);
    return result;
  };

  const step = (node: Node): Climb => {
    const { parent } = node;
    if (parent === null) return withoutParent(node);
    const pane = panes.byPid.get(node.facts.pid);
    if (parent.seen.role === 'tmux-server') {
      // A server that does not answer is unknown, not dead: its children count as panes.
      if (pane !== undefined || !panes.answered.has(parent.facts.pid))
        return { end: 'pane', pane: pane ?? null };
      return { end: 'orphan-root', root: `the tmux server ${parent.facts.pid}, in none of its panes` };
    }
    if (parent.facts.pid === 1) return { end: 'orphan-root', root: 'PID 1' };
    if (parent.seen.adoptsOrphans && parent.facts.uid === node.facts.uid) {
      return { end: 'orphan-root', root: `${parent.seen.name} (${parent.facts.pid})` };
    }
    if (parent.seen.anchor !== null)
      return { end: 'anchor', anchor: parent.seen.anchor, at: `${parent.seen.name} (${parent.facts.pid})` };
    const service = isService(parent);
    if (service !== null)
      return { end: 'anchor', anchor: 'service', at: `${parent.seen.name} (${parent.facts.pid})` };
    if (PASSABLE.has(parent.kind)) return climb(parent);
    if (leadsTerminalSession(node))
      return {
        end: 'anchor',
        anchor: 'terminal',
        at: `${parent.seen.name} (${parent.facts.pid}), on ${node.facts.tty}`,
      };
    return { end: 'stranger', at: parent };
  };

  return climb;
};

/** Only PID 1 and 0 may be inferred when they are not listed; any other missing parent is unknown. */
const withoutParent = (node: Node): Climb => {
  const { ppid, pid } = node.facts;
  if (ppid === 1) return { end: 'orphan-root', root: 'PID 1' };
  // `docker exec` and nsenter put a process under a parent outside this pid namespace.
  if (ppid === 0 && pid > 2)
    return { end: 'anchor', anchor: 'outside', at: 'a parent outside this namespace' };
  return { end: 'unknown' };
};

/** Whoever started a session leader on a pty is a terminal, whatever it is called. */
const leadsTerminalSession = (node: Node): boolean =>
  node.facts.tty !== null && node.facts.sid === node.facts.pid;
