import type { FindingContext } from '../../../src/judge/findings/detector.ts';
import { judgeFiles } from '../../../src/judge/heartbeats/judge-files.ts';
import { NO_PAST, type Past } from '../../../src/judge/history.ts';
import type { Config } from '../../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import {
  NO_CONTENT,
  type Reading,
  type ReadingFormat,
  type ReadingMember,
} from '../../../src/model/heartbeat.ts';
import type { ClaudeSession, TmuxPane, TmuxServer } from '../../../src/model/observation.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { invent, snapshotOf } from '../plan/machine.ts';

export const NOW = Date.UTC(2026, 0, 27, 12, 0, 0);
export const ago = (seconds: number): number => NOW - seconds * 1000;

/** A file that last changed `age` seconds ago. */
export const file = (
  path: string,
  format: ReadingFormat,
  age: number,
  part: Partial<Reading> = {},
): Reading => ({
  ...NO_CONTENT,
  path,
  root: '/p',
  format,
  source: null,
  mtime: ago(age),
  size: 100,
  unreadable: null,
  ...part,
});

export const TASK = '/p/.agent-workspace/TASK-20260127-100000-abcdef12';

/** The files of one orchestrated agent, all of the same age. */
export const agentFiles = (id: string, age: number, finished: boolean): Reading[] => [
  file(`${TASK}/logs/${id}_stream.jsonl`, 'stream-log', age, {
    agentId: id,
    terminal: finished,
    status: finished ? 'success' : null,
  }),
  file(`${TASK}/progress/${id}_progress.jsonl`, 'progress-log', age, { agentId: id, operation: 'reading' }),
  file(`${TASK}/findings/${id}_findings.jsonl`, 'findings-log', age, { agentId: id }),
  file(`${TASK}/agent_prompt_${id}.txt`, 'prompt', age, { agentId: id }),
  file(`${TASK}/logs/deploy_${id}.json`, 'deploy-log', age, { agentId: id }),
];

export const member = (id: string, status: string, part: Partial<ReadingMember> = {}): ReadingMember => ({
  id,
  status,
  terminal: status === 'completed',
  sessionId: null,
  tmuxSession: `agent_${id}`,
  pid: null,
  startedAt: ago(3600),
  updatedAt: null,
  ...part,
});

export const registry = (...members: ReadingMember[]): Reading =>
  file(`${TASK}/AGENT_REGISTRY.json`, 'registry', 60, { members });

/** An agent that runs in `/p` since two hours, unless told otherwise. */
export const agent = (pid: number, part: Parameters<typeof invent>[2] = {}): JudgedProcess =>
  invent(pid, 1, {
    kind: 'agent',
    agent: 'claude',
    name: 'claude',
    verdict: 'live',
    ageSeconds: 7200,
    ...part,
    facts: {
      details: {
        cwd: '/p',
        swap: 0,
        cgroup: null,
        stdin: 'tty',
        lostTerminal: false,
        ignoresHangup: false,
        io: 0,
        listening: { ports: [], clients: 0 },
        uses: [],
      },
      ...part?.facts,
    },
  });

export const pane = (session: string, part: Partial<TmuxPane> = {}): TmuxPane => ({
  socket: '/tmp/tmux-1000/default',
  sessionId: '$1',
  session,
  windowId: '@1',
  window: 0,
  pane: '%1',
  pid: 50,
  tty: 'pts/1',
  dead: false,
  title: '',
  activity: ago(10) / 1000,
  attached: false,
  ...part,
});

export const server = (panes: readonly TmuxPane[], reachable = true): TmuxServer => ({
  socket: '/tmp/tmux-1000/default',
  pid: 40,
  reachable,
  panes,
});

export interface Props {
  readonly readings: readonly Reading[];
  readonly processes?: readonly JudgedProcess[];
  readonly tmux?: readonly TmuxServer[];
  readonly sessions?: readonly ClaudeSession[];
  readonly config?: Config;
  readonly past?: Past;
}

export const sceneOf = ({
  readings,
  processes = [],
  tmux = [],
  sessions = [],
  config = DEFAULT_CONFIG,
  past = NO_PAST,
}: Props): FindingContext => {
  const files = judgeFiles({ readings, processes, tmux, sessions, config, past, now: NOW });
  const { host, self, clock } = snapshotOf([]);
  return {
    observation: {
      takenAt: NOW,
      clock,
      host,
      self,
      processes: processes.map(p => p.facts),
      complete: true,
      warnings: [],
      tmux,
      sessions,
      workers: [],
      strange: [],
      servers: [],
      readings,
    },
    config,
    past,
    processes,
    heartbeats: files.heartbeats,
    files,
  };
};
