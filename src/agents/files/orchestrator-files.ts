import type { ReadingContent, ReadingMember } from '../../model/heartbeat.ts';
import {
  asArray,
  asObject,
  type JsonObject,
  jsonLines,
  lastJsonLine,
  numberField,
  parseJson,
  pidField,
  wholeObjectsOf,
} from '../../model/json.ts';
import { lastPartOf } from '../../model/path.ts';
import { safeText, textField } from '../../model/redact.ts';
import { parseTime } from '../../model/time.ts';
import { type FileReader, notUnderstood, understood } from './format-type.ts';

const latest = (...times: (number | null)[]): number | null =>
  times.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);

/** One agent as the registry, or the database's table of them, has it. */
export const toMember = (agent: JsonObject | null): ReadingMember[] => {
  const id = textField(agent, 'id') ?? textField(agent, 'agent_id');
  if (id === null) return [];
  const status = textField(agent, 'status');
  return [
    {
      id,
      status,
      terminal: isTerminalStatus(status, numberField(agent, 'progress')),
      sessionId: textField(agent, 'cursor_session_id'),
      tmuxSession: textField(agent, 'tmux_session'),
      pid: pidField(agent, 'claude_pid') ?? pidField(agent, 'cursor_pid'),
      startedAt: parseTime(agent?.started_at),
      // datetime.now().isoformat(): local time without an offset, which parseTime takes it for.
      updatedAt: latest(
        parseTime(agent?.last_update),
        parseTime(agent?.completed_at),
        parseTime(agent?.terminated_at),
      ),
    },
  ];
};

const registryContent = (
  registry: JsonObject | null,
  agents: readonly (JsonObject | null)[],
): Partial<ReadingContent> => {
  const members = agents.flatMap(toMember);
  return {
    task: textField(registry, 'task_id'),
    operation: textField(registry, 'task_description'),
    status: textField(registry, 'status'),
    createdAt: parseTime(registry?.created_at),
    updatedAt: latest(...members.map(m => m.updatedAt)),
    cwd: textField(registry, 'client_cwd'),
    terminal: members.length > 0 && members.every(m => m.terminal),
    counters: { agents: members.length, finished: members.filter(m => m.terminal).length },
    members,
  };
};

/** `AGENT_REGISTRY.json`. Rewritten in place under a lock we cannot take: torn reads are normal. */
export const readAgentRegistry: FileReader = ({ text, cut }) => {
  if (cut) return understood(registryContent(null, wholeObjectsOf(text, 'agents')));
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why);
  const registry = asObject(parsed.value);
  if (registry === null) return notUnderstood('not a JSON object');
  return understood(registryContent(registry, asArray(registry.agents).map(asObject)));
};

/** Words with which the orchestrator says that an agent's work is over; everything else is still at work. */
const TERMINAL = new Set(['completed', 'error', 'terminated', 'failed', 'killed', 'phase_completed']);
const ACTIVE = new Set(['running', 'working', 'blocked', 'reviewing']);

/** An unknown word is judged by the progress beside it, as the orchestrator itself does. */
const isTerminalStatus = (status: string | null, progress: number | null): boolean => {
  const word = status?.toLowerCase() ?? '';
  if (TERMINAL.has(word)) return true;
  return !ACTIVE.has(word) && progress === 100;
};

/** The agent that one of an orchestrator's files belongs to: the first group of its name's pattern. */
export const agentNamedBy = (name: RegExp, path: string): string | null => {
  const id = name.exec(lastPartOf(path))?.[1];
  return id === undefined ? null : safeText(id);
};

/** The task directory's name is the task's id. */
export const orchestratedTask = (path: string): string | null =>
  /\/(TASK-[\w-]{1,80})\//.exec(path)?.[1] ?? null;

export const PROGRESS_NAME = /^(.+)_progress\.jsonl$/;

