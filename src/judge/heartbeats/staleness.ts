import { formatOf } from '../../agents/files/formats.ts';
import { type FileFinding, fileThreshold } from '../../model/config.ts';
import type { HeartbeatState } from '../../model/heartbeat.ts';
import { directoryOf } from '../../model/path.ts';
import { formatAge, plural } from '../../model/units.ts';
import { type JoinedReading, lastSign } from './join.ts';
import { agentOfFile, type FileContext, type Life, lifeOf } from './signs-of-life.ts';

export interface FileState {
  readonly state: HeartbeatState;
  /** null when fine and there is nothing to add. */
  readonly reason: string | null;
}

type Judge = (file: JoinedReading, context: FileContext) => FileState;

const FINE: FileState = { state: 'fine', reason: null };

const byAge = (age: number | null, warn: number, critical: number, what: string): FileState => {
  if (age === null) return { state: 'unreadable', reason: 'its times lie in the future' };
  if (age < warn) return FINE;
  const state = age < critical ? 'warn' : 'critical';
  return { state, reason: `${what} for ${formatAge(age)}` };
};

/** An agent whose stream log grows is at work, whether or not it finds time to report. */
const isVouchedFor = (file: JoinedReading, context: FileContext, seconds: number): boolean => {
  const { silenceExcusedBy } = formatOf(file.reading);
  if (silenceExcusedBy === null) return false;
  const other = agentOfFile(file, context)?.files.find(({ reading }) => reading.format === silenceExcusedBy);
  return other?.ageSeconds != null && other.ageSeconds < seconds;
};

const beat: Judge = (file, context) => {
  const { config } = context;
  if (isContradicted(file))
    return { state: 'fine', reason: 'it says ended, but an agent that lives may use it' };
  const defaults = fileThreshold(config, 'heartbeat-stale', file.reading.root);
  if (isVouchedFor(file, context, defaults.warnSeconds)) return FINE;
  const source = config.heartbeats.find(({ name }) => name === file.reading.source);
  const warn = source?.warnSeconds ?? defaults.warnSeconds;
  const critical = source?.criticalSeconds ?? Math.max(defaults.criticalSeconds, warn);
  return byAge(file.ageSeconds, warn, critical, 'no heartbeat');
};

/** The signs of life of the agents a file may speak of; `still` only when there is none that might move. */
export const lifeAround = (file: JoinedReading, context: FileContext, seconds: number): Life | 'nobody' => {
  const lives = file.candidates.map(agent => lifeOf(context.vitals(agent), seconds));
  if (lives.length === 0) return 'nobody';
  if (lives.includes('moving')) return 'moving';
  return lives.includes('unknown') ? 'unknown' : 'still';
};

const marker: Judge = (file, context) => {
  const { warnSeconds, criticalSeconds, stillSeconds } = fileThreshold(
    context.config,
    'marker-age',
    file.reading.root,
  );
  const aged = byAge(
    file.ageSeconds,
    warnSeconds,
    criticalSeconds,
    'the work after the subagent has been pending',
  );
  if (aged.state !== 'warn' && aged.state !== 'critical') return aged;
  const life = lifeAround(file, context, stillSeconds);
  // The marker of a healthy run is as old as the run.
  if (life === 'moving' || life === 'unknown') return { state: 'fine', reason: aged.reason };
  const who =
    life === 'nobody' ? 'no agent is running' : `its agent has been still for ${formatAge(stillSeconds)}`;
  return { state: aged.state, reason: `${aged.reason}, and ${who}` };
};

const loopGuard: Judge = ({ reading }, { config }) => {
  const count = reading.counters.count ?? 0;
  const limit = reading.counters.max ?? fileThreshold(config, 'loop-guard', reading.root).count;
  if (count < limit) return FINE;
  return { state: 'critical', reason: `continued ${plural(count, 'time')}, the limit is ${limit}` };
};

