/**
 * What names one process and no other: the pid alone is recycled by the kernel,
 * pid + start time is not. `start` is opaque (clock ticks since boot on Linux,
 * epoch seconds elsewhere) and is only ever compared for equality.
 */
export interface Identity {
  readonly pid: number;
  readonly start: string;
}

/** An identity as a map key. */
export type IdentityKey = string;

export const keyOf = (identity: Identity): IdentityKey => `${identity.pid}:${identity.start}`;

export const sameIdentity = (a: Identity, b: Identity): boolean => a.pid === b.pid && a.start === b.start;
