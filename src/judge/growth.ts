/** How a process's memory moved over the points we have. */
export interface Growth {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  /** By least squares over all points: two unlucky ends do not make a trend. */
  readonly bytesPerSecond: number;
  /** Each third of the time lies higher than the one before: a rise, not a spike. */
  readonly sustained: boolean;
  /** null: it does not grow, or is already above the limit. */
  readonly secondsToLimit: number | null;
}

interface Point {
  /** Milliseconds. */
  readonly at: number;
  readonly bytes: number;
}

/** Below this many points or milliseconds a slope says nothing. */
const MIN_POINTS = 5;
const MIN_SPAN_MS = 30_000;

/** Rising slower than this is steady: 1 MiB an hour is what a healthy process breathes. */
const STEADY_RATE = (1024 * 1024) / 3600;

/** null when there are too few points to say anything. */
export const growthOf = (points: readonly Point[], limit: number): Growth | null => {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  if (points.length < MIN_POINTS || last.at - first.at < MIN_SPAN_MS) return null;
  const bytesPerSecond = slopeOf(points, first.at);
  const rising = bytesPerSecond > STEADY_RATE && last.bytes < limit;
  return {
    from: first.bytes,
    to: last.bytes,
    seconds: (last.at - first.at) / 1000,
    bytesPerSecond,
    sustained: isSustained(points),
    secondsToLimit: rising ? (limit - last.bytes) / bytesPerSecond : null,
  };
};

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const slopeOf = (points: readonly Point[], origin: number): number => {
  const seconds = points.map(point => (point.at - origin) / 1000);
  const meanX = average(seconds);
  const meanY = average(points.map(point => point.bytes));
  let over = 0;
  let under = 0;
  for (const [index, point] of points.entries()) {
    const dx = seconds[index]! - meanX;
    over += dx * (point.bytes - meanY);
    under += dx * dx;
  }
  return under === 0 ? 0 : over / under;
};

const isSustained = (points: readonly Point[]): boolean => {
  const third = Math.floor(points.length / 3);
  const bytes = points.map(point => point.bytes);
  const [early, middle, late] = [bytes.slice(0, third), bytes.slice(third, -third), bytes.slice(-third)].map(
    average,
  );
  return early! < middle! && middle! < late!;
};
