import type { TmuxPane, TmuxServer } from '../../model/observation.ts';

export interface Panes {
  readonly byPid: ReadonlyMap<number, TmuxPane>;
  /** tmux servers whose panes are known; for the others every child counts as a pane. */
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
