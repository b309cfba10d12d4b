import { lineFactsOf } from '../judge/line-facts.ts';
import type { Lineage } from '../judge/rules/lineage.ts';
import type { RememberedSession } from '../model/asleep.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Sample } from '../model/observation.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';
import { noteSessions } from '../remember/asleep.ts';
import { type GuardReport, latestOf, writeLatest } from '../remember/latest.ts';
import type { Recalled } from '../remember/lineage-reader.ts';
import { LineageWriter } from '../remember/lineage-writer.ts';
import { Recorder } from '../remember/recorder/recorder.ts';
import { MarkFinder } from '../remember/recorder/timeline-marks.ts';

const COMPACT_SECONDS = 3600;
/** What ended sessions left is believed where it lies; folding it in need not be at once. */
const FOLD_SECONDS = 60;

/** Everything guard writes down: lineage, the flight recorder, its last sample. */
export class Memory {
  readonly #system: System;
  readonly #directory: string | null;
  readonly #lineage: LineageWriter;
  readonly #recorder: Recorder | null;
  readonly #marks = new MarkFinder();
  readonly #oomKills: () => number | null;
  #compactedAt = Number.NEGATIVE_INFINITY;
  #oomCount: number | null = null;
  #lost: readonly RememberedSession[] = [];

  constructor(system: System, directory: string | null, oomKills: () => number | null = () => null) {
    this.#system = system;
    this.#directory = directory;
    this.#lineage = new LineageWriter(directory);
    this.#recorder = directory === null ? null : new Recorder({ directory });
    this.#oomKills = oomKills;
  }

  /** For the collector: what others know of processes that we have not seen below their agent. */
  recall(look: Sample): Recalled {
    return this.#lineage.recall(look);
  }

  /** After every look; what could not be written comes back in sentences. */
  async keep(snapshot: Snapshot, lineage: Lineage): Promise<readonly string[]> {
    const oomKills = this.#oomKills();
    const marks = this.#marks.next(snapshot, oomKills);
    const warnings = [
      await this.#keepLineage(snapshot, lineage),
      (await this.#recorder?.record(snapshot, marks)) ?? null,
      this.#keepSessions(snapshot, oomKills),
    ];
    return warnings.filter(warning => warning !== null);
  }

  /** Those that the last sample found lost. */
  lostSessions(): readonly RememberedSession[] {
    return this.#lost;
  }

  #keepSessions(snapshot: Snapshot, oomKills: number | null): string | null {
    const before = this.#oomCount;
    this.#oomCount = oomKills;
    if (this.#directory === null) return null;
    const oomKilled = before !== null && oomKills !== null && oomKills > before;
    const { lost, warning } = noteSessions(this.#directory, snapshot, oomKilled);
    this.#lost = lost;
    return warning;
  }

  async publish(snapshot: Snapshot, report: Omit<GuardReport, 'writer'>): Promise<string | null> {
    const now = await this.#system.presence(process.pid);
    if (this.#directory === null || now.status !== 'present') return null;
    return writeLatest(
      this.#directory,
      latestOf(snapshot, lineFactsOf(snapshot), { writer: now.identity, ...report }),
    );
  }

  async #keepLineage({ host, clock, processes }: Snapshot, lineage: Lineage): Promise<string | null> {
    const boot = host.bootId;
    // Where a boot has no id, what was written could not be trusted.
    if (boot === null) return null;
    const families = new Map<IdentityKey, string | null>(processes.map(p => [keyOf(p.facts), p.agent]));
    const warning = this.#lineage.keep(lineage, agent => families.get(agent) ?? null, { boot, clock });
    const due = clock - this.#compactedAt;
    if (due < FOLD_SECONDS || (due < COMPACT_SECONDS && !this.#lineage.sessionsEnded())) return warning;
    this.#compactedAt = clock;
    const look = await this.#system.sample();
    const running = new Set(look.processes.map(keyOf));
    return this.#lineage.compact({ boot, clock }, key => running.has(key)).warning ?? warning;
  }
}
