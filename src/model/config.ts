import type { HookSettings } from './hook.ts';
import type { Kind } from './kind.ts';
import type { Level, UiSettings } from './ui-settings.ts';

/** A user's own recogniser: matched token by token like the built-in families. */
export interface UserRecogniser {
  readonly name: string;
  readonly kind: Kind;
  /** Family of an agent, when kind is `agent`. */
  readonly agent?: string | undefined;
  /** Basename of the executable, of argv[0] or of the script an interpreter runs; `*` matches any run of characters. */
  readonly program: string;
  /** Words that must all appear as whole arguments. */
  readonly args?: readonly string[] | undefined;
}

/** A user's own heartbeat file: where it is and which fields mean what. */
export interface HeartbeatSource {
  readonly name: string;
  /** Glob relative to a root. */
  readonly glob: string;
  readonly time?: string | undefined;
  readonly timeFormat?: 'iso' | 'iso-local' | 'epoch-s' | 'epoch-ms' | 'mtime' | undefined;
  readonly status?: string | undefined;
  readonly task?: string | undefined;
  readonly operation?: string | undefined;
  readonly session?: string | undefined;
  readonly pid?: string | undefined;
  readonly warnSeconds?: number | undefined;
  readonly criticalSeconds?: number | undefined;
  /** Values of `status` that mean finished. */
  readonly terminal?: readonly string[] | undefined;
}

/** Every number that decides whether something is worth saying, under the finding's name. */
export interface Thresholds {
  readonly leak: { readonly criticalBytes: number };
  readonly zombie: {
    readonly criticalCount: number;
    readonly quietSeconds: number;
    /** `z` in the TUI ends a server only for zombies at least this old; `clean` has --age-threshold. */
    readonly minimumAgeSeconds: number;
  };
  readonly 'over-memory': { readonly limitBytes: number };
  readonly 'memory-growth': {
    readonly minutes: number;
    readonly growthBytes: number;
    readonly factor: number;
  };
  readonly 'too-many-agents': { readonly count: number };
  readonly 'idle-agent': { readonly seconds: number };
  readonly 'concurrent-builds': { readonly warnCount: number; readonly criticalCount: number };
  readonly 'heartbeat-stale': {
    readonly warnSeconds: number;
    readonly criticalSeconds: number;
    readonly leftoverSeconds: number;
  };
  readonly 'heartbeat-missing': { readonly seconds: number };
  readonly 'marker-age': {
    readonly warnSeconds: number;
    readonly criticalSeconds: number;
    readonly stillSeconds: number;
  };
  readonly 'loop-guard': { readonly count: number };
  readonly 'lock-stale': { readonly seconds: number };
  readonly 'call-hung': {
    readonly warnSeconds: number;
    readonly criticalSeconds: number;
    /** Limits of single tools, in place of `warnSeconds`. */
    readonly tools: Readonly<Record<string, number>>;
  };
  readonly 'session-hung': { readonly seconds: number };
  readonly 'stuck-io': { readonly seconds: number };
  readonly spinning: { readonly percent: number; readonly seconds: number };
}

/** Findings that only files tell: a cloned repository may tune these for itself, and nothing that concerns processes. */
export const FILE_FINDINGS = [
  'heartbeat-stale',
  'heartbeat-missing',
  'marker-age',
  'loop-guard',
  'lock-stale',
] as const;
export type FileFinding = (typeof FILE_FINDINGS)[number];

export type FileThresholds = { readonly [K in FileFinding]?: Partial<Thresholds[K]> | undefined };

/** What `guard` does by itself. Every switch that is on does no more than a command of that name would. */
export interface GuardPolicy {
  /** Ends proven leaks. */
  readonly leaks: boolean;
  /** Removes stale locks, markers and loop guards of dead agents. */
  readonly staleFiles: boolean;
  /** Ends the tmux sessions of finished agents and archives their files. */
  readonly sweep: boolean;
  /** Nudges, then ends idle servers that do not reap their children. */
  readonly zombieServers: boolean;
  /** Ends agents over the memory limit, warned first. */
  readonly overMemory: boolean;
  /** Ends sessions that are idle for `idle-agent.seconds` and keeps the way back, warned first. */
  readonly sleepIdle: boolean;
  /** The same, one at a time, while memory is short: the longest idle and largest first. */
  readonly sleepUnderPressure: boolean;
  /** Ends agents that are idle for `idle-agent.seconds`, warned first. */
  readonly idleAgents: boolean;
  /** Ends the newer builds of a project beyond `concurrent-builds.criticalCount`. */
  readonly builds: boolean;
  /** Ends the server that a hung call waits for, once for each call. */
  readonly hungCalls: boolean;
  readonly minimumAgeSeconds: number;
  /** A leak is seen twice, at least this far apart, for the same reasons. */
  readonly sightingSeconds: number;
  /** How long a registry or stream log must have said that its agent is done. */
  readonly terminalSeconds: number;
  /** From a warning to the end. */
  readonly warnSeconds: number;
  readonly retentionDays: number;
  /** Roots of trees; past it guard only reports. */
  readonly endsPerHour: number;
}

/** How the screen alerts its user to a critical finding or a waiting agent. */
export interface Alerts {
  readonly bell: boolean;
  /** A message in the status line of tmux. */
  readonly tmux: boolean;
  /** An argv, run without a shell, with the finding as JSON on its standard input. */
  readonly command: readonly string[] | null;
}

export interface Config extends UiSettings {
  /** How much the tree shows at first. */
  readonly level: Level;
  readonly thresholds: Thresholds;
  readonly recognisers: readonly UserRecogniser[];
  /** Globs on a process's name or on one of its words; whatever matches is hard-protected. */
  readonly protect: readonly string[];
  readonly heartbeats: readonly HeartbeatSource[];
  /** What a root's own `.reaptop.json` sets for the files in it, by root. */
  readonly rootThresholds: ReadonlyMap<string, FileThresholds>;
  readonly hooks: HookSettings;
  readonly policy: GuardPolicy;
  readonly alerts: Alerts;
}

/** The threshold of a file finding for a file below this root. */
export const fileThreshold = <K extends FileFinding>(config: Config, id: K, root: string): Thresholds[K] => ({
  ...config.thresholds[id],
  ...config.rootThresholds.get(root)?.[id],
});
