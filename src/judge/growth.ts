/** How a process's memory moved over the points we have. */
export interface Growth {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  readonly bytesPerSecond: number;
  /** Each third of the time ends higher than the one before: a rise, not a spike. */
  readonly steady: boolean;
  /** null: it does not grow, or is already above the limit. */
  readonly secondsToLimit: number | null;
}

const average = (points: readonly { readonly bytes: number }[]): number =>
  points.reduce((sum, point) => sum + point.bytes, 0) / points.length;

/** `at` is in milliseconds; null when there are too few points to say anything. */
export const growthOf = (
  points: readonly { readonly at: number; readonly bytes: number }[],
  limit: number,
): Growth | null => {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 6) return null;
  const seconds = (last.at - first.at) / 1000;
  if (seconds <= 0) return null;
  const third = Math.floor(points.length / 3);
  const [early, middle, late] = [
    points.slice(0, third),
    points.slice(third, -third),
    points.slice(-third),
  ].map(average) as [number, number, number];
  const bytesPerSecond = (last.bytes - first.bytes) / seconds;
  return {
    from: first.bytes,
    to: last.bytes,
    seconds,
    bytesPerSecond,
    steady: early < middle && middle < late,
    secondsToLimit: bytesPerSecond > 0 && last.bytes < limit ? (limit - last.bytes) / bytesPerSecond : null,
  };
};
