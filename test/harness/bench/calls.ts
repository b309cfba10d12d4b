import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { Collector, readClaudeRecords } from '../../../src/engine/collector.ts';
import { loadConfig } from '../../../src/engine/load-config.ts';
import { CallReader } from '../../../src/observe/files/call-reader.ts';
import { slugOf, transcriptReadings } from '../../../src/observe/files/transcripts.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { callLines } from '../../fixtures/call-lines.ts';
import { startAgent } from '../../support/agent.ts';
import { costOf, median, pause } from './measure.ts';
import { type Row, ratioRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';

const SESSIONS = 20;
const BYTES = 50 * 1024 ** 2;
const ROUNDS = 15;
const WARM_LOOKS = 50;
/** Each is too short to be measured once. */
const TIMES = 20;

const { claude } = callLines;
const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** As Claude writes them: long requests between calls and results. */
const writeTranscript = (path: string): void => {
  const blob = line({ type: 'api-request-blob', message: 'x'.repeat(100 * 1024) });
  const turn = Array.from(
    { length: 8 },
    (_, n) => line(claude.call(`t${n}`, 'Bash')) + line(claude.result(`t${n}`)),
  );
  const piece = `${blob}${turn.join('')}`;
  const fd = openSync(path, 'w');
  for (let written = 0; written < BYTES; written += piece.length) writeSync(fd, piece);
  closeSync(fd);
};

/** What knowing the pending calls of many long sessions costs, beside a steady refresh of the same machine. */
export const benchCalls = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(5000);
  await stage.agent();
  const { env, cwd } = stage.commandOptions;
  const projects = stage.sandbox.path('home/.claude/projects', slugOf(cwd).slug);
  mkdirSync(projects, { recursive: true });
  const paths: string[] = [];
  for (let n = 0; n < SESSIONS; n += 1) {
    const { session } = await startAgent(stage.sandbox, { cwd });
    paths.push(`${projects}/${session}.jsonl`);
    writeTranscript(paths.at(-1)!);
  }
  const collector = new Collector({
    system: procfsSystem(),
    config: await loadConfig(env, undefined),
    env,
    cwd,
  });
  const { sessions } = readClaudeRecords([stage.sandbox.path('home/.claude')]);
  const reader = new CallReader();
  const first = await costOf(() => {
    for (let left = paths.length; left > 0; left -= 1) {
      reader.begin();
      transcriptReadings(sessions, reader);
    }
  });
  const grow = (): void => {
    for (const path of paths) appendFileSync(path, line(claude.result('x')));
  };
  const readings = (calls: CallReader | null) => (): void => {
    for (let n = 0; n < TIMES; n += 1) {
      calls?.begin();
      transcriptReadings(sessions, calls);
    }
  };
  for (let warm = 0; warm < WARM_LOOKS; warm += 1) {
    grow();
    await collector.collect();
    readings(reader)();
    readings(null)();
  }
  const costs = { refresh: [] as number[], still: [] as number[], growing: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(300);
    grow();
    costs.refresh.push((await costOf(() => collector.collect())).cpu);
    const without = (await costOf(readings(null))).cpu / TIMES;
    readings(reader)();
    costs.still.push((await costOf(readings(reader))).cpu / TIMES - without);
    let growing = 0;
    for (let n = 0; n < TIMES; n += 1) {
      grow();
      reader.begin();
      growing += (await costOf(() => transcriptReadings(sessions, reader))).cpu;
    }
    costs.growing.push(growing / TIMES - without);
  }
  const known = collector.collect().then(({ processes }) => processes.filter(p => p.session?.calls).length);
  if ((await known) < SESSIONS) throw new Error(`only ${await known} sessions were read`);
  const refresh = median(costs.refresh);
  // Twenty busy sessions beside what is measured next would be read and drawn there.
  await stage.crowd.be(0);
  await stage.bare();
  return [
    ratioRow('pending calls of 20 sessions of 50 MB, one of each turn written / steady refresh', {
      ours: Math.max(0, median(costs.growing)),
      theirs: refresh,
      limit: 0.05,
    }),
    ratioRow('the same, nothing written', {
      ours: Math.max(0, median(costs.still)),
      theirs: refresh,
      limit: 0.05,
    }),
    valueRow('first read of their ends', first.cpu / SESSIONS, 'ms CPU each', 25),
  ];
};
