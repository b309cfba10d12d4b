import type { TmuxPane, TmuxServer } from '../../model/observation.ts';
import { INVENTED_NOW } from './machine.ts';

/** server pid, its socket, and per pane: session, pane, pid, tty, attached, seconds since its last output. */
const SERVERS: readonly {
  readonly pid: number;
  readonly socket: string;
  readonly panes: readonly (readonly [string, string, number, string, boolean, number])[];
}[] = [
  {
    pid: 1201,
    socket: '/tmp/tmux-1000/default',
    panes: [
      ['main', '%0', 1210, 'pts/0', true, 4],
      ['main', '%1', 1215, 'pts/1', true, 720],
      ['main', '%2', 1220, 'pts/2', true, 30],
      ['main', '%3', 1225, 'pts/3', true, 1],
      ['lean', '%5', 2095, 'pts/5', false, 30],
    ],
  },
  {
    pid: 5200,
    socket: '/tmp/tmux-1000/agents',
    panes: [
      ['agent_688', '%0', 5210, 'pts/8', false, 790],
      ['agent_701', '%1', 5310, 'pts/9', false, 12],
    ],
  },
];

/** The panes whose processes are still there. */
export const inventedTmux = (isThere: (pid: number) => boolean): readonly TmuxServer[] =>
  SERVERS.map(({ pid, socket, panes }) => ({
    socket,
    pid,
    reachable: true,
    panes: panes
      .filter(([, , panePid]) => isThere(panePid))
      .map(
        ([session, pane, panePid, tty, attached, quiet]): TmuxPane => ({
          socket,
          sessionId: `$${session}`,
          session,
          windowId: '@1',
          window: 1,
          pane,
          pid: panePid,
          tty,
          dead: false,
          title: session,
          activity: INVENTED_NOW / 1000 - quiet,
          attached,
        }),
      ),
  }));
