import type { Severity } from './finding.ts';
import type { Identity } from './identity.ts';
import { formatAge } from './units.ts';

/** A tool call that has begun and has no result yet, as an agent's own log tells it. Never what it was called with. */
export interface LoggedCall {
  readonly id: string;
  readonly tool: string;
  /** The MCP server whose tool it is; null: a tool of the agent itself. */
  readonly server: string | null;
  /** Epoch milliseconds; null: the log does not say. */
  readonly startedAt: number | null;
  /** A subagent of the session called it. */
  readonly subagent: boolean;
}

/** What the end of an agent's log tells about its session. */
export interface LoggedCalls {
  readonly pending: readonly LoggedCall[];
  readonly model: string | null;
  /** How much the model was last given to read. */
  readonly tokens: number | null;
  /** Whether its turn is over, so that it is at its prompt. Absent: the log does not show it. */
  readonly turn?: 'open' | 'over' | undefined;
  /** Of a session at its prompt: what its subagents, which work on behind it, wait for. */
  readonly behind?: readonly LoggedCall[] | 'unread' | undefined;
}

/**
 * How a call was joined to the process that works on it. `name`: its server is configured or called by this name; `only`: no
 * other process below the agent can be meant; `gone`: its server is configured, and does not run below the agent;
 * `unknown`: it cannot be told which process is meant, or none is to be seen; `itself`: the agent does this work.
 */
export const CALL_JOINS = ['name', 'only', 'gone', 'unknown', 'itself'] as const;
export type CallJoin = (typeof CALL_JOINS)[number];

/** A pending call of a session, joined to the process that works on it. */
export interface Call extends LoggedCall {
  readonly seconds: number | null;
  readonly process: Identity | null;
  readonly join: CallJoin;
  /** How many processes it could be, where that cannot be told. */
  readonly candidates?: number | undefined;
  /** It has taken too long, and what should work on it does nothing. */
  readonly hung?: boolean | undefined;
  /** It has taken longer than its limit; only more samples can tell what its process does. */
  readonly unsampled?: true | undefined;
  /** It has taken longer than its limit: how bad that is, and what is known of who should work on it. */
  readonly late?: { readonly severity: Severity; readonly why: string } | undefined;
}

/** `lean-lsp lean_goal`, `Bash`. */
export const callName = ({ tool, server }: Pick<Call, 'tool' | 'server'>): string =>
  server === null ? tool : `${server} ${tool}`;

const since = ({ seconds }: Pick<Call, 'seconds'>): string =>
  seconds === null ? '' : ` ${formatAge(seconds)}`;

const oldestOf = (calls: readonly Call[]): Call =>
  calls.reduce((oldest, call) => ((call.seconds ?? 0) > (oldest.seconds ?? 0) ? call : oldest));

/** Tools that only wait for a subagent, whose own calls tell more. */
const DELEGATES: ReadonlySet<string> = new Set(['Agent', 'Task']);

const isDelegating = ({ tool, server, subagent }: LoggedCall): boolean =>
  server === null && !subagent && DELEGATES.has(tool);

/** The calls that somebody works on: one that waits for a subagent is told by the subagent's own. */
const atWork = (calls: readonly Call[]): readonly Call[] => {
  const others = calls.filter(call => !isDelegating(call));
  return others.length === 0 ? calls : others;
};

/**
 * What a session is doing, by its pending calls: `busy: Bash 12s`, `hung: lean_goal 13m`, `2 calls, oldest 40s`,
 * `subagent: Read 2s`; empty when none is pending. `brief`: without the name of the server.
 */
export const callsText = (calls: readonly Call[], brief = false): string => {
  const told = atWork(calls);
  if (told.length === 0) return '';
  const hung = told.filter(call => call.hung === true);
  if (hung.length > 0) {
    const more = hung.length === 1 ? '' : ` and ${hung.length - 1} more`;
    const worst = oldestOf(hung);
    return `hung: ${brief ? worst.tool : callName(worst)}${since(worst)}${more}`;
  }
  if (told.length > 1) return `${told.length} calls, oldest${since(oldestOf(told))}`;
  const [call] = told as [Call];
  return `${call.subagent ? 'subagent' : 'busy'}: ${brief ? call.tool : callName(call)}${since(call)}`;
};

/** `142k`: tokens of a session's context in few cells. */
export const tokensText = (tokens: number): string =>
  tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;

const WORKERS = {
  name: () => 'its server',
  only: () => 'its server',
  gone: () => 'its server is not running',
  unknown: ({ candidates = 0 }) =>
    candidates > 1 ? `which of ${candidates} processes works on it is not known` : 'no process of it is seen',
  itself: () => 'the agent itself',
} satisfies Record<CallJoin, (call: Call) => string>;

/** `lean-lsp lean_goal for 13m, hung: lean-lsp-mcp (48)`; `name`: what the process is called. */
export const callDetail = (call: Call, name: string | null): string => {
  const age = call.seconds === null ? '' : ` for ${formatAge(call.seconds)}`;
  const who = call.process === null ? WORKERS[call.join](call) : `${name ?? 'process'} (${call.process.pid})`;
  const whose = call.subagent ? ' (a subagent)' : '';
  return `${callName(call)}${whose}${age}${call.hung === true ? ', hung' : ''}: ${who}`;
};
