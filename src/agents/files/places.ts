import { directoryOf, lastPartOf } from '../../model/path.ts';

/** The kinds of directory that can hold a known file. */
export type Place =
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
} as const satisfies Record<Place, readonly (readonly [NameRule, Place])[]>;

/** Where an agent keeps what it writes for one task: in the task's directory, or for want of one in the project's. */
export const inTaskDirectories = (name: NameRule): readonly (readonly [Place, NameRule])[] => [
  ['project', name],
  ['specs', name],
  ['spec-task', name],
];

/** A root is usually a project, but an agent's cwd or `--root` may be any of the inner directories. */
export const placeOfRoot = (root: string): Place => {
  const name = lastPartOf(root);
  if (TASK.test(name)) return 'task';
  if (name === 'specs') return 'specs';
  if (name === '.agent-workspace') return 'workspace';
  if (name === 'workspaces') return 'task-list';
  return lastPartOf(directoryOf(root)) === 'specs' ? 'spec-task' : 'project';
};
