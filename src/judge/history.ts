import type { IdentityKey } from '../model/identity.ts';

/** One point of a process's recent past; ten minutes of them are kept per related process. */
export interface MemoryPoint {
  readonly at: number;
  readonly bytes: number;
  readonly cpu: number | null;
}

/** What earlier samples showed: filled by the engine, empty for a single sample. */
export interface Past {
  /** Seconds for which a process has been in its present state; null when not known. */
  stateSeconds(key: IdentityKey): number | null;
  /** Memory over time, oldest first; at most ten minutes of it. */
  memory(key: IdentityKey): readonly MemoryPoint[];
  /** Seconds since a process last used CPU while we watched; null when not known. */
  quietSeconds(key: IdentityKey): number | null;
  /**
   * For how many samples in a row, the present one included, a process did nothing: used less than a percent of a core
   * in between. 0: it worked, or was not seen before; null: unknown.
   */
  idleSamples(now: {
    readonly key: IdentityKey;
    readonly cpuSeconds: number | null;
    readonly at: number;
  }): number | null;
}

export const NO_PAST: Past = {
  stateSeconds: () => null,
  memory: () => [],
  quietSeconds: () => null,
  idleSamples: () => null,
};
