import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Lineage } from '../judge/rules/lineage.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Sample } from '../model/observation.ts';
import { errorSentence, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import {
  appendLineage,
  LINEAGE_DIRECTORY,
  LINEAGE_FILE,
  type LineageLine,
  type LineageMoment,
  lineageFiles,
  linesFrom,
  lineText,
  MOST_ENTRIES,
  parseLine,
  readLines,
} from './lineage-files.ts';
import { LineageReader, type Recalled } from './lineage-reader.ts';

/** Guard's side of lineage on disk: it reads what others left, writes what it sees, and is alone in doing so. */
export class LineageWriter {
  readonly #directory: string | null;
  readonly #reader: LineageReader;
  /** Identities that are on disk already. */
  readonly #written = new Set<IdentityKey>();
  #sessions: number | null = null;
  #last: Recalled = { entries: [], warnings: [] };

  constructor(directory: string | null) {
    this.#directory = directory;
    this.#reader = new LineageReader(directory);
  }

  /** All of it at first, and again only when a session has ended: reading back our own lines adds nothing. */
  recall(look: Sample): Recalled {
    const sessions = this.#sessionsChanged();
    if (sessions === this.#sessions) return { entries: [], warnings: this.#last.warnings };
    this.#sessions = sessions;
    this.#last = this.#reader.recall(look);
    for (const [key] of this.#last.entries) this.#written.add(key);
    return this.#last;
  }

  /** Writes down what was not seen before. */
  keep(
    lineage: Lineage,
    familyOf: (agent: IdentityKey) => string | null,
    moment: LineageMoment,
  ): string | null {
    if (this.#directory === null) return null;
    const entries = lineage.entries();
    for (const key of this.#written) if (!entries.has(key)) this.#written.delete(key);
    const fresh = [...entries].filter(([key]) => !this.#written.has(key));
    const warning = appendLineage(this.#directory, linesFrom(fresh, familyOf, moment));
    if (warning === null) for (const [key] of fresh) this.#written.add(key);
    return warning;
  }

  /** Ended sessions left something to be folded in. */
  sessionsEnded(): boolean {
    if (this.#directory === null || this.#sessions === 0) return false;
    try {
      return readdirSync(join(this.#directory, LINEAGE_DIRECTORY)).length > 0;
    } catch {
      return false; // gone since
    }
  }

  compact(moment: LineageMoment, isRunning: (key: IdentityKey) => boolean): Compacted {
    if (this.#directory === null) return { kept: 0, warning: null };
    const compacted = compactLineage(this.#directory, { ...moment, isRunning });
    if (compacted.warning === null) this.#sessions = this.#sessionsChanged();
    return compacted;
  }

  /** When something was last put into or taken out of `lineage.d`; 0 when there is none. */
  #sessionsChanged(): number {
    if (this.#directory === null) return 0;
    try {
      return statSync(join(this.#directory, LINEAGE_DIRECTORY)).mtimeMs;
    } catch {
      return 0;
    }
  }
}

/** How long the line of an ended identity is kept. */
const GONE_SECONDS = 24 * 3600;

export interface CompactionGround extends LineageMoment {
  readonly isRunning: (key: IdentityKey) => boolean;
}

/**
 * What is worth keeping: of this boot, one line per identity (the first, as written), running or ended less than a
 * day ago. What has ended stays longer while something that runs descends from it: it is a link of the chain.
 */
export const worthKeeping = (
  lines: readonly LineageLine[],
  { boot, clock, isRunning }: CompactionGround,
): LineageLine[] => {
  const byKey = new Map<IdentityKey, LineageLine>();
  for (const line of lines) {
    const key = keyOf(line);
    if (line.boot !== boot || byKey.has(key)) continue;
    byKey.set(key, { ...line, gone: isRunning(key) ? null : (line.gone ?? clock) });
  }
  const needed = new Set<IdentityKey>();
  for (const [key, { gone }] of byKey) {
    if (gone !== null) continue;
    for (let up: IdentityKey | null = key; up !== null && !needed.has(up); up = parentOf(byKey.get(up)))
      needed.add(up);
  }
  const young = [...byKey].filter(
    ([key, { gone }]) => needed.has(key) || (gone !== null && clock - gone < GONE_SECONDS),
  );
  if (young.length <= MOST_ENTRIES) return young.map(([, line]) => line);
  // Too many: who runs is kept first, then who was there last.
  const chosen = new Set(
    [...young]
      .sort(([a, one], [b, other]) => Number(needed.has(b)) - Number(needed.has(a)) || other.seen - one.seen)
      .slice(0, MOST_ENTRIES)
      .map(([key]) => key),
  );
  return young.filter(([key]) => chosen.has(key)).map(([, line]) => line);
};

const parentOf = (line: LineageLine | undefined): IdentityKey | null =>
  line === undefined || line.parent === null ? null : keyOf(line.parent);

export interface Compacted {
  readonly kept: number;
  readonly warning: string | null;
}

/**
 * Folds the files of ended sessions into `lineage.jsonl` and drops what is no longer worth keeping. For guard, which
 * is alone in writing that file. A file that may not be believed stays where it is; so does everything when the disk
 * is full.
 */
export const compactLineage = (directory: string, ground: CompactionGround): Compacted => {
  const lines: LineageLine[] = [];
  const folded: string[] = [];
  try {
    makeStateDirectory(directory);
    for (const file of lineageFiles(directory).files) {
      const read = readLines(file);
      if ('refused' in read) continue;
      lines.push(...read.lines.map(parseLine).filter(line => line !== null));
      if (file.session) folded.push(file.path);
    }
    const kept = worthKeeping(lines, ground);
    replaceOwn(join(directory, LINEAGE_FILE), kept.map(lineText).join(''), { durable: true });
    for (const path of folded) rmSync(path, { force: true });
    return { kept: kept.length, warning: null };
  } catch (error) {
    return { kept: 0, warning: `lineage could not be compacted: ${errorSentence(error)}` };
  }
};
