import { spawnSync } from 'node:child_process';
import { Collector } from '../../../src/engine/collector.ts';
import { loadConfig } from '../../../src/engine/load-config.ts';
import { parseLsof } from '../../../src/observe/darwin/lsof.ts';
import { parsePs } from '../../../src/observe/darwin/ps.ts';
import { darwinSystem, type MacTools } from '../../../src/observe/darwin/system.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import type { System } from '../../../src/observe/system.ts';
import { median, pause } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';

const SIZES = [600, 1800] as const;
const WARM_ROUNDS = 60;
const ROUNDS = 40;
/** Refreshes two seconds apart cost more than refreshes in a row: the processor has turned to others meanwhile. */
const REST_MS = 250;

const KEYWORDS = 'pid ppid pgid tdev stat uid ruid rss time lstart ucomm args'.split(' ');

/** Answers of the stand-in's tools, asked before the clock runs: what they cost is not ours. */
class Told {
  ps = '';
  #lsof = '';
  readonly #repository: string;

  constructor(repository: string) {
    this.#repository = repository;
  }

  #run(tool: string, args: readonly string[]): string {
    const file = `${this.#repository}/test/support/mac/tool.mjs`;
    const { stdout } = spawnSync(process.execPath, [file, tool, ...args], {
      encoding: 'latin1',
      maxBuffer: 64 * 1024 ** 2,
      env: { ...process.env, MAC_PROC: '/proc', TZ: 'UTC' },
    });
    return stdout;
  }

  ask(): void {
    this.ps = this.#run('ps', ['-axww', ...KEYWORDS.flatMap(keyword => ['-o', `${keyword}=`])]);
  }

  readonly tools: MacTools = {
    uid: process.getuid!(),
    psAll: async (read = parsePs) => ({ ok: true, rows: read(this.ps) }),
    psEnvironments: async () => new Map(),
    readHost: async () => ({
      name: 'mac',
      platform: 'darwin',
      backend: 'darwin',
      bootId: null,
      memTotal: 1,
      memAvailable: null,
      swapUsed: null,
    }),
    openFiles: async pids => {
      if (this.#lsof === '') this.#lsof = this.#run('lsof', ['-nPlw', '-a', '-p', pids.join(',')]);
      return parseLsof(this.#lsof);
    },
    socketsOf: async () => [],
    launchdJobs: async () => new Map(),
  };
}

interface Subject {
  readonly name: 'darwin' | 'procfs';
  readonly refresh: () => Promise<unknown>;
  readonly sample: () => Promise<unknown>;
}

/** CPU of our own for one refresh, without that of the tools: on the same processes as the /proc backend. */
export const benchDarwin = async (stage: Stage): Promise<Row[]> => {
  const rows: Row[] = [];
  await stage.agent();
  stage.stir(true);
  for (const size of SIZES) {
    await stage.crowd.be(size);
    rows.push(...(await compare(stage, size)));
  }
  stage.stir(false);
  return rows;
};

const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const compare = async (stage: Stage, size: number): Promise<Row[]> => {
  const { env, cwd } = stage.commandOptions;
  const config = await loadConfig(env, undefined);
  const told = new Told(stage.repository);
  const subjectOf = (name: Subject['name'], system: System, alone: System): Subject => {
    const collector = new Collector({ system, config, env, cwd });
    return { name, refresh: () => collector.collect(), sample: () => alone.sample() };
  };
  const subjects = [
    subjectOf('darwin', darwinSystem(told.tools), darwinSystem(told.tools)),
    subjectOf('procfs', procfsSystem(), procfsSystem()),
  ];
  const works = ['refresh', 'sample'] as const;
  const costs = new Map<string, number[]>();
  for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
    if (round >= 0 || round % 10 === 0) told.ask();
    for (const subject of subjects)
      for (const work of works) {
        if (round >= 0) await pause(REST_MS);
        const cost = await cpuOf(subject[work]);
        const key = `${subject.name} ${work}`;
        if (round >= 0) costs.set(key, [...(costs.get(key) ?? []), cost]);
      }
  }
  const cpu = (key: string): number => median(costs.get(key) ?? []);
  return works.map(work =>
    ratioRow(`steady ${work} on a Mac without ps, ${size} + 50 processes / procfs`, {
      ours: cpu(`darwin ${work}`),
      theirs: cpu(`procfs ${work}`),
      limit: 1.5,
    }),
  );
};
