import type { Reading } from './heartbeat.ts';
import type { ProcessFacts } from './process.ts';

export type Backend = 'procfs' | 'darwin' | 'portable' | 'recorded' | 'demo';

export interface HostFacts {
  readonly name: string;
  /** `linux`, `darwin`, `wsl`…; `unknown` for a recorded table. */
  readonly platform: string;
  readonly backend: Backend;
  /** PID 1 is none of systemd, init, launchd, WSL init: PPID 1 is then normal for live processes. */
  readonly container: boolean;
  readonly bootId: string | null;
  readonly memTotal: number | null;
  readonly memAvailable: number | null;
  readonly swapUsed: number | null;
  /** The kernel's own word on memory, where it has one (macOS); absent elsewhere. */
  readonly memoryPressure?: MemoryPressure | null;
}

export type MemoryPressure = 'normal' | 'warn' | 'critical';

/** Who is looking. null in a recorded table: none of its processes is ours. */
export interface Self {
  readonly pid: number;
  readonly uid: number;
  readonly pgid: number | null;
  readonly cgroup: string | null;
}

/** One look at the process table by a backend. */
export interface Sample {
  readonly takenAt: number;
  /** Now, on the clock that `ProcessFacts.born` uses. */
  readonly clock: number;
  readonly host: HostFacts;
  readonly self: Self | null;
  readonly processes: readonly ProcessFacts[];
  /** A recorded table may miss rows: an absent ancestor is unknown there, dead elsewhere. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

export interface TmuxPane {
  readonly socket: string;
  readonly sessionId: string;
  readonly session: string;
  readonly windowId: string;
  readonly window: number;
  readonly pane: string;
  readonly pid: number;
  readonly tty: string | null;
  readonly dead: boolean;
  readonly title: string;
  /** Epoch seconds of the last output; `window_activity`, because `session_activity` stands still when detached. */
  readonly activity: number | null;
  readonly attached: boolean;
}

export interface TmuxServer {
  readonly socket: string;
  readonly pid: number | null;
  /** false: it did not answer. Its panes are then unknown, not dead. */
  readonly reachable: boolean;
  readonly panes: readonly TmuxPane[];
}

/** Claude's own `sessions/<pid>.json`. */
export interface ClaudeSession {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, verbatim; null in files that lack it. */
  readonly procStart: string | null;
  readonly sessionId: string;
  readonly cwd: string | null;
  readonly kind: string | null;
  readonly status: string | null;
  readonly statusUpdatedAt: number | null;
  /** What it waits for when its status says so: `permission prompt`, `input needed`… */
  readonly waitingFor: string | null;
  readonly name: string | null;
  readonly jobId: string | null;
  /** The socket it listens on, which stays when `/clear` gives it another id. */
  readonly socket: string | null;
  /** Kept warm by the supervisor, and not a session yet. */
  readonly spare: boolean;
  /** Where shells write that it took over from another session; `/clear` there may have changed their ids before. */
  readonly adoptedOutputs: readonly string[];
  readonly path: string;
}

/** A background session in the supervisor's `daemon/roster.json`. */
export interface ClaudeWorker {
  /** What `claude stop` takes. */
  readonly jobId: string;
  /** Its processes, the session's own first; `start` is null where the file has none. */
  readonly processes: readonly { readonly pid: number; readonly start: string | null }[];
  /** The session whose work it took over. */
  readonly forkedFrom: string | null;
}

/** A file of an agent that says something in a form we do not know. */
export interface StrangeFile {
  readonly path: string;
  /** The process that it speaks of; null: it speaks of all background sessions. */
  readonly pid: number | null;
}

/** What Claude itself writes about its sessions. */
export interface ClaudeRecords {
  readonly sessions: readonly ClaudeSession[];
  readonly workers: readonly ClaudeWorker[];
  readonly strange: readonly StrangeFile[];
}

/** A stdio server from `.mcp.json`, `~/.claude.json` or settings, its words redacted like an argv. */
export interface ConfiguredServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly source: string;
  /** `user`: from the user's own files. `project`: from a directory's, which may be hostile. */
  readonly rank: 'user' | 'project';
}

/** Everything judging needs to know about the world at one moment. */
export interface Observation extends Sample {
  readonly tmux: readonly TmuxServer[];
  readonly sessions: readonly ClaudeSession[];
  readonly workers: readonly ClaudeWorker[];
  /** Files of running agents that could not be understood: what they say is missing. */
  readonly strange: readonly StrangeFile[];
  readonly servers: readonly ConfiguredServer[];
  /** What the files of agents and orchestrators say. */
  readonly readings: readonly Reading[];
}
