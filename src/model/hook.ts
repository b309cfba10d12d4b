import type { Identity } from './identity.ts';

/** What of Claude Code's events we answer. */
export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStop',
  'Stop',
  'SessionEnd',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

export const isHookEvent = (name: string): name is HookEvent => HOOK_EVENTS.some(event => event === name);

/** Who calls a hook: settings of Claude Code, our plugin for it, or Codex. */
export const HOOK_CALLERS = ['settings', 'plugin', 'codex'] as const;
export type HookCaller = (typeof HOOK_CALLERS)[number];

/** What happens to a command that would kill processes of others by name. */
export const BROAD_KILLS = ['ask', 'deny', 'off'] as const;
export type BroadKills = (typeof BROAD_KILLS)[number];

/** What Claude Code and Codex call the tool that runs a command. */
export const SHELL_TOOL = 'Bash';

/** The settings of hooks in the user's config. */
export interface HookSettings {
  /** In a Lean project, a session that starts warms the build first. */
  readonly prebuild: boolean;
  /** After three checks of a file the next three are skipped. */
  readonly throttle: boolean;
  /** After so many turns a session is asked to come to an end; null: never. */
  readonly turns: { readonly limit: number | null };
  /** Tools that build the project: one at a time. */
  readonly buildTools: readonly string[];
  /** Null: `ask` in the plugin, else `off`. */
  readonly broadKills: BroadKills | null;
}

export const DEFAULT_HOOKS: HookSettings = {
  prebuild: false,
  throttle: false,
  turns: { limit: null },
  buildTools: ['mcp__lean-lsp__lean_diagnostic_messages', 'mcp__lean-lsp__lean_build'],
  broadKills: null,
};

export const broadKillsOf = (
  { broadKills }: Pick<HookSettings, 'broadKills'>,
  caller: HookCaller,
): BroadKills => broadKills ?? (caller === 'plugin' ? 'ask' : 'off');

/** What we take from an event's JSON. Texts are as the agent sent them; make them `visible` before showing. */
export interface HookInput {
  readonly event: HookEvent;
  readonly caller: HookCaller;
  readonly sessionId: string;
  readonly cwd: string;
  /** SessionStart: `startup`, `resume`, `clear`, `compact`, `fork`. */
  readonly source: string | null;
  readonly toolName: string | null;
  readonly toolUseId: string | null;
  /** Set inside subagents only. */
  readonly agentId: string | null;
  readonly stopHookActive: boolean;
  /** Every text in the tool's input. */
  readonly toolTexts: readonly string[];
  /** Paths that the tool has written to, as far as its input names them. */
  readonly written: readonly string[];
  /** UserPromptSubmit: what the user asks for. */
  readonly prompt: string | null;
  /** The file, and the project, that the tool's input says it works on. */
  readonly toolFile: string | null;
  readonly toolProject: string | null;
  /** The command line that a shell tool is to run. */
  readonly command: string | null;
}

/** What is remembered of a session between its hooks: one small file. Times are epoch milliseconds. */
export interface HookSession {
  readonly session: string;
  readonly agent: Identity | null;
  /** Our plugin calls its hooks: those in settings stand down, or each event would count twice. */
  readonly byPlugin: boolean;
  readonly cwd: string;
  readonly startedAt: number;
  readonly beatAt: number;
  readonly operation: string;
  /** Prompts and tool calls, by subagent; '' is the session itself. */
  readonly turns: Readonly<Record<string, number>>;
  readonly askedAt: { readonly memory: number | null; readonly turns: number | null };
  /** Task directories of its own project that its tool calls named, the last named last. */
  readonly tasks: readonly string[];
  /** Those of them that it was started for or wrote to: only there it beats, ends a heartbeat or removes a marker. */
  readonly works: readonly string[];
  readonly diagnosticCalls: number;
  readonly skippedDiagnostics: number;
  /** Builds that were denied one after the other because another was at work. */
  readonly denials: number;
  /** Checks and skips of the throttle's present round. */
  readonly throttle: { readonly checks: number; readonly skips: number };
  /** Build locks that it holds. */
  readonly locks: readonly HeldLock[];
  /** What it has started and was seen running below it, oldest sighting first. */
  readonly below: readonly Descendant[];
  /** Stops that were blocked for a marker, by its path. */
  readonly blocks: Readonly<Record<string, BlockRecord>>;
  /** Stops blocked one after the other, by subagent. */
  readonly inARow: Readonly<Record<string, number>>;
}

/** A process that was seen below an agent. */
export interface Descendant extends Identity {
  readonly parent: Identity;
}

/** A build lock by its key, and the tool call that took it. */
export interface HeldLock {
  readonly key: string;
  readonly toolUseId: string | null;
  readonly agentId: string | null;
  /** Where the seeds' empty lock lies beside it; null: nowhere. */
  readonly beside: { readonly root: string; readonly directory: string } | null;
}

export interface BlockRecord {
  readonly count: number;
  /** Which marker it was: another one at the same path starts over. */
  readonly marker: string;
  /** What the task directory looked like at the last block. */
  readonly print: string;
}

/** The one JSON object that a hook answers with. */
export type HookAnswer = Readonly<Record<string, unknown>>;

export const NO_ANSWER: HookAnswer = {};
