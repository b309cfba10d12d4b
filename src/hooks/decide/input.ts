import type { HookCaller, HookEvent, HookInput } from '../../model/hook.ts';
import { asObject, type JsonObject } from '../../model/json.ts';

/** Longer ones name nothing. */
const MOST_TEXT = 4096;

const text = (object: JsonObject | null, name: string): string | null => {
  const value = object?.[name];
  return typeof value === 'string' && value !== '' && value.length <= MOST_TEXT ? value : null;
};

/** A session's name is the name of its state file: nothing else may be one. */
const SESSION = /^[\w-][\w.-]{0,127}$/;

/** Null for whatever is no event of a session: broken, cut off, of wrong types. */
export const understand = (
  event: HookEvent,
  json: string,
  caller: HookCaller = 'settings',
): HookInput | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json.charCodeAt(0) === 0xfeff ? json.slice(1) : json);
  } catch {
    return null; // cut off, or never JSON
  }
  const object = asObject(parsed);
  const sessionId = text(object, 'session_id');
  const cwd = text(object, 'cwd');
  if (sessionId === null || !SESSION.test(sessionId) || cwd === null || !isPath(cwd)) return null;
  const toolInput = asObject(object?.tool_input);
  return {
    event,
    caller,
    sessionId,
    cwd,
    source: text(object, 'source'),
    toolName: text(object, 'tool_name'),
    toolUseId: text(object, 'tool_use_id'),
    agentId: text(object, 'agent_id'),
    stopHookActive: object?.stop_hook_active === true,
    toolTexts: textsIn(toolInput),
    written: event === 'PostToolUse' ? writtenBy(text(object, 'tool_name'), toolInput) : [],
    prompt: event === 'UserPromptSubmit' ? longText(object, 'prompt') : null,
    toolFile: text(toolInput, 'file_path'),
    toolProject: text(toolInput, 'lean_project_path'),
    command: longText(toolInput, 'command'),
  };
};

const isPath = (path: string): boolean => path.startsWith('/') && !path.includes('\0');

const MOST_TEXTS = 64;
const MOST_DEPTH = 4;

/** Commands are long, and what they name may stand anywhere in them. */
const MOST_SEARCHED = 64 * 1024;

const textsIn = (input: JsonObject | null): readonly string[] => {
  const found: string[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (found.length >= MOST_TEXTS || depth > MOST_DEPTH) return;
    if (typeof value === 'string') found.push(value.slice(0, MOST_SEARCHED));
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) visit(inner, depth + 1);
  };
  visit(input, 0);
  return found;
};

const longText = (object: JsonObject | null, name: string): string | null => {
  const value = object?.[name];
  return typeof value === 'string' ? value.slice(0, MOST_SEARCHED) : null;
};

/** Claude Code's own tools that write one file, and the field that names it. */
const WRITERS: Readonly<Record<string, string>> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

/** `> path`, `tee path`, `touch path`, `mkdir -p path` in a shell command: what follows is written to. */
const WRITTEN =
  /(?:>>?\|?|\b(?:tee|touch|mkdir)\s(?:\s*-\S+\s)*)\s*(?:"([^"]+)"|'([^']+)'|([^\s'"`;|&<>()]+))/g;

const writtenBy = (tool: string | null, input: JsonObject | null): readonly string[] => {
  if (tool === 'Bash') {
    const command = longText(input, 'command') ?? '';
    return [...command.matchAll(WRITTEN)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
  }
  const path = tool === null || !Object.hasOwn(WRITERS, tool) ? null : text(input, WRITERS[tool] ?? '');
  return path === null ? [] : [path];
};

/** `/implement 688`: the number of the task that a command of the seeds is for. */
export const taskNumberIn = (prompt: string): string | null =>
  /^\s*\/[\w:-]+\s+0*(\d{1,9})(?![\w.])/.exec(prompt)?.[1] ?? null;

/** `specs/688_slug` and `/home/me/project/specs/688_slug`, wherever a text names one, or a file in one. */
const TASK = /(?:^|[^\w./-])((?:\/[^\s'"`;|&<>()/]+)*\/?specs\/[^\s'"`;|&<>()/]+)/g;

const MOST_TASKS = 16;

/** Directories below `specs` that a tool call names, or `specs` itself for the marker that lies there. */
export const tasksNamedIn = (texts: readonly string[]): readonly string[] => {
  const found = new Set<string>();
  for (const one of texts) {
    if (!one.includes('specs/')) continue;
    for (const [, path = ''] of one.matchAll(TASK)) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (name.includes('$') || name.includes('*')) continue;
      found.add(name.startsWith('.postflight-') ? path.slice(0, path.lastIndexOf('/')) : path);
      if (found.size >= MOST_TASKS) return [...found];
    }
  }
  return [...found];
};
