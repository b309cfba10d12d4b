import type { Finding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { Identity } from '../../model/identity.ts';
import type { TmuxPane, TmuxServer } from '../../model/snapshot.ts';
import { AGENTS_SOCKET, DEMO_NOW, MAIN_SOCKET } from './machine.ts';

/** Findings and heartbeats of the demo, made only of the identities that are still there. */
export type Find = (...pids: readonly number[]) => readonly Identity[];

const finding = (
  f: Omit<Finding, 'files' | 'action'> & Partial<Pick<Finding, 'files' | 'action'>>,
): Finding => ({
  files: [],
  action: null,
  ...f,
});

export const demoFindings = (find: Find, leaks: number, held: string): readonly Finding[] => {
  const all: readonly Finding[] = [
    finding({
      id: 'leak',
      severity: 'critical',
      title: `${leaks} leaked processes hold ${held}`,
      why: 'three trees whose sessions have ended; more than 1 GiB together',
      processes: find(3310, 3402, 3505),
      remedy: 'c ends the leaked trees',
      action: 'clean',
    }),
    finding({
      id: 'zombie',
      severity: 'critical',
      title: 'lean-lsp-mcp 1522 owes the wait for 3 zombies',
      why: 'three lake.orig ended and were never reaped; later calls to this server may block',
      processes: find(1522),
      remedy: 'z nudges it with SIGCHLD',
      action: 'zombies',
    }),
    finding({
      id: 'heartbeat-stale',
      severity: 'critical',
      title: 'task 688 has been silent for 13m',
      why: 'its progress file says checking diagnostics on density_bound; nothing below the agent uses CPU',
      processes: find(5230),
      files: ['/home/ada/proofs/task-688/specs/688/.agent-progress.json'],
      remedy: 'look at its pane (o); end it when it is hung (x)',
      action: 'end',
    }),
    finding({
      id: 'memory-growth',
      severity: 'warn',
      title: 'lean-lsp-mcp 5262 grows by 840 MiB an hour',
      why: 'from 796 MiB to 936 MiB in 10 minutes; reaches 1.9 GiB in about 1h11m',
      processes: find(5262),
      remedy: 'watch it',
      action: null,
    }),
    finding({
      id: 'concurrent-builds',
      severity: 'warn',
      title: '2 lake builds in mathlib-fork',
      why: '2140 and 2190 build the same project and wait for each other',
      processes: find(2190, 2140),
      remedy: 'end the newer one',
      action: 'end',
    }),
    finding({
      id: 'too-many-agents',
      severity: 'info',
      title: '8 claude agents run',
      why: 'more than 3 of one family; 2101 has been idle for 40m',
      processes: find(2101),
      remedy: 'end the idle ones',
      action: 'end',
    }),
    finding({
      id: 'leftover-files',
      severity: 'info',
      title: '14 files of finished agents, 41 MiB',
      why: 'prompt files and stream logs of tasks 641 to 659',
      processes: [],
      files: ['/home/ada/proofs/.agent-workspace/TASK-641'],
      remedy: 'reaptop sweep',
      action: 'sweep',
    }),
  ];
  return all.filter(f => f.id === 'leftover-files' || f.processes.length > 0);
};

const beat = (b: Partial<Heartbeat> & Pick<Heartbeat, 'path' | 'state'>): Heartbeat => ({
  format: 'agent-progress',
  reason: null,
  ageSeconds: null,
  sessionId: null,
  task: null,
  phase: null,
  operation: null,
  proof: null,
  counters: {},
  agent: null,
  ...b,
});

export const demoHeartbeats = (find: Find, elapsed: number): readonly Heartbeat[] => [
  beat({
    path: '/home/ada/proofs/task-688/specs/688/.agent-progress.json',
    state: 'critical',
    reason: 'silent for more than 180 s',
    ageSeconds: 788 + elapsed,
    task: '688',
    phase: '2',
    operation: 'checking_diagnostics',
    proof: 'density_bound',
    counters: { attempts: 4, sorries: 2 },
    agent: find(5230)[0] ?? null,
  }),
  beat({
    path: '/home/ada/proofs/task-701/specs/701/.agent-progress.json',
    state: 'fine',
    ageSeconds: 12,
    task: '701',
    phase: '1',
    operation: 'writing_proof',
    proof: 'ball_volume',
    counters: { attempts: 1 },
    agent: find(5330)[0] ?? null,
  }),
  beat({
    path: '/home/ada/proofs/task-688/.postflight-pending',
    format: 'postflight-marker',
    state: 'warn',
    reason: 'the marker waits for an agent that does nothing',
    ageSeconds: 131 + elapsed,
    task: '688',
    agent: find(5230)[0] ?? null,
  }),
  beat({
    path: '/home/ada/proofs/.agent-workspace/TASK-659/progress.json',
    state: 'leftover',
    reason: 'its agent finished',
    ageSeconds: 9 * 3600,
    task: '659',
  }),
  beat({
    path: '/home/ada/proofs/task-702/.agent-progress.json',
    state: 'unreadable',
    reason: 'not JSON: ends inside a string',
    ageSeconds: 64,
    task: null,
  }),
];

const pane = (
  socket: string,
  session: string,
  id: string,
  pid: number,
  tty: string,
  attached: boolean,
): TmuxPane => ({
  socket,
  sessionId: `$${session.length}`,
  session,
  windowId: '@1',
  window: 1,
  pane: id,
  pid,
  tty,
  dead: false,
  title: session,
  activity: DEMO_NOW / 1000 - 30,
  attached,
});

export const DEMO_TMUX: readonly TmuxServer[] = [
  {
    socket: MAIN_SOCKET,
    pid: 1201,
    reachable: true,
    panes: [
      pane(MAIN_SOCKET, 'main', '%0', 1210, 'pts/0', true),
      pane(MAIN_SOCKET, 'main', '%1', 1215, 'pts/1', true),
      pane(MAIN_SOCKET, 'main', '%2', 1220, 'pts/2', true),
      pane(MAIN_SOCKET, 'lean', '%5', 2095, 'pts/5', false),
    ],
  },
  {
    socket: AGENTS_SOCKET,
    pid: 5200,
    reachable: true,
    panes: [
      pane(AGENTS_SOCKET, 'agent_688', '%0', 5210, 'pts/8', false),
      pane(AGENTS_SOCKET, 'agent_701', '%1', 5310, 'pts/9', false),
    ],
  },
];
