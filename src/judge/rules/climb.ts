import type { AnchorKind, Kind } from '../../model/kind.ts';
import type { Observation, TmuxPane } from '../../model/observation.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { Panes } from './tmux-pane.ts';
import { type Node, nodeLabel } from './tree.ts';

/** Where climbing from a process towards the root ends. */
export type Climb =
  /** Adopted: nothing that started it is left. `root` is PID 1, `systemd --user`, a tmux server… */
  | {
      readonly end: 'orphan-root';
      readonly root: string;
      /** The pid of the agent that kept the tmux server it runs in for itself, and has ended. */
      readonly lead?: number;
    }
  | { readonly end: 'pane'; readonly pane: TmuxPane | null; readonly through: Node | null }
  | {
      readonly end: 'anchor';
      readonly anchor: AnchorKind | 'outside' | 'service';
      readonly at: string;
      /** The nearest ordinary process on the way, when the climb did not lead through wrappers and shells alone. */
      readonly through: Node | null;
    }
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

/** Climbs with a memory, so that a whole table costs one step per process. `isService`: soft-protected servers and units. */
export const climber = (
  panes: Panes,
  isService: (node: Node) => string | null,
  endedLead: (server: Node) => number | null = () => null,
): ((node: Node) => Climb) => {
  const known = new Map<Node, Climb>();

  // From the top down: what a step needs is known by then, and a chain of thousands needs no deeper stack.
  const climb = (node: Node): Climb => {
    const unknown: Node[] = [];
    for (let up: Node | null = node; up !== null && !known.has(up); up = up.parent) unknown.push(up);
    for (const next of unknown.reverse()) known.set(next, step(next));
    return known.get(node)!;
  };

  const step = (node: Node): Climb => {
    const { parent } = node;
    const pane = panes.byPid.get(node.facts.pid);
    const lead = parent?.seen.role === 'tmux-server' ? endedLead(parent) : null;
    if (parent !== null && lead !== null)
      return {
        end: 'orphan-root',
        root: `${nodeLabel(parent)}, which claude ${lead} kept for its team`,
        lead,
      };
    if (pane !== undefined) return { end: 'pane', pane, through: null };
    if (parent === null) return withoutParent(node);
    if (parent.seen.role === 'tmux-server') return belowTmux(node, parent);
    if (parent.facts.pid === 1)
      return worksInFirstShell(node, parent)
        ? anchored('terminal', parent, node)
        : { end: 'orphan-root', root: 'PID 1' };
    if (adopts(parent, node))
      // A shell that WSL itself put on a terminal was not adopted: a user types into it.
      return parent.seen.role === 'wsl-plumbing' && leadsTerminalSession(node)
        ? anchored('terminal', parent, node)
        : { end: 'orphan-root', root: nodeLabel(parent) };
    const anchor = anchorOf(parent);
    if (anchor !== null) return anchored(anchor, parent);
    if (isService(parent) !== null) return anchored('service', parent);
    if (PASSABLE.has(parent.kind)) return climb(parent);
    if (leadsTerminalSession(node)) return anchored('terminal', parent, node);
    // An ordinary program in a pane, an editor or a login holds what it started just as well.
    const beyond = climb(parent);
    return beyond.end === 'pane' || beyond.end === 'anchor'
      ? { ...beyond, through: parent }
      : { end: 'stranger', at: parent };
  };

  const belowTmux = (node: Node, server: Node): Climb => {
    // A server that does not answer is unknown, not dead: its children count as panes.
    if (!panes.answered.has(server.facts.pid)) return { end: 'pane', pane: null, through: null };
    // A popup is none of its panes. What outlives its pane has lost its terminal: the kernel takes it away.
    if (node.facts.tty !== null) return anchored('terminal', server, node);
    return { end: 'orphan-root', root: `the tmux server ${server.facts.pid}, in none of its panes` };
  };

  return climb;
};

/**
 * What holds whatever runs below it. An editor is known by its name alone, which any program may have: it is none when
 * it has neither a terminal nor a window, and serves no client.
 */
export const anchorOf = ({ seen, facts }: Being): AnchorKind | null => {
  if (seen.anchor !== 'editor' || seen.family === 'editor-server') return seen.anchor;
  const { details } = facts;
  const idle = facts.tty === null && details?.uses?.length === 0 && details.listening?.ports.length === 0;
  return idle ? null : seen.anchor;
};

/** `tmux -L claude-swarm-4711`: the server in which claude 4711 runs its team, out of sight. */
const SWARM = /(?:^|\/)claude-swarm-(\d+)$/;

/** Does a tmux server's own command line name the socket of a team? */
export const isSwarm = ({ facts }: Node): boolean => (facts.argv ?? []).some(word => SWARM.test(word));

/** Whose team a tmux server was made for, when that agent has ended and no client is attached; null otherwise. */
export const endedLeadOf = (
  server: Node,
  { tmux, host }: Observation,
  processAt: (pid: number) => ProcessFacts | undefined,
): number | null => {
  const known = tmux.find(({ pid }) => pid === server.facts.pid);
  if (known === undefined || !known.reachable || known.panes.some(pane => pane.attached)) return null;
  const lead = Number(SWARM.exec(known.socket)?.[1] ?? 0);
  // In a container the number may be of another pid namespace.
  if (lead <= 1 || host.container || server.facts.details?.innerPid !== undefined) return null;
  const now = processAt(lead);
  const runs =
    now !== undefined && now.state !== 'Z' && !(now.born !== null && (server.facts.born ?? 0) < now.born);
  return runs ? null : lead;
};

/** Only PID 1 and 0 may be inferred when they are not listed; any other missing parent is unknown. */
const withoutParent = (node: Node): Climb => {
  const { ppid, pid } = node.facts;
  if (ppid === 1) return { end: 'orphan-root', root: 'PID 1' };
  // `docker exec` and nsenter put a process under a parent outside this pid namespace.
  if (ppid === 0 && pid > 2)
    return { end: 'anchor', anchor: 'outside', at: 'a parent outside this namespace', through: null };
  return { end: 'unknown' };
};

const anchored = (anchor: AnchorKind | 'service', at: Node, onTerminal?: Node): Climb => ({
  end: 'anchor',
  anchor,
  at: onTerminal === undefined ? nodeLabel(at) : `${nodeLabel(at)}, on ${onTerminal.facts.tty}`,
  through: null,
});

type Being = Pick<Node, 'facts' | 'seen'>;

/** The adopters other than PID 1. A user manager adopts its own user's orphans only; launchd and WSL adopt all. */
export const adopts = (parent: Being, node: Being): boolean =>
  parent.seen.adoptsOrphans && (parent.seen.family !== 'systemd-user' || parent.facts.uid === node.facts.uid);

/** What started a session leader on a pty is a terminal, whatever it is called. A listing without SID: a shell on a tty. */
const leadsTerminalSession = ({ facts, kind }: Node): boolean =>
  facts.tty !== null && (facts.sid === null ? kind === 'shell' : facts.sid === facts.pid);

/** `docker run -it image bash`: PID 1 is the user's own shell. Its agents sit on its terminal; orphaned servers may too. */
const worksInFirstShell = (node: Node, first: Node): boolean =>
  first.kind === 'shell' &&
  (node.kind === 'agent' || node.kind === 'shell') &&
  node.facts.tty !== null &&
  node.facts.tty === first.facts.tty;

/** The pane that a climb ended in; null: in none, or in one that tmux did not tell. */
export const paneOf = (climb: Climb): TmuxPane | null => (climb.end === 'pane' ? climb.pane : null);
