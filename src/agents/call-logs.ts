import type { LoggedCall, LoggedCalls } from '../model/call.ts';
import { asArray, asObject, type JsonObject, numberField } from '../model/json.ts';
import { safeText } from '../model/redact.ts';
import { parseDate } from '../model/time.ts';

/** What one line of a session's log tells about its calls. */
export type CallEvent =
  | { readonly event: 'call'; readonly call: Omit<LoggedCall, 'subagent'>; readonly subagent?: boolean }
  | { readonly event: 'result'; readonly id: string }
  /** What the model said at once belongs together; when it says something else, all earlier calls are over. */
  | { readonly event: 'message'; readonly id: string }
  /** The turn ended, or its user said something: nothing is pending any more. `turn` absent: which of the two is not known. */
  | { readonly event: 'turn'; readonly turn?: 'open' | 'over' }
  | { readonly event: 'model'; readonly model: string | null; readonly tokens: number | null };

/** How the log of a family's sessions names calls: one JSON object a line. */
export interface CallLog {
  readonly agent: string;
  /** The first bytes of lines that tell nothing about calls. They are the longest ones, and are not parsed. */
  readonly skip: RegExp;
  readonly read: (line: JsonObject) => readonly CallEvent[];
  /** The tools that run a command in a shell. */
  readonly shells: readonly string[];
  /** The keys that interrupt a turn, as tmux names them. */
  readonly interrupt: readonly string[];
  /** How a server that has ended comes back. */
  readonly reconnect: string;
}

/** As many bytes of a line as `skip` is shown. */
export const SKIP_BYTES = 256;

const MOST_NAME = 80;

const nameOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? safeText(value.slice(0, 200)).slice(0, MOST_NAME) : null;

const idOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null;

const timeOf = ({ timestamp }: JsonObject): number | null =>
  typeof timestamp === 'string' ? parseDate(timestamp.slice(0, 40)) : null;

/** `mcp__lean-lsp__lean_goal` is the tool lean_goal of the server lean-lsp. */
const MCP_TOOL = /^mcp__(.+?)__(.+)$/s;

const called = (
  id: unknown,
  name: unknown,
  startedAt: number | null,
  server: string | null = null,
): CallEvent[] => {
  const known = idOf(id);
  const split = typeof name === 'string' && server === null ? MCP_TOOL.exec(name) : null;
  const tool = nameOf(split?.[2] ?? name);
  if (known === null || tool === null) return [];
  const from = split === null ? server : nameOf(split[1]);
  return [{ event: 'call', call: { id: known, tool, server: from, startedAt } }];
};

const resultOf = (id: unknown): CallEvent[] => {
  const known = idOf(id);
  return known === null ? [] : [{ event: 'result', id: known }];
};

const sumOf = (usage: JsonObject | null, ...names: readonly string[]): number | null => {
  if (usage === null) return null;
  const counts = names.map(name => numberField(usage, name)).filter(count => count !== null && count >= 0);
  return counts.length === 0 ? null : counts.reduce<number>((sum, count) => sum + count!, 0);
};

/** An assistant's line holds one block of a message; results come in a user's line. */
const claude: CallLog['read'] = line => {
  const message = asObject(line.message);
  if (message === null) return [];
  if (line.type === 'assistant') {
    const model = nameOf(message.model);
    const id = idOf(message.id);
    // Claude writes errors of its own as messages of a model that is none.
    if (model === '<synthetic>') return [];
    return [
      ...(id === null ? [] : [{ event: 'message', id } as const]),
      {
        event: 'model',
        model,
        tokens: sumOf(
          asObject(message.usage),
          'input_tokens',
          'cache_creation_input_tokens',
          'cache_read_input_tokens',
        ),
      },
      ...asArray(message.content).flatMap(part => {
        const block = asObject(part);
        return block?.type === 'tool_use' ? called(block.id, block.name, timeOf(line)) : [];
      }),
    ];
  }
  if (line.type !== 'user' || line.isMeta === true) return [];
  const results = asArray(message.content).flatMap(part => {
    const block = asObject(part);
    return block?.type === 'tool_result' ? resultOf(block.tool_use_id) : [];
  });
  return results.length > 0 ? results : [{ event: 'turn' }];
};

const CODEX_CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call', 'local_shell_call']);
const CODEX_RESULTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);
const CODEX_TURNS: ReadonlyMap<unknown, 'open' | 'over'> = new Map([
  ['task_started', 'open'],
  ['task_complete', 'over'],
  ['turn_aborted', 'over'],
]);

/** Codex puts the tools of a server into a namespace: `mcp__lean_lsp`. */
const codexServer = ({ namespace }: JsonObject): string | null =>
  typeof namespace === 'string' && namespace.startsWith('mcp__')
    ? nameOf(namespace.slice('mcp__'.length).replace(/_+$/, ''))
    : null;

const codex: CallLog['read'] = line => {
  const payload = asObject(line.payload);
  if (payload === null) return [];
  const { type } = payload;
  if (line.type === 'turn_context') return [{ event: 'model', model: nameOf(payload.model), tokens: null }];
  if (line.type === 'response_item') {
    if (CODEX_CALLS.has(type))
      return called(payload.call_id, payload.name ?? 'shell', timeOf(line), codexServer(payload));
    return CODEX_RESULTS.has(type) ? resultOf(payload.call_id) : [];
  }
  if (line.type !== 'event_msg') return [];
  const turn = CODEX_TURNS.get(type);
  if (turn !== undefined) return [{ event: 'turn', turn }];
  if (type !== 'token_count') return [];
  const last = asObject(asObject(payload.info)?.last_token_usage);
  return [{ event: 'model', model: null, tokens: sumOf(last, 'input_tokens') }];
};

