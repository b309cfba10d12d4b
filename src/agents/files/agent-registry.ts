import type { ReadingContent, ReadingMember } from '../../model/heartbeat.ts';
import {
  asArray,
  asObject,
  type JsonObject,
  numberField,
  parseJson,
  pidField,
  textField,
} from '../../model/json-fields.ts';
import { wholeObjectsOf } from '../../model/json-lines.ts';
import { parseTime } from '../../model/time.ts';
import { isTerminalStatus } from './agent-status.ts';
import type { FileFormat } from './format.ts';
import { notUnderstood, type Reader, understood } from './reader.ts';

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
const readAgentRegistry: Reader = ({ text, cut }) => {
  if (cut) return understood(registryContent(null, wholeObjectsOf(text, 'agents')));
  const parsed = parseJson(text);
  if (!parsed.ok) return notUnderstood(parsed.why);
  const registry = asObject(parsed.value);
  if (registry === null) return notUnderstood('not a JSON object');
  return understood(registryContent(registry, asArray(registry.agents).map(asObject)));
};

export const registry: FileFormat = {
  reader: { part: 'head', read: readAgentRegistry },
  lies: [['task', 'AGENT_REGISTRY.json']],
  joins: 'project',
  project: 'stated',
  aged: 'sign',
  signOfLife: null,
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: [],
  swept: null,
  evidence: 'task',
};
