import type { Clock } from '../act/clock.ts';
import type { Collector } from '../collect/collector.ts';
import type { Config } from '../model/config.ts';
import type { Outcome } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';
import type { AuditedAct } from './audit-follower.ts';
import type { Held } from './held-file.ts';
import type { Memory } from './memory.ts';

export interface GuardOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly intervalSeconds: number;
  readonly graceMs: number;
  /** The state directory; null when there is no place for one. */
  readonly directory: string | null;
  readonly memory: Memory;
  readonly abort: AbortSignal;
  /** One line for the journal. */
  readonly say: (line: string) => void;
  /** Called after every look, for metrics. */
  readonly onLook?: (look: LookReport) => void;
  readonly onOutcomes?: (outcomes: readonly Outcome[]) => void;
  readonly clock?: Clock;
  readonly wall?: () => number;
  /** Seconds since boot, sleep included. */
  readonly uptime: () => number;
}

/** What one look found and did. */
export interface LookReport {
  /** null: the look failed. */
  readonly snapshot: Snapshot | null;
  readonly durationMs: number;
  readonly audited: readonly AuditedAct[];
  readonly held: Held | null;
  readonly waiting: number;
}
