import type { MemoryPressure } from './observation.ts';

/** How one thing that reaptop leans on is doing here. */
export const LEVELS = ['ok', 'warn', 'fail'] as const;
export type Level = (typeof LEVELS)[number];

/** One line of `doctor`: what was found, and what to do about it when it is not well. */
export interface Check {
  readonly level: Level;
  readonly says: string;
  readonly todo: string | null;
}

/** Where processes are read from. `hidepid` as the mount says it; null when nothing is hidden. */
export type ProcFacts =
  | { readonly kind: 'none'; readonly platform: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'mounted'; readonly hidepid: string | null };

export type LookFacts =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true;
      readonly processes: number;
      readonly agents: number;
      /** Of our own user, and yet closed to us: their owner is unknown. */
      readonly closed: readonly number[];
      readonly hidden: number;
    };

export interface TmuxFacts {
  /** `tmux 3.4` as it says itself; null: not in PATH. */
  readonly version: string | null;
  readonly answered: number;
  readonly silent: readonly string[];
}

/** What came of watching a directory, and the limits of this user. */
export interface WatchFacts {
  readonly failed: string | null;
  readonly watches: number | null;
  readonly instances: number | null;
}

export type StateFacts =
  | { readonly kind: 'nowhere'; readonly why: string }
  | {
      readonly kind: 'there';
      readonly path: string;
      /** Why it is not where the environment says. */
      readonly elsewhere: string | null;
      /** What is in its place; `absent`: it will be made at the first act. */
      readonly is: 'directory' | 'absent' | 'other';
      readonly ours: boolean;
      readonly mode: number | null;
      readonly writable: boolean;
      /** Bytes that may still be written to its disk. */
      readonly free: number | null;
    };

export interface ConfigFacts {
  readonly path: string | null;
  readonly present: boolean;
  readonly wrong: string | null;
  /** Projects' own files that were ignored. */
  readonly ignored: readonly string[];
}

export interface PressureFacts {
  readonly memTotal: number | null;
  readonly memAvailable: number | null;
  readonly swapTotal: number | null;
  readonly swapUsed: number | null;
  /** Share of the last minute in which some process waited for memory, in percent; null where the kernel does not say. */
  readonly waited: number | null;
  /** macOS: the kernel's own level; null where the kernel has none. */
  readonly level: MemoryPressure | null;
}

/** A directory with a `lean-toolchain`, and what that file says. */
export interface LeanProject {
  readonly path: string;
  readonly toolchain: string;
}

/** A lean-lsp-mcp: a running one by its pid, an installed one by its place. */
export interface LeanServer {
  readonly where: string;
  readonly version: string | null;
  /** The project it serves; null for one that is only installed, or where it is unknown. */
  readonly project: string | null;
}

export interface TimerFacts {
  readonly path: string;
  readonly enabled: boolean;
}

export interface GuardFacts {
  readonly running: { readonly pid: number; readonly since: number } | null;
  /** Why it waits for a person. */
  readonly held: string | null;
  /** Seconds since its last look; null when it has not written one. */
  readonly lookAge: number | null;
  readonly fresh: boolean;
}

export interface RecorderFacts {
  readonly segments: number;
  readonly bytes: number;
  /** Seconds since something was recorded. */
  readonly age: number | null;
}

/** Hooks of ours in one settings file. */
export interface InstalledHooks {
  readonly path: string;
  readonly events: number;
  readonly missing: readonly string[];
  /** A program or file that its commands name and that is not there. */
  readonly broken: string | null;
  /** As `hook install` would write them now. */
  readonly current: boolean;
  readonly unreadable: string | null;
}

/** Our plugin for Claude Code, where it is installed. */
export interface InstalledPlugin {
  readonly path: string;
  /** As `plugin install` would write it now. */
  readonly current: boolean;
  /** Why what lies there is not our plugin. */
  readonly unusable: string | null;
}

/** What a Mac gives and hides: how many of our related processes there are, and of how many each is known. */
export interface MacFacts {
  readonly processes: number;
  /** lsof. */
  readonly files: number;
  /** launchctl. */
  readonly jobs: number;
  /** ps -E. */
  readonly environments: number;
  /** sysctl. */
  readonly boot: boolean;
}

/** Everything `doctor` judges, gathered once. */
export interface HealthFacts {
  readonly proc: ProcFacts;
  /** Null: not a Mac. */
  readonly mac: MacFacts | null;
  readonly look: LookFacts;
  readonly tmux: TmuxFacts;
  /** Can unix sockets be listed (`ss`)? null: not on this system. */
  readonly unixSockets: boolean | null;
  readonly watch: WatchFacts;
  readonly state: StateFacts;
  readonly config: ConfigFacts;
  readonly pressure: PressureFacts;
  readonly leanProjects: readonly LeanProject[];
  readonly leanServers: readonly LeanServer[];
  readonly timers: readonly TimerFacts[];
  readonly hooks: readonly InstalledHooks[];
  readonly plugin: InstalledPlugin | null;
  readonly guard: GuardFacts;
  readonly recorder: RecorderFacts;
  /** Claude's own files in a form that we do not know. */
  readonly strangeFiles: readonly string[];
}

export type HealthCheck = (facts: HealthFacts) => Check;

export const ok = (says: string): Check => ({ level: 'ok', says, todo: null });
export const warning = (says: string, todo: string): Check => ({ level: 'warn', says, todo });
export const fail = (says: string, todo: string): Check => ({ level: 'fail', says, todo });