/** Gemini writes a call down when it has ended, so that none is ever pending in its log. */
const gemini: CallLog['read'] = line =>
  line.type === 'gemini'
    ? [{ event: 'model', model: nameOf(line.model), tokens: sumOf(asObject(line.tokens), 'input') }]
    : [];

const COPILOT_TURNS: ReadonlyMap<unknown, 'open' | 'over'> = new Map([
  ['user.message', 'open'],
  ['abort', 'over'],
  ['session.idle', 'over'],
  ['session.shutdown', 'over'],
  ['session.resume', 'over'],
  ['session.start', 'over'],
  // One for each answer of the model; the tools that it asked for run in between.
  ['assistant.turn_start', 'open'],
  ['assistant.turn_end', 'over'],
]);

const copilot: CallLog['read'] = line => {
  const data = asObject(line.data);
  // What a subagent of it does has an id of its own.
  const turn = COPILOT_TURNS.get(line.type);
  if (data === null || (turn !== undefined && idOf(line.agentId) !== null)) return [];
  if (turn !== undefined) return [{ event: 'turn', turn }];
  switch (line.type) {
    case 'tool.execution_start':
      return called(
        data.toolCallId,
        data.mcpToolName ?? data.toolName,
        timeOf(line),
        nameOf(data.mcpServerName),
      ).map(event => ({ ...event, subagent: idOf(line.agentId) !== null }));
    case 'tool.execution_complete':
      return resultOf(data.toolCallId);
    case 'session.usage_record': {
      const usage = asObject(data.usage);
      const tokens = sumOf(usage, 'inputTokens');
      return [{ event: 'model', model: nameOf(usage?.model), tokens }];
    }
    default:
      return [];
  }
};

/** As seen with claude 2.1.325, codex 0.166.0, gemini 0.61.0 and copilot 1.0.102. OpenCode keeps a database. */
export const CALL_LOGS: readonly CallLog[] = [
  {
    agent: 'claude',
    skip: /^\{"type":"(?!user"|assistant")|"attachment":\{/,
    read: claude,
    shells: ['Bash'],
    interrupt: ['Escape'],
    reconnect: '/mcp there brings it back',
  },
  {
    agent: 'codex',
    skip: /"type":"(?:session_meta|world_state|compacted|token_usage_record)"|"payload":\{"type":"(?:message|reasoning|item_completed)"/,
    read: codex,
    shells: ['exec_command', 'shell', 'local_shell'],
    interrupt: ['Escape'],
    reconnect: 'its next session starts it again',
  },
  {
    agent: 'gemini',
    skip: /^\{"\$set"|"type":"user"/,
    read: gemini,
    shells: [],
    interrupt: ['Escape'],
    reconnect: '/mcp refresh there brings it back',
  },
  {
    agent: 'copilot',
    skip: /^\{"type":"(?:system\.message|assistant\.(?!turn_)|session\.model)/,
    read: copilot,
    shells: ['bash'],
    interrupt: ['Escape', 'Escape'],
    reconnect: 'its next session starts it again',
  },
];

const BY_AGENT: ReadonlyMap<string, CallLog> = new Map(CALL_LOGS.map(log => [log.agent, log]));

export const callLogOf = (agent: string | null): CallLog | null =>
  agent === null ? null : (BY_AGENT.get(agent) ?? null);

/** More calls at once than any agent makes: a log that names more is not one. */
const MOST_PENDING = 64;

/** What is pending after each line of a log. */
export class CallTracker {
  readonly #log: CallLog;
  readonly #subagent: boolean;
  readonly #pending = new Map<string, LoggedCall>();
  #message: string | null = null;
  #model: string | null = null;
  #tokens: number | null = null;
  #turn: 'open' | 'over' | undefined;
  /** It has seen where a message or a turn begins: whatever is pending began after that. */
  #certain = false;

  constructor(log: CallLog, subagent: boolean) {
    this.#log = log;
    this.#subagent = subagent;
  }

  /** Lines before these cannot add a call. */
  get certain(): boolean {
    return this.#certain;
  }

  take(line: JsonObject): void {
    // Older versions write what subagents do into the same file.
    if (line.isSidechain === true && !this.#subagent) return;
    for (const event of this.#log.read(line)) this.#take(event);
  }

  /** Something was written that cannot be read: it may have been a result, or the end of all. */
  lost(): void {
    this.#pending.clear();
    this.#turn = undefined;
  }

  told(): LoggedCalls {
    return {
      pending: [...this.#pending.values()],
      model: this.#model,
      tokens: this.#tokens,
      ...(this.#turn === undefined ? {} : { turn: this.#turn }),
    };
  }

  #take(event: CallEvent): void {
    switch (event.event) {
      case 'call':
        this.#turn &&= 'open';
        if (this.#pending.size < MOST_PENDING)
          this.#pending.set(event.call.id, {
            ...event.call,
            subagent: event.subagent ?? this.#subagent,
          });
        break;
      case 'result':
        this.#pending.delete(event.id);
        break;
      case 'turn':
        this.#certain = true;
        this.#message = null;
        this.#turn = event.turn;
        this.#pending.clear();
        break;
      case 'message':
        if (event.id === this.#message) break;
        if (this.#message !== null) this.#certain = true;
        this.#message = event.id;
        this.#pending.clear();
        break;
      case 'model':
        this.#model = event.model ?? this.#model;
        this.#tokens = event.tokens ?? this.#tokens;
        break;
    }
  }
}
