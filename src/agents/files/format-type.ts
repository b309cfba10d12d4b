import type { FileFinding } from '../../model/config.ts';
import { NO_CONTENT, type ReadingContent, type ReadingFormat } from '../../model/heartbeat.ts';
import { asObject, type JsonObject, parseJson } from '../../model/json.ts';
import { directoryOf, lastPartOf } from '../../model/path.ts';

/** How a file is read: which part of it, and by which reader. */
export interface HowRead {
  readonly part: 'head' | 'tail' | 'none';
  readonly read: FileReader;
}

/** Everything the product knows of one file format. What a format does not say is as in `DEFAULTS` (formats.ts). */
export interface FileFormat {
  /** null: not a file of our locations. A transcript is never read; a user's source says itself how it is. */
  readonly reader: HowRead | null;
  /** The kinds of directory it is found in, and its name there. */
  readonly locations: readonly Location[];
  /** Whom it speaks of when it names no process and no session. */
  readonly belongsTo: 'agent-in-name' | 'task-of-directory' | 'task-of-parent-directory' | 'project';
  /** How its project is known: by its path, by what it states, or it is the root itself. */
  readonly projectFrom: 'path' | 'content' | 'root';
  readonly ageFrom: 'last-update' | 'creation';
  /** Kept up to date by an agent while it works: for a task, by an orchestrated agent, or for a session. */
  readonly signOfLife: 'task' | 'agent' | 'session' | null;
  /** Whose thresholds say when its age is a finding; null: its age alone says nothing. */
  readonly thresholds: FileFinding | null;
  /** A file of the same agent that, while it grows, makes up for silence here. */
  readonly silenceExcusedBy: ReadingFormat | null;
  readonly inHeartbeatsPanel: boolean;
  /** Which of an agent's files says best what it is doing now: 1 first, null last. */
  readonly activityRank: number | null;
  /** When it is of no more use: its agent is gone or finished, its text says so, or the files beside it say so. */
  readonly leftOverWhen: readonly ('agent-gone' | 'text-says-finished' | 'task-finished')[];
  /** What `sweep` does with it once its agent is finished; null: nothing. */
  readonly sweepAction: 'archive' | 'delete' | 'remove' | null;
  /** What it says is acted on: about the agent in its name, or about all agents of its task. */
  readonly evidenceFor: 'agent' | 'task' | null;
}

/** The text of a known file, as much of it as was read. `cut`: there is more than that. */
export interface FileText {
  readonly path: string;
  readonly text: string;
  readonly cut: boolean;
}

export type Understood =
  | { readonly ok: true; readonly content: ReadingContent }
  | { readonly ok: false; readonly why: string };

/** A reader of one format: pure, total, never throws. */
export type FileReader = (file: FileText) => Understood;

export const understood = (content: Partial<ReadingContent>): Understood => ({
  ok: true,
  content: { ...NO_CONTENT, ...content },
});

export const notUnderstood = (why: string): Understood => ({ ok: false, why });

/** A reader of files that hold one JSON object. */
export const objectReader =
  (read: (object: JsonObject, file: FileText) => Partial<ReadingContent>): FileReader =>
  file => {
    if (file.cut) return notUnderstood('larger than 64 KiB');
    const parsed = parseJson(file.text);
    if (!parsed.ok) return notUnderstood(parsed.why);
    const object = asObject(parsed.value);
    return object === null ? notUnderstood('not a JSON object') : understood(read(object, file));
  };

/** `specs/007_name/.agent-progress.json` speaks of task 7, also when it does not say so itself. */
export const taskOfPath = (path: string): string | null => {
  const directory = directoryOf(path);
  const name = lastPartOf(lastPartOf(directory) === 'progress' ? directoryOf(directory) : directory);
  const number = /^(\d{1,9})_/.exec(name)?.[1];
  return number === undefined ? null : String(Number(number));
};

/** The kinds of directory that can hold a known file. */
export type FilePlace =
  | 'project'
  | 'specs'
  | 'spec-task'
  | 'spec-progress'
  | 'claude'
  | 'claude-tmp'
  | 'workspace'
  | 'workspace-group'
  | 'workspace-registry'
  | 'task-list'
  | 'task'
  | 'task-logs'
  | 'task-progress'
  | 'task-findings';

export type NameRule = string | RegExp;

const TASK = /^TASK-/;
/** Not hidden, and not where finished work or foreign code is kept. */
const GROUP = /^(?!\.|archive$|registry$|node_modules$|TASK-)/;

/** Which directories lie in which; what files each can hold, the formats say themselves. */
export const DIRECTORIES = {
  // Names only, no patterns: a project's own directory may hold 20,000 files and is never listed.
  project: [
    ['specs', 'specs'],
    ['.claude', 'claude'],
    ['.agent-workspace', 'workspace'],
    ['workspaces', 'task-list'],
  ],
  specs: [[/^(?!\.|archive$|tmp$)/, 'spec-task']],
  'spec-task': [['progress', 'spec-progress']],
  'spec-progress': [],
  claude: [['tmp', 'claude-tmp']],
  'claude-tmp': [],
  workspace: [
    [TASK, 'task'],
    ['registry', 'workspace-registry'],
    [GROUP, 'workspace-group'],
  ],
  'workspace-group': [
    [TASK, 'task'],
    ['registry', 'workspace-registry'],
    [GROUP, 'task-list'],
  ],
  'workspace-registry': [],
  'task-list': [
    [TASK, 'task'],
    ['registry', 'workspace-registry'],
  ],
  task: [
    ['logs', 'task-logs'],
    ['progress', 'task-progress'],
    ['findings', 'task-findings'],
  ],
  'task-logs': [],
  'task-progress': [],
  'task-findings': [],
} as const satisfies Record<FilePlace, readonly (readonly [NameRule, FilePlace])[]>;

/** A kind of directory, and a name in it. */
export type Location = readonly [FilePlace, NameRule];

/** Where an agent keeps what it writes for one task: in the task's directory, or without one in the project's. */
export const inTaskDirectories = (name: NameRule): readonly Location[] => [
  ['project', name],
  ['specs', name],
  ['spec-task', name],
];

/** A root is usually a project, but an agent's cwd or `--root` may be any of the inner directories. */
export const placeOfRoot = (root: string): FilePlace => {
  const name = lastPartOf(root);
  if (TASK.test(name)) return 'task';
  if (name === 'specs') return 'specs';
  if (name === '.agent-workspace') return 'workspace';
  if (name === 'workspaces') return 'task-list';
  return lastPartOf(directoryOf(root)) === 'specs' ? 'spec-task' : 'project';
};
