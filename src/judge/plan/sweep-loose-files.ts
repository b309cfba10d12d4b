import { formatOf } from '../../agents/files/formats.ts';
import { type FileFinding, fileThreshold } from '../../model/config.ts';
import { formatAge } from '../../model/format.ts';
import type { JudgedFile } from '../heartbeats/index.ts';
import type { ArchivedFile, SweepRequest } from './sweep-facts.ts';
import { fileAct } from './sweep-file-act.ts';
import type { FileAct } from './sweep-plan.ts';

const DAY_SECONDS = 86_400;

type Useless = (file: JudgedFile, age: number, isOld: boolean) => string | null;

/** What is of no use to anybody when no agent is there, by the finding that speaks of it. */
const USELESS = {
  'heartbeat-stale': () => null,
  'heartbeat-missing': () => null,
  'lock-stale': ({ state, reason }) => (state === 'warn' ? reason : null),
  'marker-age': ({ reason }, age, isOld) =>
    isOld ? (reason ?? `no agent is there, and it is ${formatAge(age)} old`) : null,
  // A hook writes the guard again at every stop; one that rested as long as a dead marker is dead too.
  'loop-guard': (_file, age, isOld) =>
    isOld ? `no agent is there, and nothing counted on it for ${formatAge(age)}` : null,
} satisfies Record<FileFinding, Useless>;

/** Why a file that belongs to no orchestrated agent is of no use to anybody any more; null: it may be. */
const whyUseless = (file: JudgedFile, { files }: SweepRequest): string | null => {
  const { reading, state, reason, candidates, ageSeconds } = file;
  if (state === 'leftover') return reason;
  const { limits } = formatOf(reading);
  // A lock, marker or guard of an agent that lives is that agent's business, however stale it looks.
  if (candidates.length > 0 || limits === null) return null;
  if (limits === 'lock-stale') return USELESS[limits](file);
  if (ageSeconds === null) return null;
  const old = ageSeconds >= fileThreshold(files.config, 'marker-age', reading.root).criticalSeconds;
  return USELESS[limits](file, ageSeconds, old);
};

const expire = ({ path, root, archivedAt, seen }: ArchivedFile, request: SweepRequest): FileAct[] => {
  const age = (request.files.now - archivedAt) / 1000;
  if (age < request.retentionDays * DAY_SECONDS) return [];
  const why = `archived ${formatAge(age)} ago, to be kept for ${request.retentionDays} days`;
  return [{ act: 'expire', path, to: null, toWithin: null, root, bytes: seen.size, why, agent: null, seen }];
};

/** Leftovers of single tasks, and archives that were kept long enough. */
export const planLooseFiles = (request: SweepRequest): FileAct[] => {
  const { files, facts } = request;
  const loose = files.joined.flatMap((file): FileAct[] => {
    const { reading } = file;
    if (reading.agentId !== null || facts.growing.has(reading.path)) return [];
    const why = whyUseless(file, request);
    const act = why === null ? null : fileAct(reading, facts, { why, agent: null });
    return act === null ? [] : [act];
  });
  return [...loose, ...facts.archives.flatMap(archived => expire(archived, request))];
};
