import type { Identity } from './identity.ts';

export type HeartbeatState = 'fine' | 'warn' | 'critical' | 'unreadable' | 'leftover';

/** A sign of life that an agent, a skill or an orchestrator wrote to a file. */
export interface Heartbeat {
  readonly path: string;
  /** Which reader understood it: `agent-progress`, `postflight-marker`, `registry`… */
  readonly format: string;
  readonly state: HeartbeatState;
  /** Why it is in that state, in a sentence; null when fine. */
  readonly reason: string | null;
  readonly ageSeconds: number | null;
  readonly sessionId: string | null;
  readonly task: string | null;
  readonly phase: string | null;
  readonly operation: string | null;
  readonly proof: string | null;
  readonly counters: Readonly<Record<string, number>>;
  /** The agent it speaks of, when it could be joined to one. */
  readonly agent: Identity | null;
}
