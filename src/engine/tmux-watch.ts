import type { Node, Tree } from '../judge/tree.ts';
import { listTmux, type TmuxListing } from '../observe/tmux.ts';

/** Titles and activity go stale; asking again costs a child process per server. */
const STALE_SECONDS = 10;

/** `-L name` or `-S path` among the server's own words. */
const socketHint = (argv: readonly string[] | null): string | undefined => {
  const flag = argv?.findIndex(word => word === '-L' || word === '-S') ?? -1;
  return flag < 0 ? undefined : argv?.[flag + 1];
};

/**
 * Panes of every tmux server in the tree, asked anew only when a server's children changed or ten
 * seconds have passed: a refresh normally starts no child process.
 */
export class TmuxWatch {
  #asked: { readonly children: string; readonly clock: number; readonly listing: TmuxListing } | null = null;

  async panes(tree: Tree, clock: number, uid: number | null, env: NodeJS.ProcessEnv): Promise<TmuxListing> {
    const servers = tree.nodes.filter(
      node => node.seen.role === 'tmux-server' && node.facts.uid === uid && node.facts.state !== 'Z',
    );
    if (servers.length === 0 || uid === null) return { servers: [], warnings: [] };
    const children = servers.map(describeChildren).join(' ');
    const known = this.#asked;
    if (known !== null && known.children === children && clock - known.clock < STALE_SECONDS)
      return known.listing;
    const listing = await listTmux({
      uid,
      env,
      servers: servers.map(node => ({ pid: node.facts.pid, socketHint: socketHint(node.facts.argv) })),
      sockets: servers.flatMap(socketsNamedBelow),
    });
    this.#asked = { children, clock, listing };
    return listing;
  }
}

const describeChildren = (server: Node): string =>
  `${server.facts.pid}:${server.facts.start}[${server.children.map(child => `${child.facts.pid}:${child.facts.start}`).join(',')}]`;

/** A pane's own `$TMUX` names the socket, wherever that is. */
const socketsNamedBelow = (server: Node): string[] => {
  const values = server.children.map(child => child.facts.env?.TMUX);
  return [...new Set(values.filter(value => value !== undefined))];
};
