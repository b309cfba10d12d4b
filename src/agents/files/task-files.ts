import { asArray, asObject, type JsonObject, numberField, parseJson, pidField } from '../../model/json.ts';
import { textField } from '../../model/redact.ts';
import { parseTime } from '../../model/time.ts';
import { type FileReader, notUnderstood, objectReader, taskOfPath, understood } from './format-type.ts';

const NOT_COUNTERS = new Set(['task_number', 'phase', 'last_update', 'pid', 'version']);
const MOST_COUNTERS = 12;

/** Every other number in the file counts something: `diagnostic_calls`, `skipped_diagnostics`… */
const countersOf = (object: JsonObject): Record<string, number> =>
  Object.fromEntries(
    Object.entries(object)
      .filter(
        ([name, value]) => typeof value === 'number' && /^\w{1,40}$/.test(name) && !NOT_COUNTERS.has(name),
      )
      .slice(0, MOST_COUNTERS) as [string, number][],
  );

/** `.agent-progress.json`: the heartbeat a Lean agent writes between its steps. */
export const readAgentProgress = objectReader((object, { path }) => {
  const status = textField(object, 'status');
  return {
    sessionId: textField(object, 'session_id'),
    task: textField(object, 'task_number') ?? taskOfPath(path),
    phase: textField(object, 'phase'),
    operation: textField(object, 'operation'),
    proof: textField(object, 'proof'),
    status,
    counters: countersOf(object),
    terminal: status === 'completed' || status === 'ended' || textField(object, 'operation') === 'completed',
    updatedAt: parseTime(object.last_update),
    createdAt: parseTime(object.started_at),
    // Not in the original: `reaptop beat` and kin may say which process they speak for.
    pid: pidField(object, 'pid'),
  };
});

/** `progress/phase-N-progress.json`: the objectives of one phase and how far they are. */
export const readPhaseProgress = objectReader((object, { path }) => {
  const objectives = asArray(object.objectives).map(asObject);
  const done = objectives.filter(o => o?.status === 'done').length;
  const current = textField(object, 'current_objective');
  const named = objectives.find(o => current !== null && textField(o, 'id') === current);
  const handoffs = numberField(object, 'handoff_count');
  return {
    task: taskOfPath(path),
    phase: textField(object, 'phase') ?? /phase-(\d+)-/.exec(path)?.[1] ?? null,
    operation: textField(named ?? null, 'description') ?? current ?? textField(object, 'phase_name'),
    counters: { done, objectives: objectives.length, ...(handoffs === null ? {} : { handoffs }) },
    terminal: objectives.length > 0 && done === objectives.length,
    createdAt: parseTime(object.started_at),
    updatedAt: parseTime(object.last_updated),
  };
});

/**
 * Many markers come from a heredoc whose variables were never filled in (`"task_number": $task_number`)
 * and are no JSON. Their plain pairs can still be told apart.
 */
const salvage = (text: string): JsonObject | null => {
  const pairs = [
    ...text.slice(0, 4096).matchAll(/"(\w{1,40})"\s*:\s*(?:"([^"\\]{0,400})"|(-?\d{1,15})|(true|false))/g),
  ];
  if (pairs.length === 0) return null;
  return Object.fromEntries(
    pairs.map(([, name, text, number, flag]) => [
      name,
      text ?? (number === undefined ? flag === 'true' : Number(number)),
    ]),
  );
};

/** `.postflight-pending`, global or of one task: the skill has work to do after its subagent stops. */
export const readPostflightMarker: FileReader = ({ path, text }) => {
  const parsed = parseJson(text);
  const marker = parsed.ok ? asObject(parsed.value) : salvage(text);
  if (marker === null) return notUnderstood(parsed.ok ? 'not a JSON object' : parsed.why);
  return understood({
    sessionId: textField(marker, 'session_id'),
    task: textField(marker, 'task_number') ?? taskOfPath(path),
    operation: textField(marker, 'operation') ?? textField(marker, 'skill'),
    // The documented emergency exit: the hook will remove the marker the next time it runs.
    status: marker.stop_hook_active === true ? 'stop_hook_active' : textField(marker, 'skill'),
    createdAt: parseTime(marker.created),
  });
};

const RETURNED = new Set([
  'researched',
  'planned',
  'implemented',
  'partial',
  'failed',
  'blocked',
  'completed',
]);

/** `.return-meta.json`: written `in_progress` when an agent starts, with a final status when it returns. */
export const readReturnMeta = objectReader((object, { path }) => {
  const metadata = asObject(object.metadata);
  const partial = asObject(object.partial_progress);
  const status = textField(object, 'status');
  const done = numberField(metadata, 'phases_completed') ?? numberField(partial, 'phases_completed');
  const total = numberField(metadata, 'phases_total') ?? numberField(partial, 'phases_total');
  return {
    sessionId: textField(metadata, 'session_id'),
    task: taskOfPath(path),
    phase: done === null ? null : total === null ? String(done) : `${done}/${total}`,
    operation: textField(partial, 'stage') ?? textField(metadata, 'agent_type'),
    status,
    terminal: status !== null && RETURNED.has(status),
    createdAt: parseTime(object.started_at),
  };
});

/** A loop guard: a bare integer, `{continuation_count, max_continuations}` or `{cycle_count, max_cycles}`. */
export const readLoopGuard: FileReader = ({ path, text }) => {
  const task = taskOfPath(path);
  const integer = /^\s*(\d{1,9})\s*$/.exec(text)?.[1];
  if (integer !== undefined) return understood({ task, counters: { count: Number(integer) } });
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why === 'empty' ? 'empty' : 'neither an integer nor JSON');
  const guard = asObject(parsed.value);
  const count = numberField(guard, 'continuation_count') ?? numberField(guard, 'cycle_count');
  if (count === null) return notUnderstood('holds no count');
  const max = numberField(guard, 'max_continuations') ?? numberField(guard, 'max_cycles');
  return understood({
    task,
    sessionId: textField(guard, 'session_id'),
    status: textField(guard, 'current_state'),
    counters: max === null ? { count } : { count, max },
    createdAt: parseTime(guard?.created) ?? parseTime(guard?.started),
    updatedAt: parseTime(guard?.last_updated),
  });
};

/** `.diagnostic-lock`: an empty file that `touch` made. Only its age and place say anything. */
export const readDiagnosticLock: FileReader = ({ path }) => understood({ task: taskOfPath(path) });
