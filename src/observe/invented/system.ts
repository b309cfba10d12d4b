import type { LoggedCalls } from '../../model/call.ts';
import { NO_CONTENT, type Reading, readingOf } from '../../model/heartbeat.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ClaudeSession, HostFacts, Sample, TmuxPane, TmuxServer } from '../../model/observation.ts';
import type { SignalName } from '../../model/plan.ts';
import { ENDING_SIGNALS } from '../../model/plan.ts';
import { isZombie, type NamedEnv, type ProcessDetails } from '../../model/process.ts';
import { formatAt, type Where, whereBelow, whereRoot } from '../files/directory-rules.ts';
import type { Presence, System } from '../system.ts';
import {
  bytesOf,
  INVENTED_CLOCK,
  INVENTED_HOME,
  INVENTED_NOW,
  INVENTED_PROCESSES,
  INVENTED_SELF,
  INVENTED_UID,
  type InventedProcess,
  inventedFacts,
  startOf,
} from './machine.ts';

const MIB = 1024 ** 2;

const PROOFS = `${INVENTED_HOME}/proofs`;
const WORKSPACE = '.agent-workspace/TASK-20260114-221500-0659aa12';

interface InventedFile {
  readonly root: string;
  readonly path: string;
  /** Seconds since it was written, at the fixed moment; `alive`: always that long ago. */
  readonly age: number;
  readonly alive?: boolean;
  readonly text: string;
  readonly size?: number;
}

const beat = (session: string, task: number, operation: string, proof: string, more: object): string =>
  JSON.stringify({ session_id: session, task_number: task, phase: 2, operation, proof, ...more });

const SILENT = '7f3e2d1c-0b9a-4857-a6f5-e4d3c2b1a098';
const AT_WORK = '19b8c7d6-e5f4-4a3b-92c1-d0e9f8a7b6c5';

const FILES: readonly InventedFile[] = [
  {
    root: `${PROOFS}/task-688`,
    path: 'specs/688_density/.agent-progress.json',
    age: 788,
    text: beat(SILENT, 688, 'checking_diagnostics', 'density_bound', { diagnostic_calls: 4, sorries: 2 }),
  },
  {
    root: `${PROOFS}/task-688`,
    path: 'specs/688_density/.postflight-pending',
    age: 801,
    text: JSON.stringify({ session_id: SILENT, skill: 'lean-implement', task_number: 688 }),
  },
  {
    root: `${PROOFS}/task-701`,
    path: 'specs/701_volume/.agent-progress.json',
    age: 12,
    alive: true,
    text: beat(AT_WORK, 701, 'writing_proof', 'ball_volume', { diagnostic_calls: 1 }),
  },
  {
    root: `${PROOFS}/task-702`,
    path: '.agent-progress.json',
    age: 64,
    text: '{"task_number": 702, "operation": "writi',
  },
  {
    root: PROOFS,
    path: `${WORKSPACE}/logs/prover_stream.jsonl`,
    age: 9 * 3600,
    size: 38 * MIB,
    text: '{"type":"result","subtype":"success","session_id":"a659"}\n',
  },
  {
    root: PROOFS,
    path: `${WORKSPACE}/progress/prover_progress.jsonl`,
    age: 9 * 3600,
    size: 3 * MIB,
    text: '{"agent_id":"prover","status":"completed","progress":100,"message":"proved"}\n',
  },
  { root: PROOFS, path: `${WORKSPACE}/agent_prompt_prover.txt`, age: 11 * 3600, size: 9000, text: '' },
];

/** Found and read as a real one would be: by its place and name, by the reader of its format. */
const toReading = (file: InventedFile, elapsed: number): Reading[] => {
  const parts = file.path.split('/');
  const name = parts.pop() ?? '';
  const where = parts.reduce<Where | null>(
    (at, part) => (at === null ? null : whereBelow(at, part)),
    whereRoot(file.root, []),
  );
  const format = where === null ? null : formatAt(where, name);
  if (format === null) return [];
  const path = `${file.root}/${file.path}`;
  const result = format.read({ path, text: file.text, cut: false });
  return [
    readingOf(result.ok ? result.content : NO_CONTENT, {
      path,
      root: file.root,
      format: format.format,
      source: null,
      mtime: INVENTED_NOW + (file.alive === true ? elapsed - file.age : -file.age) * 1000,
      size: file.size ?? file.text.length,
      unreadable: result.ok ? null : result.why,
    }),
  ];
};

