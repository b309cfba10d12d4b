import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { until } from '../../support/until.ts';
import { cpuOfCommand, cpuSoFar, interleaved, median } from './measure.ts';
import { type Row, ratioRow, skippedRow, toldRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

/** A row of a process of ours is on the screen of each of them. */
const ROW = { reaptop: 'mcp-server-', btop: 'restless', htop: 'restless' } as const;

interface Painted {
  readonly wall: number;
  readonly cpu: number;
}

/** From the start of a program to a process row on its screen. */
const painted = async (stage: Stage, command: string, sign: string): Promise<Painted> => {
  const from = process.hrtime.bigint();
  let found: Painted | null = null;
  let written = '';
  const terminal = new BenchTerminal(command, [], { ...stage.commandOptions, size: WIDE });
  terminal.onOutput = data => {
    written += data;
    if (found === null && written.includes(sign))
      found = { wall: Number(process.hrtime.bigint() - from) / 1e6, cpu: cpuSoFar(terminal.pid) };
  };
  await until('the first paint', () => found !== null, { timeoutMs: 30_000 });
  await terminal.close();
  return found!;
};

export const benchPaint = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(0);
  await stage.agent();
  stage.stir(true);
  const { cli, commandOptions } = stage;
  const rounds = stage.quick ? 5 : 15;
  const node = cpuOfCommand(process.execPath, ['-e', '0'], commandOptions);
  const ours = async (): Promise<number> => (await painted(stage, cli, ROW.reaptop)).cpu;
  const forget = (): void => rmSync(stage.sandbox.path('home/.cache'), { recursive: true, force: true });
  const first = (): Promise<number> => {
    forget();
    return ours();
  };
  const cold = await interleaved({ first, node }, stage.quick ? 3 : 9);
  forget();
  await stage.earlierScreen();
  const warm = await interleaved({ ours, node }, rounds);
  const rows = [
    ratioRow('TUI, start to first paint with data / node -e 0, CPU', {
      ours: median(warm.ours),
      theirs: median(warm.node),
      limit: 4.2,
    }),
    ratioRow('the same, first run', { ours: median(cold.first), theirs: median(cold.node), limit: 7 }),
  ];
  const wall = (command: string, sign: string) => async () => (await painted(stage, command, sign)).wall;
  for (const peer of ['btop', 'htop'] as const) {
    const what = `TUI, start to first paint / ${peer}, wall`;
    if (spawnSync(peer, ['--version']).error !== undefined) {
      rows.push(skippedRow(what, `not installed: apt-get install ${peer}`));
      continue;
    }
    const found = await interleaved({ ours: wall(cli, ROW.reaptop), theirs: wall(peer, ROW[peer]) }, rounds);
    const [mine, theirs] = [median(found.ours), median(found.theirs)];
    rows.push(
      peer === 'btop'
        ? ratioRow(what, { ours: mine, theirs, limit: 6 })
        : toldRow(what, `${mine.toFixed(1)} ms to ${theirs.toFixed(1)} ms`),
    );
  }
  stage.stir(false);
  return rows;
};
