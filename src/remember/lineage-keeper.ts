import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Lineage } from '../judge/rules/lineage.ts';
import type { IdentityKey } from '../model/identity.ts';
import type { Look } from '../model/observation.ts';
import { type Compacted, compactLineage } from './lineage-compaction.ts';
import { LINEAGE_DIRECTORY } from './lineage-files.ts';
import { linesFrom, type Moment } from './lineage-line.ts';
import { LineageReader, type Recalled } from './lineage-reader.ts';
import { appendLineage } from './lineage-writer.ts';

/** Guard's side of lineage on disk: it reads what others left, writes what it sees, and is alone in doing so. */
export class LineageKeeper {
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

  /** All of it at first, and again only when a session has ended: reading back what we wrote ourselves tells nothing. */
  recall(look: Look): Recalled {
    const sessions = this.#sessionsChanged();
    if (sessions === this.#sessions) return { entries: [], warnings: this.#last.warnings };
    this.#sessions = sessions;
    this.#last = this.#reader.recall(look);
    for (const [key] of this.#last.entries) this.#written.add(key);
    return this.#last;
  }

  /** Writes down whom nobody had seen before. */
  keep(lineage: Lineage, familyOf: (agent: IdentityKey) => string | null, moment: Moment): string | null {
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

  compact(moment: Moment, isRunning: (key: IdentityKey) => boolean): Compacted {
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
