import { expect, test } from 'vitest';
import { Collector } from '../../src/engine/collector.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { snapshotJson } from '../../src/model/snapshot-json.ts';
import { readRecorded, recordedSystem } from '../../src/observe/recorded/load.ts';
import { standingDemo } from '../tui/drive.ts';

const demo = await standingDemo({ looks: 2 });
const snapshot = demo.live.getState().snapshot;

const readBack = (document: object): Promise<Snapshot> => {
  const reading = readRecorded(JSON.stringify(document), { now: 0 });
  if (!reading.ok) throw new Error(reading.message);
  const system = recordedSystem(reading.table);
  return new Collector({ system, config: DEFAULT_CONFIG, env: {}, cwd: '/' }).collect({});
};

test('our own JSON read back tells the same story', async () => {
  const written = JSON.parse(JSON.stringify(snapshotJson(snapshot)));
  const again = JSON.parse(JSON.stringify(snapshotJson(await readBack(written))));
  expect(written.processes.some((p: { session: unknown }) => p.session !== null)).toBe(true);
  expect(written.heartbeats).not.toEqual([]);
  const story = ({ totals, warnings, processes, findings, heartbeats }: typeof written) => ({
    totals,
    warnings,
    heartbeats,
    findings: findings.map((finding: object) => ({ ...finding, action: null })),
    processes: processes
      .map(({ depth: _, ...p }: { depth: number; pid: number }) => p)
      .sort((a: { pid: number }, b: { pid: number }) => a.pid - b.pid),
  });
  expect(story(again)).toEqual(story(written));
});

test('calls, model and context are part of it', async () => {
  const call = {
    tool: 'lean_goal',
    server: 'lean-lsp',
    startedAt: '2026-11-18T05:55:14.386Z',
    seconds: 780,
    pid: 48,
    subagent: false,
    hung: true,
  };
  const written = JSON.parse(JSON.stringify(snapshotJson(snapshot)));
  const told = { calls: [call], model: 'claude-opus-5-5', context: { tokens: 142_000 } };
  const agent = written.processes.find((p: { session: unknown }) => p.session !== null);
  Object.assign(agent.session, told);
  const again = snapshotJson(await readBack(written));
  expect(again.processes.find(p => p.pid === agent.pid)?.session).toMatchObject(told);
});

test('what a JSON without verdicts says is judged now, and offers nothing that cannot be done', async () => {
  const { processes, ...rest } = JSON.parse(JSON.stringify(snapshotJson(snapshot)));
  const bare = processes.map(({ pid, start, ppid, command, rss }: Record<string, unknown>) => {
    return { pid, start, ppid, command, rss };
  });
  const again = await readBack({ schema: 1, takenAt: rest.takenAt, processes: bare });
  expect(again.processes.some(p => p.verdict === 'live')).toBe(true);
  expect(again.totals.leaks).toBe(0);
  const whole = await readBack({ ...rest, processes });
  expect(whole.findings.length).toBeGreaterThan(0);
  expect(whole.findings.filter(({ action }) => action !== null)).toEqual([]);
});

test('secrets and escapes in what was judged do not come through', async () => {
  const evil = 'x --token=hunter2 \u{1b}[2J\n';
  const again = await readBack({
    schema: 1,
    warnings: [evil],
    processes: [
      {
        pid: 5,
        start: '1',
        ppid: 1,
        command: 'claude',
        kind: 'agent',
        name: evil,
        verdict: 'leak',
        why: [evil],
      },
    ],
    findings: [
      { id: 'leak', severity: 'warn', title: evil, why: evil, remedy: evil, processes: [], files: [evil] },
    ],
    heartbeats: [{ path: evil, state: 'warn', format: evil, counters: { [evil]: 1 } }],
  });
  expect(again.processes).toHaveLength(1);
  expect(again.findings).toHaveLength(1);
  expect(again.heartbeats).toHaveLength(1);
  expect(JSON.stringify(snapshotJson(again))).not.toMatch(/hunter2|\\u001b|[^\\]\\n/);
});
