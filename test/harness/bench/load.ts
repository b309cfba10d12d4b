import { rmSync } from 'node:fs';
import { startAgent } from '../../support/agent.ts';
import { SETTLED_MS } from './cpu.ts';
import { pause, usageOf } from './measure.ts';
import { type Row, toldRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

const TICK_MS = 10;
const MB = 1_000_000;

interface Load {
  readonly what: string;
  /** Percent of a core. */
  readonly limit: number;
  readonly prepare: (stage: Stage) => Promise<void>;
}

const agents = async ({ sandbox }: Stage, count: number, servers: number): Promise<void> => {
  const server = sandbox.sleeper('mcp-server-load');
  const children = Array.from({ length: servers }, () => `'${server}' 3600`);
  for (let n = 0; n < count; n += 1) await startAgent(sandbox, { children });
};

const heartbeats = ({ sandbox }: Stage, count: number): void => {
  for (let n = 0; n < count; n += 1)
    sandbox.write(
      `work/specs/${n}_task/.agent-progress.json`,
      JSON.stringify({ agent_id: `bench-${n}`, status: 'working', last_update: new Date().toISOString() }),
    );
};

const LOADS: readonly Load[] = [
  { what: '1,000 related processes', limit: 3, prepare: stage => agents(stage, 10, 98) },
  { what: '100 agents', limit: 2, prepare: stage => agents(stage, 100, 0) },
  { what: '2,000 heartbeat files', limit: 2, prepare: async stage => heartbeats(stage, 2000) },
  { what: '20,000 processes', limit: 6, prepare: stage => stage.crowd.be(20_000) },
];

/** CPU and memory of the screen where there is much of one thing; nothing changes but by itself. */
export const benchLoad = async (stage: Stage): Promise<Row[]> => {
  const rows: Row[] = [];
  const windowMs = stage.quick ? 10_000 : 30_000;
  for (const { what, limit, prepare } of LOADS) {
    await stage.bare();
    await stage.agent();
    await stage.earlierScreen();
    await prepare(stage);
    await pause(SETTLED_MS);
    const terminal = new BenchTerminal(stage.cli, ['--interval', '2'], {
      ...stage.commandOptions,
      size: WIDE,
    });
    try {
      await terminal.wrote('mcp-server-');
      await pause(10_000);
      const before = usageOf(terminal.pid).ticks;
      await pause(windowMs);
      const { ticks, rss } = usageOf(terminal.pid);
      const percent = ((ticks - before) * TICK_MS * 100) / windowMs;
      rows.push(valueRow(`TUI, CPU with ${what}`, percent, '% of a core', limit));
      rows.push(
        toldRow(`TUI, RSS with ${what}`, `${(rss / MB).toFixed(1)} MB after ${10 + windowMs / 1000} s`),
      );
    } finally {
      await terminal.close();
    }
    await stage.crowd.be(0);
    rmSync(stage.sandbox.path('work/specs'), { recursive: true, force: true });
  }
  await stage.bare();
  return rows;
};
