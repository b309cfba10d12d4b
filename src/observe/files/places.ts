import { basename, dirname } from 'node:path';
import { type FileFormat, FORMATS } from './formats.ts';

/** The kinds of directory that can hold a known file, and what each can hold. */
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

export interface PlaceRules {
  readonly directories: readonly (readonly [string | RegExp, Place])[];
  readonly files: readonly (readonly [string | RegExp, FileFormat])[];
}

const TASK = /^TASK-/;
/** Not hidden, and not where finished work or foreign code is kept. */
const GROUP = /^(?!\.|archive$|registry$|node_modules$|TASK-)/;

const OF_ONE_TASK: PlaceRules['files'] = [
  ['.agent-progress.json', FORMATS['agent-progress']],
  ['.postflight-pending', FORMATS['postflight-marker']],
  ['.postflight-loop-guard', FORMATS['loop-guard']],
  ['.continuation-loop-guard', FORMATS['loop-guard']],
  ['.orchestrator-loop-guard', FORMATS['loop-guard']],
  ['.diagnostic-lock', FORMATS['diagnostic-lock']],
  ['.return-meta.json', FORMATS['return-meta']],
];

export const PLACES = {
  // Names only, no patterns: a project's own directory may hold 20,000 files and is never listed.
  project: {
    directories: [
      ['specs', 'specs'],
      ['.claude', 'claude'],
      ['.agent-workspace', 'workspace'],
      ['workspaces', 'task-list'],
    ],
    files: OF_ONE_TASK,
  },
  specs: {
    directories: [[/^(?!\.|archive$|tmp$)/, 'spec-task']],
    files: [['state.json', FORMATS['project-state']], ...OF_ONE_TASK],
  },
  'spec-task': {
    directories: [['progress', 'spec-progress']],
    files: [...OF_ONE_TASK, [/^\.return-meta-[\w-]+\.json$/, FORMATS['return-meta']]],
  },
  'spec-progress': { directories: [], files: [[/^phase-.+-progress\.json$/, FORMATS['phase-progress']]] },
  claude: { directories: [['tmp', 'claude-tmp']], files: [] },
  'claude-tmp': { directories: [], files: [['workflow-active', FORMATS.workflow]] },
  workspace: {
    directories: [
      [TASK, 'task'],
      ['registry', 'workspace-registry'],
      [GROUP, 'workspace-group'],
    ],
    files: [],
  },
  'workspace-group': {
    directories: [
      [TASK, 'task'],
      ['registry', 'workspace-registry'],
      [GROUP, 'task-list'],
    ],
    files: [],
  },
  'task-list': {
    directories: [
      [TASK, 'task'],
      ['registry', 'workspace-registry'],
    ],
    files: [],
  },
  'workspace-registry': {
    directories: [],
    files: [['state.sqlite3', FORMATS['orchestrator-database']]],
  },
  task: {
    directories: [
      ['logs', 'task-logs'],
      ['progress', 'task-progress'],
      ['findings', 'task-findings'],
    ],
    files: [
      ['AGENT_REGISTRY.json', FORMATS.registry],
      [/^agent_prompt_.+\.txt$/, FORMATS.prompt],
      ['.agent-progress.json', FORMATS['agent-progress']],
    ],
  },
  'task-logs': {
    directories: [],
    files: [
      [/^.+_stream\.jsonl$/, FORMATS['stream-log']],
      [/^deploy_.+\.json$/, FORMATS['deploy-log']],
    ],
  },
  'task-progress': { directories: [], files: [[/^.+_progress\.jsonl$/, FORMATS['progress-log']]] },
  'task-findings': { directories: [], files: [[/^.+_findings\.jsonl$/, FORMATS['findings-log']]] },
} as const satisfies Record<Place, PlaceRules>;

/** A root is usually a project, but an agent's cwd or `--root` may be any of the inner directories. */
export const placeOfRoot = (root: string): Place => {
  const name = basename(root);
  if (TASK.test(name)) return 'task';
  if (name === 'specs') return 'specs';
  if (name === '.agent-workspace') return 'workspace';
  if (name === 'workspaces') return 'task-list';
  return basename(dirname(root)) === 'specs' ? 'spec-task' : 'project';
};

const fits = (rule: string | RegExp, name: string): boolean =>
  typeof rule === 'string' ? rule === name : rule.test(name);

export const placeBelow = (place: Place, name: string): Place | null =>
  (PLACES[place] as PlaceRules).directories.find(([rule]) => fits(rule, name))?.[1] ?? null;

export const formatIn = (place: Place, name: string): FileFormat | null =>
  (PLACES[place] as PlaceRules).files.find(([rule]) => fits(rule, name))?.[1] ?? null;

/** All names a place can hold, when every rule is a plain name; null: it must be listed. */
export const fixedNames = (place: Place): readonly string[] | null => {
  const rules = [...PLACES[place].directories, ...PLACES[place].files].map(
    ([rule]) => rule as string | RegExp,
  );
  return rules.every(rule => typeof rule === 'string') ? (rules as string[]) : null;
};
