import { formatOf } from '../../agents/files/formats.ts';
import type { Reading } from '../../model/heartbeat.ts';

/** File systems and clocks differ by a little; what lies further ahead is no time at all. */
const TOLERANCE_MS = 2000;

const past = (time: number | null, now: number): number | null =>
  time === null || time > now + TOLERANCE_MS ? null : Math.min(time, now);

/** When the file last gave a sign of life: the newer of its mtime and the time it states. Future times are ignored. */
export const lastSign = (reading: Reading, now: number): number | null => {
  const written = reading.foreignWrite ? null : past(reading.mtime, now);
  const stated = past(reading.updatedAt, now);
  if (written === null) return stated;
  return stated === null ? written : Math.max(written, stated);
};

/**
 * Seconds since the last sign of life. A marker is as old as what it marks: its stated time of
 * creation counts, not a later edit.
 */
export const ageOfReading = (reading: Reading, now: number): number | null => {
  const since =
    formatOf(reading).aged === 'creation'
      ? (past(reading.createdAt, now) ?? past(reading.mtime, now))
      : lastSign(reading, now);
  return since === null ? null : (now - since) / 1000;
};