/**
 * `<agent>_progress.jsonl`. The orchestrator's watchdog types fake `progress_reminder` lines into the
 * pane of a silent agent: they are no heartbeat, and neither is the mtime they leave.
 */
export const readProgressLog: FileReader = ({ path, text, cut }) => {
  const lines = jsonLines(text, cut);
  const beats = lines.filter(line => line.action !== 'progress_reminder');
  const last = beats.at(-1) ?? null;
  const reminded = lines.length > 0 && lines.at(-1) !== last;
  if (last === null && !reminded)
    return notUnderstood(text.trim() === '' ? 'empty' : 'no complete JSON line');
  const progress = numberField(last, 'progress') ?? numberField(last, 'overall_progress');
  const status = textField(last, 'status');
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(PROGRESS_NAME, path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message') ?? textField(last, 'sub_task') ?? textField(last, 'action'),
    status,
    counters: progress === null ? {} : { progress },
    terminal: last !== null && isTerminalStatus(status, progress),
    updatedAt: parseTime(last?.timestamp),
    foreignWrite: reminded,
  });
};

export const FINDINGS_NAME = /^(.+)_findings\.jsonl$/;

/** `<agent>_findings.jsonl`: what an agent reported. An empty one is normal. */
export const readFindingsLog: FileReader = ({ path, text, cut }) => {
  const lines = jsonLines(text, cut);
  const last = lines.at(-1) ?? null;
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(FINDINGS_NAME, path) ?? textField(last, 'agent_id'),
    operation: textField(last, 'message'),
    status: textField(last, 'severity'),
    // Of a log longer than what was read, the number of its lines is not known.
    counters: cut ? {} : { findings: lines.length },
    updatedAt: parseTime(last?.timestamp),
  });
};

export const STREAM_NAME = /^(.+)_stream\.jsonl$/;

/** `<agent>_stream.jsonl`: Claude's stream-json. A last line of type `result` means that it finished. */
export const readStreamLog: FileReader = ({ path, text, cut }) => {
  const last = lastJsonLine(text, cut);
  const type = textField(last, 'type');
  const failed = last?.is_error === true;
  return understood({
    task: orchestratedTask(path),
    agentId: agentNamedBy(STREAM_NAME, path),
    sessionId: textField(last, 'session_id'),
    operation: type,
    status: type === 'result' ? (textField(last, 'subtype') ?? (failed ? 'error' : 'success')) : null,
    terminal: type === 'result',
  });
};

const OVER = new Set(['completed', 'abandoned', 'expanded', 'cancelled', 'failed']);

const toProjectMember = (project: JsonObject | null): ReadingMember[] => {
  const id = textField(project, 'project_number');
  if (id === null) return [];
  const status = textField(project, 'status');
  return [
    {
      id,
      status,
      terminal: status !== null && OVER.has(status),
      sessionId: textField(project, 'session_id'),
      tmuxSession: null,
      pid: null,
      startedAt: parseTime(project?.started),
      updatedAt: parseTime(project?.last_updated),
    },
  ];
};

/** `specs/state.json`: every task of the project and its status. Of a long one, the tasks in its first part. */
export const readProjectState: FileReader = ({ text, cut }) => {
  if (cut) return understood({ members: wholeObjectsOf(text, 'active_projects').flatMap(toProjectMember) });
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why);
  const state = asObject(parsed.value);
  if (state === null) return notUnderstood('not a JSON object');
  return understood({ members: asArray(state.active_projects).map(asObject).flatMap(toProjectMember) });
};

/** `.claude/tmp/workflow-active`: `<task number> <ISO time>` while a workflow runs. */
export const readWorkflow: FileReader = ({ text }) => {
  const match = /^\s*(\d{1,9})(?:\s+(\S{1,40}))?\s*$/.exec(text);
  if (match === null) return notUnderstood(text.trim() === '' ? 'empty' : 'not `<task> <time>`');
  return understood({ task: String(Number(match[1])), createdAt: parseTime(match[2]) });
};
