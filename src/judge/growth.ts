/** How a process's memory moved over the points we have. */
export interface Growth {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  /** By least squares over all points: two unlucky ends do not make a trend. */
  readonly bytesPerSecond: number;
  /** Rising or falling only where it did so all the time: a start-up, a step or a spike is no trend. */
  readonly trend: 'rising' | 'falling' | 'steady';
  /** null: it does not rise, or is already above the limit. */
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

/** A trend needs this long: most programs have loaded what they need by then. */
const MIN_TREND_MS = 120_000;

/** Slower than this is steady: a healthy process moves by 1 MiB an hour. */
const STEADY_RATE = (1024 * 1024) / 3600;

/** null when there are too few points to say anything. */
export const growthOf = (points: readonly Point[], limit: number): Growth | null => {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  if (points.length < MIN_POINTS || last.at - first.at < MIN_SPAN_MS) return null;
  const bytesPerSecond = slopeOf(points, first.at);
  const trend = last.at - first.at < MIN_TREND_MS ? 'steady' : trendOf(points, bytesPerSecond);
  return {
    from: first.bytes,
    to: last.bytes,
    seconds: (last.at - first.at) / 1000,
    bytesPerSecond,
    trend,
    secondsToLimit: trend === 'rising' && last.bytes < limit ? (limit - last.bytes) / bytesPerSecond : null,
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

const PARTS = 5;
/** Of the whole move: a line makes a quarter of it from one part to the next. */
const SHARE = 0.08;
/** A step lies between two parts or within one, so that it moves two of the four differences at most. */
const MOVES = 3;

const trendOf = (points: readonly Point[], bytesPerSecond: number): Growth['trend'] => {
  if (Math.abs(bytesPerSecond) < STEADY_RATE) return 'steady';
  const cut = (part: number): number => Math.floor((points.length * part) / PARTS);
  const means = Array.from({ length: PARTS }, (_, part) =>
    average(points.slice(cut(part), cut(part + 1)).map(({ bytes }) => bytes)),
  );
  const whole = means.at(-1)! - means[0]!;
  const moves = means.slice(1).filter((mean, i) => (mean - means[i]!) / whole >= SHARE);
  if (moves.length < MOVES || Math.sign(whole) !== Math.sign(bytesPerSecond)) return 'steady';
  return whole > 0 ? 'rising' : 'falling';
};