/** pid, session id, status, seconds in it, what it waits for, and its own name. */
const SESSIONS: readonly (readonly [number, string, string, number, string | null, string | null])[] = [
  [1342, 'c3a1f0e2-4b5d-4e6f-8a90-1b2c3d4e5f60', 'busy', 4, null, 'checkout flow'],
  [1501, '0d9f2c7e-3a1b-4c55-8d7e-1f2a3b4c5d6e', 'waiting', 720, 'permission prompt', 'density bound'],
  [2101, '9e8d7c6b-5a49-4382-b716-0f1e2d3c4b5a', 'busy', 30, null, null],
  [3755, '44d0a1b2-c3d4-4e5f-9607-18293a4b5c6d', 'idle', 6 * 3600, null, null],
  [4001, 'd1e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5f6', 'idle', 2400, null, null],
  [5230, SILENT, 'busy', 795, null, null],
  [5330, AT_WORK, 'busy', 12, null, null],
];

const processWith = (pid: number) => INVENTED_PROCESSES.find(p => p.pid === pid);

const toSession = (
  [pid, sessionId, status, quiet, waitingFor, name]: (typeof SESSIONS)[number],
  elapsed: number,
): ClaudeSession[] => {
  const process = processWith(pid);
  if (process === undefined) return [];
  const isAtWork = status === 'busy' && quiet < 60;
  return [
    {
      pid,
      procStart: startOf(process),
      sessionId,
      cwd: process.cwd,
      kind: 'interactive',
      status,
      statusUpdatedAt: INVENTED_NOW + (isAtWork ? elapsed - quiet : -quiet) * 1000,
      waitingFor,
      name,
      jobId: null,
      socket: null,
      spare: false,
      adoptedOutputs: [],
      path: `${INVENTED_HOME}/.claude/sessions/${pid}.json`,
    },
  ];
};

/** The call that hangs: its server is idle and has zombie children. */
const HUNG_CALL: LoggedCalls = {
  pending: [
    {
      id: 'toolu_01Density',
      tool: 'lean_diagnostic_messages',
      server: 'lean-lsp',
      startedAt: INVENTED_NOW - 790 * 1000,
      subagent: false,
    },
  ],
  model: 'claude-opus-4-1',
  tokens: 96_000,
  turn: 'open',
};

/** A session writes to its transcript whenever its status changes, and while it works. */
const toTranscript = (session: ClaudeSession): Reading =>
  readingOf(
    {
      sessionId: session.sessionId,
      cwd: session.cwd,
      pid: session.pid,
      status: session.status,
      ...(session.sessionId === SILENT && { calls: HUNG_CALL }),
    },
    {
      path: `${INVENTED_HOME}/.claude/projects/${session.sessionId}.jsonl`,
      root: `${INVENTED_HOME}/.claude`,
      format: 'transcript',
      source: null,
      mtime: session.statusUpdatedAt ?? 0,
      size: 1000,
      unreadable: null,
    },
  );

/** What Claude and the agents have written, `elapsed` seconds after the fixed moment. */
const inventedRecords = (
  elapsed: number,
  isThere: (pid: number) => boolean,
): { readonly sessions: readonly ClaudeSession[]; readonly readings: readonly Reading[] } => {
  const sessions = SESSIONS.filter(([pid]) => isThere(pid)).flatMap(told => toSession(told, elapsed));
  return {
    sessions,
    readings: [...FILES.flatMap(file => toReading(file, elapsed)), ...sessions.map(toTranscript)],
  };
};

/** The processes of the invented machine, which end and are reaped as real ones are. */
class InventedTable {
  readonly #processes: Map<number, InventedProcess>;

  constructor(processes: readonly InventedProcess[]) {
    this.#processes = new Map(processes.map(p => [p.pid, p]));
  }

  readonly has = (pid: number): boolean => this.#processes.has(pid);

  at(pid: number): InventedProcess | undefined {
    return this.#processes.get(pid);
  }

