import type { LoggedCalls } from './call.ts';
import type { Identity } from './identity.ts';
import { formatAge } from './units.ts';

export type HeartbeatState = 'fine' | 'warn' | 'critical' | 'unreadable' | 'leftover';

/** What a file says of the work it speaks of; null: it does not say. */
interface WorkTold {
  readonly sessionId: string | null;
  readonly task: string | null;
  readonly phase: string | null;
  readonly operation: string | null;
  readonly proof: string | null;
  /** What the file itself says of the work: `in_progress`, `partial`, `failed`… */
  readonly status: string | null;
  readonly counters: Readonly<Record<string, number>>;
}

/** A sign of life that an agent, a skill or an orchestrator wrote to a file. */
export interface Heartbeat extends WorkTold {
  readonly path: string;
  /** Which reader understood it: `agent-progress`, `postflight-marker`, `registry`… */
  readonly format: string;
  readonly state: HeartbeatState;
  /** Why it is in that state, in a sentence; null when fine. */
  readonly reason: string | null;
  readonly ageSeconds: number | null;
  /** The agent it speaks of, when it could be joined to one. */
  readonly agent: Identity | null;
}

export const READING_FORMATS = [
  'agent-progress',
  'postflight-marker',
  'loop-guard',
  'diagnostic-lock',
  'return-meta',
  'phase-progress',
  'project-state',
  'workflow',
  'registry',
  /** An orchestrator's own database; what it says is told by the registries of its tasks. */
  'orchestrator-database',
  'progress-log',
  'findings-log',
  'stream-log',
  'prompt',
  'deploy-log',
  'transcript',
  /** A source of the user's config; `source` names it. */
  'user',
] as const;
export type ReadingFormat = (typeof READING_FORMATS)[number];

export const isReadingFormat = (name: string): name is ReadingFormat =>
  (READING_FORMATS as readonly string[]).includes(name);

/** One agent of an orchestrator's registry, or one project of `specs/state.json`. */
export interface ReadingMember {
  readonly id: string;
  readonly status: string | null;
  /** The file says its work is over. */
  readonly terminal: boolean;
  readonly sessionId: string | null;
  readonly tmuxSession: string | null;
  readonly pid: number | null;
  readonly startedAt: number | null;
  readonly updatedAt: number | null;
}

/** What a reader understood of one file's text. Times are epoch milliseconds; null: the file does not say. */
export interface ReadingContent extends WorkTold {
  /** The file says that the work it speaks of is over. */
  readonly terminal: boolean;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** The last writer was not the agent (a watchdog's reminder): the file's mtime is no sign of life. */
  readonly foreignWrite: boolean;
  /** An orchestrator's name for the agent; its tmux session is `agent_<id>`. */
  readonly agentId: string | null;
  readonly tmuxSession: string | null;
  readonly pid: number | null;
  readonly cwd: string | null;
  /** When a subagent of the session last wrote to a transcript of its own. */
  readonly subagentAt: number | null;
  readonly members: readonly ReadingMember[];
  /** The id of the session, by the place of its log. Absent: that does not show it. */
  readonly logId?: string | undefined;
  /** What is pending, by the log of a session. Absent: not known. */
  readonly calls?: LoggedCalls | undefined;
}

/** One known file as it was last read. When `unreadable`, the content is the last that could be read. */
export interface Reading extends ReadingContent {
  readonly path: string;
  /** The root below which it was found. */
  readonly root: string;
  readonly format: ReadingFormat;
  /** Name of the user's source; null for the built-in formats. */
  readonly source: string | null;
  readonly mtime: number;
  readonly size: number;
  readonly unreadable: string | null;
}

export const NO_CONTENT: ReadingContent = {
  sessionId: null,
  task: null,
  phase: null,
  operation: null,
  proof: null,
  status: null,
  counters: {},
  terminal: false,
  createdAt: null,
  updatedAt: null,
  foreignWrite: false,
  agentId: null,
  tmuxSession: null,
  pid: null,
  cwd: null,
  subagentAt: null,
  members: [],
};

const BLANK: Reading = {
  ...NO_CONTENT,
  path: '',
  root: '',
  format: 'user',
  source: null,
  mtime: 0,
  size: 0,
  unreadable: null,
};

/** A reading from its two halves. Spread over a whole one: V8 takes 40 times as long to add seven fields to a spread. */
export const readingOf = (
  content: Partial<ReadingContent>,
  file: Omit<Reading, keyof ReadingContent>,
): Reading => ({
  ...BLANK,
  ...content,
  ...file,
});

/** Files that do not beat: their age counts, not their silence. */
const LYING: Readonly<Record<string, string>> = {
  'diagnostic-lock': 'lock',
  'loop-guard': 'loop guard',
  'postflight-marker': 'marker',
};

/** `silent 13m`, `lock 2m old`: in few cells. */
export const beatAlarm = ({ format, ageSeconds }: Heartbeat): string =>
  LYING[format] === undefined
    ? `silent ${formatAge(ageSeconds)}`
    : `${LYING[format]} ${formatAge(ageSeconds)} old`;

const overdue = (beat: Heartbeat): string =>
  LYING[beat.format] === undefined ? `silent for ${formatAge(beat.ageSeconds)}` : beatAlarm(beat);

/** Said first: what is wrong must not be cut off at the edge of a column. */
const TROUBLES = {
  fine: () => '',
  warn: overdue,
  critical: overdue,
  unreadable: beat => beat.reason ?? 'unreadable',
  leftover: beat => beat.reason ?? 'left over',
} satisfies Record<Heartbeat['state'], (beat: Heartbeat) => string>;

/** `task 688, phase 2, checking diagnostics, foo`. */
export const beatAbout = ({ task, phase, operation, proof }: Heartbeat): string =>
  [
    task === null ? '' : `task ${task}`,
    phase === null ? '' : `phase ${phase}`,
    operation?.replaceAll('_', ' ') ?? '',
    proof ?? '',
  ]
    .filter(Boolean)
    .join(', ');

/** Whose it is: `agent 5230`. */
export const beatOwner = ({ agent }: Heartbeat): string =>
  agent === null ? 'no agent found' : `agent ${agent.pid}`;

/** `silent for 13m: task 688, phase 2, checking diagnostics, foo`: what a heartbeat tells. */
export const beatText = (beat: Heartbeat): string =>
  [TROUBLES[beat.state](beat), beatAbout(beat)].filter(Boolean).join(': ');
