import type { MemoryPoint } from '../../judge/history.ts';
import type { Glyphs } from './glyphs.ts';

/** Below this share of its height a curve is drawn flat: noise is not news. */
const FLAT = 0.04;

/** The points in `width` equal stretches of time: the mean of each, the last known value where there was none. */
export const resample = (points: readonly MemoryPoint[], width: number): readonly number[] => {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || width < 1) return [];
  const span = Math.max(1, last.at - first.at);
  const sums = new Array<number>(width).fill(0);
  const counts = new Array<number>(width).fill(0);
  for (const { at, bytes } of points) {
    const slot = Math.min(width - 1, Math.floor(((at - first.at) / span) * width));
    sums[slot]! += bytes;
    counts[slot]! += 1;
  }
  let known = first.bytes;
  return sums.map((sum, i) => {
    if (counts[i]! > 0) known = sum / counts[i]!;
    return known;
  });
};

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** From zero, unless all of the curve is in the upper half: then from below its lowest point, or a rise would not be seen. */
export const plotRange = (values: readonly number[]): Range => {
  const highest = Math.max(...values);
  const lowest = Math.min(...values);
  const spread = highest - lowest;
  if (spread < highest * FLAT || lowest < highest / 2) return { low: 0, high: highest * 1.1 };
  return { low: lowest - spread * 0.4, high: highest + spread * 0.1 };
};

/** A bar plot over the range, top row first, in eighths of a cell. */
export const memoryPlot = (
  values: readonly number[],
  rows: number,
  { low, high }: Range,
  glyphs: Glyphs,
): readonly string[] => {
  const steps = glyphs.eighths.length - 1;
  const heights = values.map(v => Math.round(((v - low) / Math.max(1, high - low)) * rows * steps));
  return Array.from({ length: rows }, (_, row) => {
    const floor = (rows - 1 - row) * steps;
    return heights.map(h => glyphs.eighths[Math.max(0, Math.min(steps, h - floor))]).join('');
  });
};
