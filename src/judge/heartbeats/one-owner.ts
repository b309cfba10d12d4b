import { formatOf } from '../../agents/files/formats.ts';
import { gather } from '../../model/gather.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { directoryOf } from '../../model/path.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { type JoinedReading, youngest } from './join.ts';

/** From the surest way of knowing to the least sure. */
const WAYS = ['pid', 'session', 'environ', 'tmux', 'path'] as const;

/** The task that a file is kept for, by its directory; null: it is kept for no single task. */
const taskDirectoryOf = (reading: Reading): string | null => {
  const { joins } = formatOf(reading);
  if (joins === 'task-here') return directoryOf(reading.path);
  return joins === 'task-above' ? directoryOf(directoryOf(reading.path)) : null;
};

/** Files with a directory or a session id in common, directly or through one another. */
const families = (files: readonly JoinedReading[]): JoinedReading[][] => {
  const parents = new Map<string, string>();
  const top = (key: string): string => {
    let at = key;
    for (let up = parents.get(at); up !== undefined && up !== at; up = parents.get(at)) {
      parents.set(at, parents.get(up) ?? up);
      at = up;
    }
    return at;
  };
  const homeOf = ({ reading }: JoinedReading): string => `in ${taskDirectoryOf(reading)}`;
  for (const file of files)
    if (file.reading.sessionId !== null) parents.set(top(homeOf(file)), top(`of ${file.reading.sessionId}`));
  const found = new Map<string, JoinedReading[]>();
  for (const file of files) gather(found, top(homeOf(file)), file);
  return [...found.values()];
};

/** The agents that the surest of these files speak of. */
const ownersOf = (files: readonly JoinedReading[]): Pick<JoinedReading, 'how' | 'agent' | 'candidates'> => {
  const how = WAYS.find(way => files.some(file => file.how === way)) ?? null;
  const known = new Set<JudgedProcess>(
    files.filter(file => how !== null && file.how === how).flatMap(file => file.candidates),
  );
  const candidates = [...known];
  return { how, candidates, agent: youngest(candidates) };
};

/**
 * Progress file, marker, lock and guard of one task directory, or of one session id, have one owner: a
 * lock is empty and a guard is a bare number, but the progress file beside them may say whose they are.
 */
export const withOneOwner = (joined: readonly JoinedReading[]): readonly JoinedReading[] => {
  const owners = new Map<JoinedReading, JoinedReading>();
  for (const family of families(joined.filter(file => taskDirectoryOf(file.reading) !== null))) {
    if (family.length < 2) continue;
    const shared = ownersOf(family);
    if (shared.how !== null) for (const file of family) owners.set(file, { ...file, ...shared });
  }
  return owners.size === 0 ? joined : joined.map(file => owners.get(file) ?? file);
};
