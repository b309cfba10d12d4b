import { NO_CONTENT, type Reading, readingOf } from '../../model/heartbeat.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import { formatAt, type Where, whereBelow, whereRoot } from '../files/where.ts';
import { INVENTED_HOME, INVENTED_NOW, INVENTED_PROCESSES, startOf } from './machine.ts';

const PROOFS = `${INVENTED_HOME}/proofs`;
const WORKSPACE = '.agent-workspace/TASK-20260114-221500-0659aa12';
const MIB = 1024 ** 2;

interface InventedFile {
  readonly root: string;
  readonly path: string;
  /** Seconds since it was written, at the fixed moment; `alive`: always that long ago. */
  readonly age: number;
  readonly alive?: boolean;
  readonly text: string;
  readonly size?: number;
}

const beat = (session: string, task: number, operation: string, proof: string, more: object): string =>
  JSON.stringify({ session_id: session, task_number: task, phase: 2, operation, proof, ...more });

const SILENT = '7f3e2d1c-0b9a-4857-a6f5-e4d3c2b1a098';
const AT_WORK = '19b8c7d6-e5f4-4a3b-92c1-d0e9f8a7b6c5';

const FILES: readonly InventedFile[] = [
  {
    root: `${PROOFS}/task-688`,
    path: 'specs/688_density/.agent-progress.json',
    age: 788,
    text: beat(SILENT, 688, 'checking_diagnostics', 'density_bound', { diagnostic_calls: 4, sorries: 2 }),
  },
  {
    root: `${PROOFS}/task-688`,
    path: 'specs/688_density/.postflight-pending',
    age: 801,
    text: JSON.stringify({ session_id: SILENT, skill: 'lean-implement', task_number: 688 }),
  },
  {
    root: `${PROOFS}/task-701`,
    path: 'specs/701_volume/.agent-progress.json',
    age: 12,
    alive: true,
    text: beat(AT_WORK, 701, 'writing_proof', 'ball_volume', { diagnostic_calls: 1 }),
  },
  {
    root: `${PROOFS}/task-702`,
    path: '.agent-progress.json',
    age: 64,
    text: '{"task_number": 702, "operation": "writi',
  },
  {
    root: PROOFS,
    path: `${WORKSPACE}/logs/prover_stream.jsonl`,
    age: 9 * 3600,
    size: 38 * MIB,
    text: '{"type":"result","subtype":"success","session_id":"a659"}\n',
  },
  {
    root: PROOFS,
    path: `${WORKSPACE}/progress/prover_progress.jsonl`,
    age: 9 * 3600,
    size: 3 * MIB,
    text: '{"agent_id":"prover","status":"completed","progress":100,"message":"proved"}\n',
  },
  { root: PROOFS, path: `${WORKSPACE}/agent_prompt_prover.txt`, age: 11 * 3600, size: 9000, text: '' },
];

/** Found and read as a real one would be: by its place and name, by the reader of its format. */
const toReading = (file: InventedFile, elapsed: number): Reading[] => {
  const parts = file.path.split('/');
  const name = parts.pop() ?? '';
  const where = parts.reduce<Where | null>(
    (at, part) => (at === null ? null : whereBelow(at, part)),
    whereRoot(file.root, []),
  );
  const format = where === null ? null : formatAt(where, name);
  if (format === null) return [];
  const path = `${file.root}/${file.path}`;
  const result = format.read({ path, text: file.text, cut: false });
  return [
    readingOf(result.ok ? result.content : NO_CONTENT, {
      path,
      root: file.root,
      format: format.format,
      source: null,
      mtime: INVENTED_NOW + (file.alive === true ? elapsed - file.age : -file.age) * 1000,
      size: file.size ?? file.text.length,
      unreadable: result.ok ? null : result.why,
    }),
  ];
};

/** pid, session id, status, seconds in it, what it waits for, and its own name. */
const SESSIONS: readonly (readonly [number, string, string, number, string | null, string | null])[] = [
  [1342, 'c3a1f0e2-4b5d-4e6f-8a90-1b2c3d4e5f60', 'busy', 4, null, 'checkout flow'],
  [1501, '0d9f2c7e-3a1b-4c55-8d7e-1f2a3b4c5d6e', 'waiting', 720, 'permission prompt', 'density bound'],
  [2101, '9e8d7c6b-5a49-4382-b716-0f1e2d3c4b5a', 'busy', 30, null, null],
  [3755, '44d0a1b2-c3d4-4e5f-9607-18293a4b5c6d', 'idle', 6 * 3600, null, null],
  [4001, 'd1e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5f6', 'idle', 2400, null, null],
  [5230, SILENT, 'busy', 795, null, null],
  [5330, AT_WORK, 'busy', 12, null, null],
];

const processWith = (pid: number) => INVENTED_PROCESSES.find(p => p.pid === pid);

const toSession = (
  [pid, sessionId, status, quiet, waitingFor, name]: (typeof SESSIONS)[number],
  elapsed: number,
): ClaudeSession[] => {
  const process = processWith(pid);
  if (process === undefined) return [];
  const isAtWork = status === 'busy' && quiet < 60;
  return [
    {
      pid,
      procStart: startOf(process),
      sessionId,
      cwd: process.cwd,
      kind: 'interactive',
      status,
      statusUpdatedAt: INVENTED_NOW + (isAtWork ? elapsed - quiet : -quiet) * 1000,
      waitingFor,
      name,
      jobId: null,
      socket: null,
      spare: false,
      adoptedOutputs: [],
      path: `${INVENTED_HOME}/.claude/sessions/${pid}.json`,
    },
  ];
};

/** A session writes to its transcript whenever its status changes, and while it works. */
const toTranscript = (session: ClaudeSession): Reading =>
  readingOf(
    { sessionId: session.sessionId, cwd: session.cwd, pid: session.pid, status: session.status },
    {
      path: `${INVENTED_HOME}/.claude/projects/${session.sessionId}.jsonl`,
      root: `${INVENTED_HOME}/.claude`,
      format: 'transcript',
      source: null,
      mtime: session.statusUpdatedAt ?? 0,
      size: 1000,
      unreadable: null,
    },
  );

/** What Claude and the agents have written, `elapsed` seconds after the fixed moment. */
export const inventedRecords = (
  elapsed: number,
  isThere: (pid: number) => boolean,
): { readonly sessions: readonly ClaudeSession[]; readonly readings: readonly Reading[] } => {
  const sessions = SESSIONS.filter(([pid]) => isThere(pid)).flatMap(told => toSession(told, elapsed));
  return {
    sessions,
    readings: [...FILES.flatMap(file => toReading(file, elapsed)), ...sessions.map(toTranscript)],
  };
};
