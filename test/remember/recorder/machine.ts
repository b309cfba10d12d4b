import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { CLOCK, type Row, tmux, world } from '../../support/world.ts';

export const NOON = Date.UTC(2026, 10, 16, 12, 0, 0);

const BEAT: Heartbeat = {
  path: '/home/me/project/specs/688/.agent-progress.json',
  format: 'agent-progress',
  state: 'fine',
  reason: null,
  ageSeconds: 12,
  sessionId: null,
  task: '688',
  phase: '2',
  operation: 'checking',
  proof: null,
  status: null,
  counters: { diagnostic_calls: 3 },
  agent: { pid: 300, start: '30000' },
};

/** An agent in a pane with a server, and one server that nobody owns any more. */
const rows = (seconds: number, extra: readonly Row[]): Row[] => [
  [200, 1, 'tmux new', { comm: 'tmux: server', argv: ['tmux'] }],
  [210, 200, '-zsh', { tty: 'pts/0' }],
  [300, 210, 'claude', { tty: 'pts/0', cpuSeconds: seconds, cpu: 3.17159, rss: 400e6 + 4096 * seconds }],
  [310, 300, 'npx -y @playwright/mcp', { env: { CLAUDE_CODE_SESSION_ID: 'sécret-session' } }],
  [400, 1, 'npx -y chroma-mcp --api-key ***'],
  ...extra,
];

/** The invented machine so many seconds after noon, judged; `all` leaves bystanders in, as a plan needs them. */
export const momentAt = (
  seconds: number,
  { extra = [], all = false }: { extra?: readonly Row[]; all?: boolean } = {},
): Snapshot => {
  const { snapshot } = world(rows(seconds, extra), {
    takenAt: NOON + seconds * 1000,
    clock: CLOCK + seconds,
    tmux: [tmux(200, [210])],
    all,
  });
  return { ...snapshot, heartbeats: [{ ...BEAT, ageSeconds: 12 + seconds }] };
};
