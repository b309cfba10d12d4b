import type { Reading } from '../model/heartbeat.ts';
import type { Identity, IdentityKey } from '../model/identity.ts';
import type { Backend, ClaudeRecords, Sample, TmuxServer } from '../model/observation.ts';
import type { SignalName } from '../model/plan.ts';
import type { NamedEnv, ProcessDetails } from '../model/process.ts';
import type { JudgedThen } from '../model/snapshot.ts';

/** Which costlier facts a process needs beyond cwd, swap and cgroup. */
export interface DetailRequest extends Identity {
  /** Look at fd 0 to 2: stdin's kind, abandoned pipes, lost terminals. */
  readonly descriptors: boolean;
  /** Listening TCP ports and their clients. */
  readonly sockets: boolean;
  /** Listening TCP ports, only to be shown. */
  readonly ports?: boolean;
  /** Who else uses it: unix sockets, windows, terminals, devices. */
  readonly uses?: boolean;
  /** The pid at the top of its tree: members of that tree are not outsiders. Absent: itself. */
  readonly tree?: number;
  /** The bytes it has moved. */
  readonly work?: boolean;
  /** The descriptor that a browser is driven by. */
  readonly drivenBy?: number;
  /** Which of the files it holds open are wanted; absent: none. */
  readonly holds?: RegExp;
}

export interface LookOptions {
  /** Every process is read now: a plan hangs on it, and none may be some seconds old. */
  readonly whole?: boolean;
}

export interface DetailOptions {
  /** Everything is read now: nothing that was read for an earlier sample decides about a signal. */
  readonly fresh?: boolean;
}

/** What is at a pid now. `unreadable` is not "gone": it means keep your hands off. */
export type Presence =
  | {
      readonly status: 'present';
      readonly identity: Identity;
      readonly state: string;
      readonly ppid: number | null;
      readonly pgid: number | null;
      readonly sid: number | null;
      readonly rss: number | null;
      /** Its real and its effective user; absent where the backend cannot tell. */
      readonly uids?: readonly [real: number, effective: number];
    }
  | { readonly status: 'gone' }
  | { readonly status: 'unreadable'; readonly why: string };

/** Panes, Claude's own records and the files of agents. */
export interface InventedRecords extends ClaudeRecords {
  readonly tmux: readonly TmuxServer[];
  readonly readings: readonly Reading[];
  /** What was judged when it was recorded; absent: it is judged now. */
  readonly judged?: JudgedThen | undefined;
}

/**
 * What every backend fills: procfs, portable, recorded, invented, and the fakes of the tests.
 * A backend reports; it neither judges nor signals. Vanished processes are results, not errors.
 */
export interface System {
  readonly backend: Backend;
  /** Why signals cannot be sent here (a recorded table); null when they can. */
  readonly readOnly: string | null;
  /** The records of an invented machine; absent on a real one, whose files are read. */
  inventedRecords?(): InventedRecords;
  /** One look at all processes. Rejects only when enumeration itself fails, with a sentence. */
  sample(options?: LookOptions): Promise<Sample>;
  /** Named environment variables; a process whose environment cannot be read is absent: no evidence. */
  environ(targets: readonly Identity[]): Promise<ReadonlyMap<IdentityKey, NamedEnv>>;
  /** Facts by identity key; a process that vanished meanwhile is absent from the map. */
  details(
    requests: readonly DetailRequest[],
    options?: DetailOptions,
  ): Promise<ReadonlyMap<IdentityKey, ProcessDetails>>;
  /** Re-reads what is at a pid; used before every signal and while waiting for an end. At once where that can be. */
  presence(pid: number): Presence | Promise<Presence>;
  /**
   * Stands in for the kernel on a machine that is invented: gets the signals that would have gone to real pids, and
   * throws what kill(2) would. Absent on real ones: what looks at processes never signals them.
   */
  deliver?(pid: number, signal: SignalName): void;
  /** Proportional set size, swapped pages included, for plans and the detail view; null when unreadable. */
  proportionalMemory(pid: number): Promise<number | null>;
  /** Which processes the next looks must re-read every time; others may be re-read in slices. */
  follow(related: ReadonlySet<IdentityKey>): void;
  close(): void;
}
