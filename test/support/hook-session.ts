import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { understand } from '../../src/hooks/decide/input.ts';
import { answer } from '../../src/hooks/handlers.ts';
import type { HookEvent } from '../../src/model/hook.ts';
import { EVENTS } from '../fixtures/hooks.ts';
import type { Sandbox } from './sandbox.ts';

export const LEAN_BUILD = 'mcp__lean-lsp__lean_build';
export const LEAN_CHECK = 'mcp__lean-lsp__lean_diagnostic_messages';

export interface Answered {
  readonly decision?: string;
  readonly reason?: string;
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: {
    readonly hookEventName: string;
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
    readonly additionalContext?: string;
  };
}

/** A session with hooks in a project of the sandbox: sends what Claude Code would send, in this process. */
export class HookSession {
  readonly sandbox: Sandbox;
  readonly id: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  #calls = 0;

  constructor(sandbox: Sandbox, id = 'session-one', env: NodeJS.ProcessEnv = {}) {
    this.sandbox = sandbox;
    this.id = id;
    this.cwd = sandbox.path('work');
    this.env = { ...sandbox.env, ...env };
  }

  async send(event: HookEvent, extra: Readonly<Record<string, unknown>> = {}): Promise<Answered> {
    const json = { ...EVENTS[event], session_id: this.id, cwd: this.cwd, ...extra };
    const input = understand(event, JSON.stringify(json));
    if (input === null) throw new Error(`${event} was not understood`);
    return (await answer(input, this.env)) as Answered;
  }

  /** PreToolUse of a tool; gives the answer and what ends the call. */
  async call(tool: string, input: Readonly<Record<string, unknown>> = {}) {
    this.#calls += 1;
    const call = { tool_name: tool, tool_input: input, tool_use_id: `toolu_${this.id}_${this.#calls}` };
    const said = await this.send('PreToolUse', call);
    return { said, denied: isDenied(said), end: () => this.send('PostToolUse', call) };
  }

  /** Writes to a task, as work on it does. */
  async writeTo(task: string): Promise<void> {
    await this.send('PostToolUse', { tool_name: 'Write', tool_input: { file_path: `${task}/report.md` } });
  }

  /** Names a task directory in a tool call that only reads. */
  async name(task: string): Promise<void> {
    await this.send('PostToolUse', { tool_input: { command: `cat ${task}/plan.md` } });
  }

  state(): Record<string, unknown> {
    return JSON.parse(readFileSync(join(stateOf(this.sandbox), 'sessions', `${this.id}.json`), 'utf8'));
  }
}

const isDenied = (said: Answered): boolean => said.hookSpecificOutput?.permissionDecision === 'deny';

export const stateOf = (sandbox: Sandbox): string => join(sandbox.home, '.local/state/reaptop');

export const configure = (sandbox: Sandbox, config: object): void => {
  sandbox.write('home/.config/reaptop/config.json', JSON.stringify(config));
};

/** The seeds' files of one task. */
export const makeTask = (sandbox: Sandbox, name = '688_zombies', project = 'work'): string => {
  const directory = sandbox.path(project, 'specs', name);
  mkdirSync(directory, { recursive: true });
  return directory;
};

export const makeMarker = (
  directory: string,
  { ageSeconds = 0, text, guard }: { ageSeconds?: number; text?: string; guard?: string } = {},
): string => {
  const at = new Date(Date.now() - ageSeconds * 1000);
  const path = join(directory, '.postflight-pending');
  const marker = {
    session_id: 'sess_1736700000_abc123',
    skill: 'skill-lean-implementation',
    task_number: 688,
    operation: 'implement',
    reason: 'Postflight pending: status update, artifact linking, git commit',
    created: at.toISOString().replace(/\.\d+Z$/, 'Z'),
    stop_hook_active: false,
  };
  writeFileSync(path, text ?? JSON.stringify(marker, null, 2));
  utimesSync(path, at, at);
  if (guard !== undefined) writeFileSync(join(directory, '.postflight-loop-guard'), guard);
  return path;
};

export const readJson = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));
