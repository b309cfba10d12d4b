import type { ReadingFormat } from '../../model/heartbeat.ts';
import {
  type FileFormat,
  type FileReader,
  type HowRead,
  inTaskDirectories,
  understood,
} from './format-type.ts';
import {
  agentNamedBy,
  FINDINGS_NAME,
  orchestratedTask,
  PROGRESS_NAME,
  readAgentRegistry,
  readFindingsLog,
  readProgressLog,
  readProjectState,
  readStreamLog,
  readWorkflow,
  STREAM_NAME,
} from './orchestrator-files.ts';
import {
  readAgentProgress,
  readDiagnosticLock,
  readLoopGuard,
  readPhaseProgress,
  readPostflightMarker,
  readReturnMeta,
} from './task-files.ts';

/** A file that exists where work was done, and says nothing of whether it goes on. */
const DEFAULTS: FileFormat = {
  reader: null,
  locations: [],
  belongsTo: 'project',
  projectFrom: 'path',
  ageFrom: 'last-update',
  signOfLife: null,
  thresholds: null,
  silenceExcusedBy: null,
  inHeartbeatsPanel: false,
  activityRank: null,
  leftOverWhen: [],
  sweepAction: null,
  evidenceFor: null,
};

const PROMPT = /^agent_prompt_(.+)\.txt$/;
const DEPLOY_LOG = /^deploy_(.+)\.json$/;

const head = (read: FileReader): HowRead => ({ part: 'head', read });
const tail = (read: FileReader): HowRead => ({ part: 'tail', read });
/** That they exist is all we need; what is in them is the user's business. */
const unread = (name: RegExp | null): HowRead => ({
  part: 'none',
  read: ({ path }) =>
    understood({ task: orchestratedTask(path), agentId: name === null ? null : agentNamedBy(name, path) }),
});

/** Every file format we know: where it is found, how it is read, and what differs from the defaults. */
const TABLE = {
  'agent-progress': {
    reader: head(readAgentProgress),
    locations: [...inTaskDirectories('.agent-progress.json'), ['task', '.agent-progress.json']],
    belongsTo: 'task-of-directory',
    signOfLife: 'task',
    thresholds: 'heartbeat-stale',
    inHeartbeatsPanel: true,
    activityRank: 1,
    leftOverWhen: ['agent-gone', 'text-says-finished', 'task-finished'],
    sweepAction: 'archive',
  },
  'postflight-marker': {
    reader: head(readPostflightMarker),
    locations: inTaskDirectories('.postflight-pending'),
    belongsTo: 'task-of-directory',
    ageFrom: 'creation',
    thresholds: 'marker-age',
    inHeartbeatsPanel: true,
    activityRank: 5,
    sweepAction: 'remove',
  },
  'loop-guard': {
    reader: head(readLoopGuard),
    locations: ['.postflight-loop-guard', '.continuation-loop-guard', '.orchestrator-loop-guard'].flatMap(
      inTaskDirectories,
    ),
    belongsTo: 'task-of-directory',
    thresholds: 'loop-guard',
    inHeartbeatsPanel: true,
    sweepAction: 'remove',
  },
  'diagnostic-lock': {
    reader: { part: 'none', read: readDiagnosticLock },
    locations: inTaskDirectories('.diagnostic-lock'),
    belongsTo: 'task-of-directory',
    thresholds: 'lock-stale',
    inHeartbeatsPanel: true,
    sweepAction: 'remove',
  },
  'return-meta': {
    reader: head(readReturnMeta),
    locations: [...inTaskDirectories('.return-meta.json'), ['spec-task', /^\.return-meta-[\w-]+\.json$/]],
    belongsTo: 'task-of-directory',
    inHeartbeatsPanel: true,
  },
  'phase-progress': {
    reader: head(readPhaseProgress),
    locations: [['spec-progress', /^phase-.+-progress\.json$/]],
    belongsTo: 'task-of-parent-directory',
    signOfLife: 'task',
    inHeartbeatsPanel: true,
    activityRank: 3,
  },
  'project-state': {
    reader: head(readProjectState),
    locations: [['specs', 'state.json']],
  },
  workflow: {
    reader: head(readWorkflow),
    locations: [['claude-tmp', 'workflow-active']],
    ageFrom: 'creation',
    inHeartbeatsPanel: true,
    leftOverWhen: ['agent-gone'],
    sweepAction: 'remove',
  },
  registry: {
    reader: head(readAgentRegistry),
    locations: [['task', 'AGENT_REGISTRY.json']],
    projectFrom: 'content',
    inHeartbeatsPanel: true,
    evidenceFor: 'task',
  },
  // What it says is shown by the registries of its tasks.
  'orchestrator-database': {
    reader: unread(null),
    locations: [['workspace-registry', 'state.sqlite3']],
    evidenceFor: 'task',
  },
  'progress-log': {
    reader: tail(readProgressLog),
    locations: [['task-progress', PROGRESS_NAME]],
    belongsTo: 'agent-in-name',
    signOfLife: 'agent',
    thresholds: 'heartbeat-stale',
    silenceExcusedBy: 'stream-log',
    inHeartbeatsPanel: true,
    activityRank: 2,
    leftOverWhen: ['agent-gone'],
    sweepAction: 'archive',
    evidenceFor: 'agent',
  },
  'findings-log': {
    reader: tail(readFindingsLog),
    locations: [['task-findings', FINDINGS_NAME]],
    belongsTo: 'agent-in-name',
    leftOverWhen: ['agent-gone'],
    sweepAction: 'archive',
  },
  'stream-log': {
    reader: tail(readStreamLog),
    locations: [['task-logs', STREAM_NAME]],
    belongsTo: 'agent-in-name',
    signOfLife: 'agent',
    inHeartbeatsPanel: true,
    activityRank: 4,
    leftOverWhen: ['agent-gone'],
    sweepAction: 'archive',
    evidenceFor: 'agent',
  },
  prompt: {
    reader: unread(PROMPT),
    locations: [['task', PROMPT]],
    belongsTo: 'agent-in-name',
    leftOverWhen: ['agent-gone'],
    sweepAction: 'delete',
  },
  'deploy-log': {
    reader: unread(DEPLOY_LOG),
    locations: [['task-logs', DEPLOY_LOG]],
    belongsTo: 'agent-in-name',
    leftOverWhen: ['agent-gone'],
    sweepAction: 'archive',
  },
  // An agent's own log of a session, in the agent's directory.
  transcript: { signOfLife: 'session', inHeartbeatsPanel: true },
  // A source that the config describes.
  user: {
    projectFrom: 'root',
    signOfLife: 'task',
    thresholds: 'heartbeat-stale',
    inHeartbeatsPanel: true,
    leftOverWhen: ['agent-gone', 'text-says-finished'],
  },
} as const satisfies Record<ReadingFormat, Partial<FileFormat>>;

export const FORMATS = Object.fromEntries(
  Object.entries(TABLE).map(([name, format]) => [name, { ...DEFAULTS, ...format }]),
) as Readonly<Record<ReadingFormat, FileFormat>>;

/** The record of the file that a reading is of. */
export const formatOf = ({ format }: { readonly format: ReadingFormat }): FileFormat => FORMATS[format];
