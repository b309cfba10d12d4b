import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SETTLED_MS } from './cpu.ts';
import { pause, usageOf } from './measure.ts';
import { type Curve, plotSvg } from './plot-svg.ts';
import { type Row, skippedRow, toldRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

const CROWDS = [100, 1000, 5000] as const;
const TICK_MS = 10;

/** Who else shows processes, each at its own refresh of two seconds. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  htop: ['-d', '20'],
  top: ['-d', '2'],
  btop: ['--utf-force'],
  atop: ['2'],
};

const installed = (name: string): boolean => spawnSync(name, ['--version']).error === undefined;

/** CPU of each in percent of a core, all of them side by side over the same seconds. */
const measure = async (stage: Stage, names: readonly string[]): Promise<Map<string, number>> => {
  const options = { ...stage.commandOptions, size: WIDE };
  const terminals = new Map(
    names.map(name => [
      name,
      name === 'reaptop'
        ? new BenchTerminal(stage.cli, ['--interval', '2'], options)
        : new BenchTerminal(name, PEERS[name] ?? [], options),
    ]),
  );
  const windowMs = stage.quick ? 6000 : 20_000;
  try {
    await terminals.get('reaptop')!.wrote('mcp-server-');
    await pause(stage.quick ? 3000 : 10_000);
    const ticks = (): number[] => [...terminals.values()].map(terminal => usageOf(terminal.pid).ticks);
    const before = ticks();
    await pause(windowMs);
    const after = ticks();
    return new Map(names.map((name, i) => [name, ((after[i]! - before[i]!) * TICK_MS * 100) / windowMs]));
  } finally {
    await Promise.all([...terminals.values()].map(terminal => terminal.close()));
  }
};

/** How the cost grows with the machine, beside that of the others; also as a picture for test/README.md. */
export const benchGrowth = async (stage: Stage): Promise<Row[]> => {
  await stage.agent();
  const born = Date.now();
  const peers = Object.keys(PEERS);
  const names = ['reaptop', ...peers.filter(installed)];
  const curves: Curve[] = names.map(name => ({ name, points: [] }));
  for (const crowd of CROWDS) {
    await stage.crowd.be(crowd);
    await pause(born + SETTLED_MS - Date.now());
    const found = await measure(stage, names);
    for (const curve of curves) curve.points.push([crowd, found.get(curve.name) ?? 0]);
  }
  if (!stage.quick)
    writeFileSync(resolve(stage.repository, 'screenshots/cpu-by-processes.svg'), plotSvg(curves, CROWDS));
  const cells = (points: Curve['points']): string =>
    points.map(([crowd, cpu]) => `${cpu.toFixed(1)} % with ${crowd}`).join(', ');
  return [
    ...curves.map(({ name, points }) => toldRow(`CPU of ${name} in a pty`, cells(points))),
    ...peers
      .filter(name => !names.includes(name))
      .map(name => skippedRow(`CPU of ${name}`, `not installed: apt-get install ${name}`)),
  ];
};
