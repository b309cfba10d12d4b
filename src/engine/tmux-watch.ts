import type { Node, Tree } from '../judge/rules/tree.ts';
import type { Sample } from '../model/observation.ts';
import { listTmux, type TmuxListing } from '../observe/tmux.ts';

/** Titles and activity go stale; asking again costs a child process per server. */
const STALE_SECONDS = 10;

/** `-L name` or `-S path` among the server's own words. */
const socketHint = (argv: readonly string[] | null): string | undefined => {
  const flag = argv?.findIndex(word => word === '-L' || word === '-S') ?? -1;
  return flag < 0 ? undefined : argv?.[flag + 1];
};

/**
 * Panes of every tmux server in the tree, asked again only when a server's children changed or ten
 * seconds have passed: a refresh normally starts no child process.
 */
export class TmuxWatch {
  #asked: { readonly children: string; readonly clock: number; readonly listing: TmuxListing } | null = null;

  /** In a hurry a server that has not answered at once is unknown for now: the rest is not waited for. */
  async panes(
    tree: Tree,
    look: Sample,
    env: NodeJS.ProcessEnv,
    {
      hurry = false,
      fresh = false,
      alone = false,
    }: { readonly hurry?: boolean; readonly fresh?: boolean; readonly alone?: boolean } = {},
  ): Promise<TmuxListing> {
    const uid = look.self?.uid ?? null;
    const servers = tree.nodes.filter(
      node => node.seen.role === 'tmux-server' && node.facts.uid === uid && node.facts.state !== 'Z',
    );
    if (servers.length === 0 || uid === null) return { servers: [], warnings: [] };
    const children = describeChildren(new Set(servers.map(node => node.facts.pid)), look);
    const known = this.#asked;
    if (!fresh && known !== null && known.children === children && look.clock - known.clock < STALE_SECONDS)
      return known.listing;
    const listed = listTmux({
      uid,
      env,
      servers: servers.map(node => ({ pid: node.facts.pid, socketHint: socketHint(node.facts.argv) })),
      sockets: servers.flatMap(socketsNamedBelow),
      alone,
    });
    const listing = await (hurry ? Promise.race([listed, soonEnough()]) : listed);
    if (listing === null) return unanswered(servers);
    this.#asked = isUpToDate(listing, look) ? { children, clock: look.clock, listing } : null;
    return listing;
  }
}

/** A server at rest answers within this time. */
const AT_ONCE_MS = 25;

const soonEnough = (): Promise<null> => new Promise(answer => setTimeout(() => answer(null), AT_ONCE_MS));

/** The next look asks again: an answer from now would not know the panes of then. */
const unanswered = (servers: readonly Node[]): TmuxListing => ({
  servers: servers.map(node => ({ socket: '', pid: node.facts.pid, reachable: false, panes: [] })),
  warnings: [],
});

/** From the whole look: the tree may leave out panes that concern no agent, now and then. */
const describeChildren = (servers: ReadonlySet<number>, look: Sample): string =>
  look.processes
    .filter(p => p.ppid !== null && servers.has(p.ppid))
    .map(p => `${p.ppid}>${p.pid}:${p.start}`)
    .join(' ');

/** tmux may still list a pane whose process we already saw gone: then the answer is not worth keeping. */
const isUpToDate = ({ servers }: TmuxListing, look: Sample): boolean => {
  const present = new Set(look.processes.map(p => p.pid));
  return servers.every(server => server.panes.every(pane => pane.dead || present.has(pane.pid)));
};

/** A pane's own `$TMUX` names the socket, wherever that is. */
const socketsNamedBelow = (server: Node): string[] => {
  const values = server.children.map(child => child.facts.env?.TMUX);
  return [...new Set(values.filter(value => value !== undefined))];
};
