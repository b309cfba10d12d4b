import { isBuiltin } from 'node:module';
import { asArray, asObject, type JsonObject, parseJson } from '../../../model/json-fields.ts';
import { type CommandResult, runCommand } from '../../run-command.ts';
import { Unread } from './copy.ts';

const TIMEOUT_MS = 1000;
const MOST_OUTPUT = 4 * 1024 ** 2;
const MOST_ROWS = 2000;

/** Newest first; every text cut, because whoever wrote it may have written anything. */
const AGENTS = `SELECT ${[
  'agent_id',
  'task_id',
  'status',
  'tmux_session',
  'started_at',
  'completed_at',
  'last_update',
]
  .map(column => `substr(${column}, 1, 200) AS ${column}`)
  .join(', ')}, progress, claude_pid, cursor_pid FROM agents ORDER BY rowid DESC LIMIT ${MOST_ROWS}`;

/** Runs in a Node of its own: the module only works synchronously, and a schema may be made to take for ever. */
const NODE_SCRIPT = `
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
const database = new DatabaseSync(process.argv[1], { readOnly: true });
database.exec('PRAGMA trusted_schema = OFF');
process.stdout.write(JSON.stringify(database.prepare(process.argv[2]).all()));
`;

interface Way {
  readonly available: boolean;
  ask(copy: string): Promise<CommandResult>;
}

const WAYS: readonly Way[] = [
  {
    available: isBuiltin('node:sqlite'),
    ask: copy => {
      const { NODE_OPTIONS: _, ...env } = process.env;
      return runCommand(process.execPath, ['--no-warnings', '-e', NODE_SCRIPT, copy, AGENTS], {
        timeoutMs: TIMEOUT_MS,
        env,
        mostOutput: MOST_OUTPUT,
      });
    },
  },
  {
    available: true,
    // -safe: nothing that a schema says can write a file, run a program or load code.
    ask: copy =>
      runCommand(
        'sqlite3',
        [
          '-safe',
          '-readonly',
          '-json',
          '-batch',
          '-init',
          '/dev/null',
          copy,
          `PRAGMA trusted_schema = OFF; ${AGENTS}`,
        ],
        { timeoutMs: TIMEOUT_MS, mostOutput: MOST_OUTPUT },
      ),
  },
];

const rowsIn = (text: string): readonly JsonObject[] | null => {
  if (text.trim() === '') return [];
  const parsed = parseJson(text);
  return parsed.ok
    ? asArray(parsed.value)
        .map(asObject)
        .filter(row => row !== null)
    : null;
};

/** The agents that an orchestrator's database lists, newest first. Throws `Unread` with the reason. */
export const queryAgents = async (copy: string): Promise<readonly JsonObject[]> => {
  let why =
    'needs node:sqlite (Node 22.13 or newer) or the program sqlite3 (3.37 or newer), and neither is here';
  for (const way of WAYS) {
    if (!way.available) continue;
    const answer = await way.ask(copy);
    if (answer.status === 'missing') continue;
    if (answer.status === 'timeout') throw new Unread(`was not read within ${TIMEOUT_MS / 1000} s`);
    if (answer.status !== 'done' || answer.code !== 0) why = 'is damaged, or its tables are not known';
    else {
      const rows = rowsIn(answer.stdout);
      if (rows !== null) return rows;
      why = 'gave an answer that could not be understood';
    }
  }
  throw new Unread(why);
};
