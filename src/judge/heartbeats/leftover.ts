import { formatOf } from '../../agents/files/formats.ts';
import { fileThreshold } from '../../model/config.ts';
import { formatAge } from '../../model/format.ts';
import { directoryOf } from '../../model/path.ts';
import { lastSign } from './age.ts';
import { agentOfFile, type FileContext } from './context.ts';
import type { JoinedReading } from './join.ts';

/** A final status is about an older run when the file was written well after it. */
const SAME_RUN_MS = 60_000;

/** A return file or the project's state says that the task of this file is over. */
const taskIsOver = (file: JoinedReading, context: FileContext): string | null => {
  const { reading } = file;
  // A marker or a guard, on the other hand, is most wanted right after the agent returned.
  if (!formatOf(reading).leftOver.includes('task-over')) return null;
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

/** Its agent is finished, its task is over, or nobody has spoken for it for long. */
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
export const isContradicted = ({ reading, candidates }: JoinedReading): boolean =>
  reading.status === 'ended' && candidates.length > 0;

/** Why a file is left over from finished or vanished work; null: it may still matter. */
export const leftoverBecause = (file: JoinedReading, context: FileContext): string | null => {
  const { reading } = file;
  const { leftOver } = formatOf(reading);
  if (leftOver.length === 0) return null;
  const why = abandonedBecause(file, context);
  if (why !== null) return why;
  return leftOver.includes('says-so') && reading.terminal && !isContradicted(file)
    ? `it says ${reading.status ?? reading.operation}`
    : null;
};
