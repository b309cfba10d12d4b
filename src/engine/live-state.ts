import type { MemoryPoint } from '../judge/history.ts';
import type { RememberedSession } from '../model/asleep.ts';
import type { Config } from '../model/config.ts';
import type { Finding } from '../model/finding.ts';
import type { Identity, IdentityKey } from '../model/identity.ts';
import type { ActRequest, OtherOutcome, Outcome, Plan } from '../model/plan.ts';
import type { Mark } from '../model/report.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { UiSettings } from '../model/ui-settings.ts';

/** An event the Log panel shows. */
export interface LogLine {
  readonly at: number;
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad';
  /** Of an act: what was planned and what became of it. */
  readonly entry?: LogEntry;
  /** The process that it speaks of. */
  readonly about?: Identity | null;
  /** The finding that was acknowledged. */
  readonly acknowledged?: Finding;
}

/** One process, file or session of an act. */
export interface LogRow {
  /** Its outcome. */
  readonly what: string;
  readonly pid: number | null;
  readonly name: string;
  readonly bytes: number;
  readonly why: string;
}

export interface LogEntry {
  /** Who asked: tui, clean, guard, hook, sweep. */
  readonly by: string;
  /** The key, the flags, the policy. */
  readonly why: string;
  readonly rows: readonly LogRow[];
  readonly note: string | null;
}

/** A plan that must be read again before it is carried out. */
export interface ChangedPlan {
  readonly plan: Plan;
  readonly because: string;
}

export interface RunningPlan {
  readonly plan: Plan;
  readonly outcomes: readonly Outcome[];
  /** What became of what is no signal. */
  readonly otherOutcomes?: readonly OtherOutcome[];
  readonly done: boolean;
  readonly summary: string | null;
}

/** A moment of the flight recorder that is shown instead of the present. */
export interface PastMoment {
  readonly at: number;
  /** Why it is not the moment that was asked for; null when it is. */
  readonly note: string | null;
  /** What is worth jumping to, oldest first. */
  readonly marks: readonly Mark[];
  /** Now: the time line ends there. Absent: it is centred. */
  readonly now?: number;
}

/** Which way `[`, `]`, `{` and `}` go; Esc goes back to now. */
export type TimeStep = 'back' | 'forward' | 'mark-back' | 'mark-forward' | 'now';

/** All that the TUI shows, replaced as a whole when something changed. */
export interface LiveState {
  readonly snapshot: Snapshot;
  readonly config: Config;
  /** Average load of the last minute; absent or null: not known, or of another machine or time. */
  readonly load?: number | null;
  readonly intervalSeconds: number;
  readonly slowedDown: boolean;
  readonly readOnly: string | null;
  readonly running: RunningPlan | null;
  readonly log: readonly LogLine[];
  readonly error: string | null;
  /** Sessions that sleep or are lost, the latest first. */
  readonly asleep?: readonly RememberedSession[];
  /** Absent or null: this is now. */
  readonly moment?: PastMoment | null;
  /** Counts up each time there is something the user wants to be rung for. */
  readonly rings?: number;
}

/** The engine as the TUI sees it: a store to subscribe to, and requests to send. It never touches the machine itself. */
export interface Live {
  subscribe(listener: () => void): () => void;
  getState(): LiveState;
  history(key: IdentityKey): readonly MemoryPoint[];
  /** A process and all below it, since it was first seen; empty for one that never had a child and is no agent. */
  treeHistory(key: IdentityKey): readonly MemoryPoint[];
  proportionalMemory(pid: number): Promise<number | null>;
  /** A fresh plan for the request; nothing is signalled. */
  plan(request: ActRequest): Promise<Plan>;
  /**
   * Runs a plan the user read and confirmed, soft-protected steps by typing their pid; progress arrives through the
   * state. Resolves to a new plan, with nothing done, when something in it has changed for the worse.
   */
  run(plan: Plan, request: ActRequest): Promise<ChangedPlan | null>;
  cancel(): void;
  /** Types the command of a session into its old pane, or a new window; resolves to a sentence that says where. */
  wake?(session: RememberedSession): Promise<string>;
  /** The finding is quiet until it says something else; a sentence comes back. */
  acknowledge?(finding: Finding): string;
  takeBack?(finding: Finding): string;
  /** Jumps to the tmux pane of a process; resolves to a sentence that says what happened. */
  jump(target: Identity): Promise<string>;
  /** Attaches this terminal to its pane, once the screen has let go of it. Null: `jump` is the way. */
  attachment?(target: Identity): (() => Promise<string>) | null;
  /** The last lines of its tmux pane; a sentence when there are none to be had. */
  peek?(target: Identity): Promise<readonly string[] | string>;
  /** Writes a new file where we were started; resolves to its path. */
  exportScreen(extension: string, text: string): Promise<string>;
  /** Into the buffer of the tmux we sit in; false: there is none. */
  copyToTmux(text: string): Promise<boolean>;
  /** Steps through what guard recorded; resolves to a sentence when there is nothing that way. */
  travel?(step: TimeStep): Promise<string | null>;
  setInterval(seconds: number): void;
  /** Writes the settings to the user's config; resolves to a sentence that says where. */
  saveSettings(settings: UiSettings): Promise<string>;
  setAll(all: boolean): void;
  refresh(): void;
  stop(): Promise<void>;
}
