import { formatAge } from '../../model/format.ts';
import type { JudgedFile } from '../heartbeats/index.ts';
import type { SweepRequest } from './sweep-facts.ts';
import { SWEPT_FORMATS } from './sweep-formats.ts';
import type { FileAct } from './sweep-plan.ts';

const DAY_SECONDS = 86_400;

/** Why a file that belongs to no orchestrated agent is of no use to anybody any more; null: it may be. */
const whyUseless = (file: JudgedFile, { files }: SweepRequest): string | null => {
  const { reading, state, reason, candidates, ageSeconds } = file;
  if (state === 'leftover') return reason;
  // A lock, marker or guard of an agent that lives is that agent's business, however stale it looks.
  if (candidates.length > 0 || ageSeconds === null) return null;
  const { thresholds } = files.config;
  if (reading.format === 'diagnostic-lock' && state === 'warn') return reason;
  if (reading.format === 'postflight-marker' && ageSeconds >= thresholds['marker-age'].criticalSeconds)
    return reason ?? `no agent is there, and it is ${formatAge(ageSeconds)} old`;
  // A hook writes the guard again at every stop; one that rested as long as a dead marker is dead too.
  if (reading.format === 'loop-guard' && ageSeconds >= thresholds['marker-age'].criticalSeconds)
    return `no agent is there, and nothing counted on it for ${formatAge(ageSeconds)}`;
  return null;
};

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** Leftovers of single tasks, and archives that were kept long enough. */
export const planLooseFiles = (request: SweepRequest): FileAct[] => {
  const { files, facts, retentionDays } = request;
  const loose = files.joined.flatMap((file): FileAct[] => {
    const { reading } = file;
    const act = SWEPT_FORMATS.get(reading.format);
    if (act === undefined || reading.agentId !== null || facts.growing.has(reading.path)) return [];
    const why = whyUseless(file, request);
    if (why === null) return [];
    return [
      {
        act,
        path: reading.path,
        to: act === 'archive' ? `${directoryOf(reading.path)}/archive` : null,
        root: reading.root,
        bytes: reading.size,
        why,
        agent: null,
        seen: { mtimeMs: reading.mtime, size: reading.size },
      },
    ];
  });
  const expired = facts.archives.flatMap(({ path, root, mtimeMs, size }): FileAct[] => {
    const age = (files.now - mtimeMs) / 1000;
    if (age < retentionDays * DAY_SECONDS) return [];
    const why = `archived, and ${formatAge(age)} old: it was to be kept for ${retentionDays} days`;
    return [{ act: 'expire', path, to: null, root, bytes: size, why, agent: null, seen: { mtimeMs, size } }];
  });
  return [...loose, ...expired];
};
