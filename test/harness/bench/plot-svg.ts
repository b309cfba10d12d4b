export interface Curve {
  readonly name: string;
  readonly points: [processes: number, percent: number][];
}

const WIDTH = 720;
const HEIGHT = 360;
const LEFT = 60;
const RIGHT = 110;
const TOP = 40;
const BOTTOM = 50;
const COLOURS = ['#d6336c', '#1971c2', '#2f9e44', '#e8590c', '#7048e8'];

const LABEL_HEIGHT = 14;

/** Beside the end of each curve, and never over one another. */
const labels = (curves: readonly Curve[], y: (cpu: number) => number) => {
  const ends = curves
    .map(({ name, points }, i) => ({ name, cpu: points.at(-1)![1], colour: COLOURS[i % COLOURS.length] }))
    .sort((a, b) => b.cpu - a.cpu);
  let lowest = Number.NEGATIVE_INFINITY;
  return ends.map(end => {
    lowest = Math.max(y(end.cpu) + 4, lowest + LABEL_HEIGHT);
    return { ...end, at: lowest };
  });
};

/** CPU against the number of processes, both on logarithmic scales: what grows with the machine rises. */
export const plotSvg = (curves: readonly Curve[], crowds: readonly number[]): string => {
  const all = curves.flatMap(({ points }) => points.map(([, cpu]) => Math.max(0.1, cpu)));
  const low = 10 ** Math.floor(Math.log10(Math.min(...all)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...all)));
  const [first, last] = [crowds[0]!, crowds.at(-1)!];
  const x = (n: number): number =>
    LEFT + (Math.log(n / first) / Math.log(last / first)) * (WIDTH - LEFT - RIGHT);
  const y = (cpu: number): number =>
    HEIGHT - BOTTOM - (Math.log(Math.max(low, cpu) / low) / Math.log(high / low)) * (HEIGHT - TOP - BOTTOM);
  const parts: string[] = [];
  for (let mark = low; mark <= high * 1.001; mark *= 10)
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(mark).toFixed(1)}" y2="${y(mark).toFixed(1)}" stroke="#dee2e6"/>`,
      `<text x="${LEFT - 8}" y="${(y(mark) + 4).toFixed(1)}" text-anchor="end">${Number(mark.toPrecision(3))} %</text>`,
    );
  for (const crowd of crowds)
    parts.push(
      `<text x="${x(crowd).toFixed(1)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${crowd}</text>`,
    );
  for (const [i, { points }] of curves.entries()) {
    const colour = COLOURS[i % COLOURS.length];
    const path = points.map(([n, cpu]) => `${x(n).toFixed(1)},${y(cpu).toFixed(1)}`).join(' ');
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${i === 0 ? 3 : 1.5}"/>`,
    );
  }
  for (const { at, name, cpu, colour } of labels(curves, y))
    parts.push(
      `<text x="${WIDTH - RIGHT + 8}" y="${at.toFixed(1)}" fill="${colour}">${name} ${cpu.toFixed(1)} %</text>`,
    );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">`,
    '<title>CPU in percent of a core against the number of processes</title>',
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<text x="${LEFT}" y="22" font-size="14">CPU in percent of a core at a refresh of 2 s, by processes on the machine</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
};
