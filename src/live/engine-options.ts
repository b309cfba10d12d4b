import type { Collector } from '../collect/collector.ts';
import type { Config } from '../model/config.ts';
import type { System } from '../observe/system.ts';
import type { LogLine } from './live.ts';

export interface LiveEngineOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly intervalSeconds: number;
  readonly all: boolean;
  /** Where the setup screen saves to; null: there is no home. */
  readonly configPath?: string | null;
  /** What happened before; the end of the audit log when absent. */
  readonly log?: readonly LogLine[];
  /** Where acts are recorded; null: nowhere, because nothing real is done. */
  readonly stateDirectory?: string | null;
  /** How long a process may take to obey TERM; the default of every act when absent. */
  readonly graceMs?: number | undefined;
  /** Looks only when asked to, until `startLooking`. */
  readonly byHand?: boolean;
}