  /** Those that had been started by now: what came before the fixed moment is told, too. */
  startedBy(elapsed: number): readonly InventedProcess[] {
    return [...this.#processes.values()].filter(p => p.age + elapsed >= 0);
  }

  find<T>(identities: readonly Identity[], of: (p: InventedProcess) => T): ReadonlyMap<IdentityKey, T> {
    const found = new Map<IdentityKey, T>();
    for (const identity of identities) {
      const p = this.#processes.get(identity.pid);
      if (p !== undefined && startOf(p) === identity.start) found.set(keyOf(identity), of(p));
    }
    return found;
  }

  setState(pid: number, state: string): void {
    this.#processes.set(pid, { ...this.#processes.get(pid)!, state });
  }

  reapChildrenOf(pid: number): void {
    for (const p of this.#processes.values())
      if (p.ppid === pid && isZombie(p)) this.#processes.delete(p.pid);
  }

  end(pid: number): void {
    this.reapChildrenOf(pid);
    this.#processes.delete(pid);
    for (const p of this.#processes.values())
      if (p.ppid === pid) this.#processes.set(p.pid, { ...p, ppid: 1 });
  }
}

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
const inventedTmux = (isThere: (pid: number) => boolean): readonly TmuxServer[] =>
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

const GIB = 1024 ** 3;

/** What a process is in after it was stopped, or told to go on. */
const STATES: Readonly<Partial<Record<SignalName, string>>> = { SIGSTOP: 'T', SIGCONT: 'S' };

/** A process that ignores TERM, so that a KILL is seen as well. */
const STUBBORN: ReadonlySet<number> = new Set([3460]);

const HOST: HostFacts = {
  name: 'atlas',
  platform: 'linux',
  backend: 'demo',
  container: false,
  bootId: null,
  memTotal: 31 * GIB,
  memAvailable: 15 * GIB,
  swapUsed: 2.4 * GIB,
};

export interface InventedOptions {
  readonly processes?: readonly InventedProcess[];
  /** What is waited for before a process that was told to end is gone. */
  readonly pace?: () => Promise<unknown>;
  readonly readOnly?: string | null;
}

/** A machine that does not exist, and its time, which passes only when told to. */
export interface InventedSystem extends System {
  pass(seconds: number): void;
  /** Every signal that was sent. */
  readonly delivered: readonly { readonly pid: number; readonly signal: SignalName }[];
}

/** What fills the contract of a system for `--demo`: looked at, judged, planned and acted on by the real code. */
export const inventedSystem = (options: InventedOptions = {}): InventedSystem => {
  const { pace = async () => {}, readOnly = null } = options;
  const table = new InventedTable(options.processes ?? INVENTED_PROCESSES);
  const delivered: { pid: number; signal: SignalName }[] = [];
  let elapsed = 0;

  const look = async (): Promise<Sample> => ({
    takenAt: INVENTED_NOW + elapsed * 1000,
    clock: INVENTED_CLOCK + elapsed,
    host: HOST,
    self: { pid: INVENTED_SELF, uid: INVENTED_UID, pgid: INVENTED_SELF, cgroup: null },
    // As in a first look at a real machine, environment and details are not there until they are asked for.
    processes: table
      .startedBy(elapsed)
      .map(p => ({ ...inventedFacts(p, elapsed), env: null, details: null })),
    complete: true,
    warnings: [],
  });

  const presence = (pid: number): Presence => {
    const p = table.at(pid);
    if (p === undefined) return { status: 'gone' };
    const { start, state, ppid, pgid, sid, rss } = inventedFacts(p, elapsed);
    return { status: 'present', identity: { pid, start }, state, ppid, pgid, sid, rss };
  };

  return {
    backend: 'demo',
    readOnly,
    delivered,
    inventedRecords: () => ({
      tmux: inventedTmux(table.has),
      workers: [],
      strange: [],
      ...inventedRecords(elapsed, table.has),
    }),
    sample: look,
    environ: async targets => table.find<NamedEnv>(targets, p => inventedFacts(p, elapsed).env ?? {}),
    details: async requests => table.find<ProcessDetails>(requests, p => inventedFacts(p, elapsed).details!),
    presence,
    /** A nudge makes a parent reap; a process that gets TERM ends in a moment. */
    deliver: (pid, signal) => {
      if (!table.has(pid)) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
      delivered.push({ pid, signal });
      const state = STATES[signal];
      if (state !== undefined) table.setState(pid, state);
      else if (signal === 'SIGCHLD') table.reapChildrenOf(pid);
      else if (ENDING_SIGNALS.has(signal) && !(signal === 'SIGTERM' && STUBBORN.has(pid)))
        void pace().then(() => table.end(pid));
    },
    proportionalMemory: async pid => {
      const p = table.at(pid);
      return p === undefined ? null : bytesOf(p, elapsed) + p.swap * MIB;
    },
    follow: () => {},
    pass: seconds => {
      elapsed += seconds;
    },
    close: () => {},
  };
};