const lock: Judge = ({ ageSeconds, reading }, { config }) => {
  // It cannot have been made then; it would be held until that time comes.
  if (ageSeconds === null) return { state: 'warn', reason: 'dated in the future, so it is stale' };
  return ageSeconds >= fileThreshold(config, 'lock-stale', reading.root).seconds
    ? { state: 'warn', reason: `held for ${formatAge(ageSeconds)} and never released` }
    : FINE;
};

/** How a file is judged by the finding whose thresholds it goes by. */
const JUDGES = {
  'heartbeat-stale': beat,
  'heartbeat-missing': beat,
  'marker-age': marker,
  'loop-guard': loopGuard,
  'lock-stale': lock,
} satisfies Record<FileFinding, Judge>;

export const stateOf: Judge = (file, context) => {
  const { reading } = file;
  const leftover = leftoverBecause(file, context);
  if (leftover !== null) return { state: 'leftover', reason: leftover };
  const { thresholds } = formatOf(reading);
  const judged = thresholds === null ? FINE : JUDGES[thresholds](file, context);
  if (reading.unreadable === null) return judged;
  const why = `unreadable: ${reading.unreadable}`;
  return judged.state === 'fine' || judged.state === 'unreadable'
    ? { state: 'unreadable', reason: why }
    : { state: judged.state, reason: `${judged.reason}; ${why}` };
};

/** A final status is about an older run when the file was written well after it. */
const SAME_RUN_MS = 60_000;

/** A return file or the project's state says that the task of this file is over. */
const taskIsOver = (file: JoinedReading, context: FileContext): string | null => {
  const { reading } = file;
  // A marker or a guard, on the other hand, is most wanted right after the agent returned.
  if (!formatOf(reading).leftOverWhen.includes('task-finished')) return null;
  const sign = lastSign(reading, context.now) ?? 0;
  const own = directoryOf(reading.path);
  for (const { reading: other } of context.index.inDirectory(own))
    if (other.format === 'return-meta' && other.terminal && other.mtime + SAME_RUN_MS >= sign)
      return `its task returned: ${other.status}`;
  for (const { reading: other } of context.index.ofFormat('project-state')) {
    if (!reading.path.startsWith(`${directoryOf(other.path)}/`)) continue;
    const task = other.members.find(member => member.id === reading.task);
    if (task?.terminal === true && (task.updatedAt ?? other.mtime) + SAME_RUN_MS >= sign)
      return `its task is ${task.status}`;
  }
  return null;
};

/** Its agent is finished, its task is over, or it has been silent for long. */
const abandonedBecause = (file: JoinedReading, context: FileContext): string | null => {
  const orchestrated = agentOfFile(file, context);
  if (orchestrated?.finished != null) return orchestrated.finished;
  const over = taskIsOver(file, context);
  if (over !== null) return over;
  const limit = fileThreshold(context.config, 'heartbeat-stale', file.reading.root).leftoverSeconds;
  const age = orchestrated === null ? file.ageSeconds : orchestrated.quietSeconds;
  const abandoned =
    file.candidates.length === 0 &&
    (orchestrated === null ||
      (orchestrated.panes.length === 0 &&
        orchestrated.processes.length === 0 &&
        !orchestrated.sessionUnknown));
  if (!abandoned || age === null || age < limit) return null;
  return `no agent belongs to it, and nothing was written for ${formatAge(age)}`;
};

/** Any session may have written `ended`: an agent that lives, and could have written the file, is asked first. */
const isContradicted = ({ reading, candidates }: JoinedReading): boolean =>
  reading.status === 'ended' && candidates.length > 0;

/** Why a file is left over from finished or vanished work; null: it may still matter. */
const leftoverBecause = (file: JoinedReading, context: FileContext): string | null => {
  const { reading } = file;
  const { leftOverWhen } = formatOf(reading);
  if (leftOverWhen.length === 0) return null;
  const why = abandonedBecause(file, context);
  if (why !== null) return why;
  return leftOverWhen.includes('text-says-finished') && reading.terminal && !isContradicted(file)
    ? `it says ${reading.status ?? reading.operation}`
    : null;
};
