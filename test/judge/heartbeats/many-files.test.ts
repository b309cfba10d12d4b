import { describe, expect, it } from 'vitest';
import { findAll } from '../../../src/judge/findings/index.ts';
import { judgeFiles } from '../../../src/judge/heartbeats/judge-files.ts';
import { NO_PAST } from '../../../src/judge/history.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Reading, readingOf } from '../../../src/model/heartbeat.ts';
import type { Observation } from '../../../src/model/observation.ts';

const NOW = Date.UTC(2026, 0, 2);
const LONG_AGO = NOW - 300_000;

const file = (path: string, format: Reading['format'], content: Partial<Reading> = {}): Reading =>
  readingOf(content, {
    path,
    root: '/p',
    format,
    source: null,
    mtime: LONG_AGO,
    size: 10,
    unreadable: null,
  });

/** Task directories of both systems, and as many stream logs in one directory. */
const project = (tasks: number): Reading[] =>
  Array.from({ length: tasks }, (_, i) => [
    file(`/p/specs/${i}_x/.agent-progress.json`, 'agent-progress', { task: String(i), sessionId: `s${i}` }),
    file(`/p/specs/${i}_x/.postflight-pending`, 'postflight-marker', { task: String(i) }),
    file(`/p/specs/${i}_x/.postflight-loop-guard`, 'loop-guard', { counters: { count: 3 } }),
    file(`/p/specs/${i}_x/.return-meta.json`, 'return-meta', { status: 'in_progress' }),
    file(`/p/.agent-workspace/TASK-1/logs/a${i}_stream.jsonl`, 'stream-log', {
      agentId: `a${i}`,
      terminal: true,
    }),
  ]).flat();

const cpuFor = (readings: readonly Reading[]): number => {
  const before = process.cpuUsage();
  const files = judgeFiles({
    readings,
    processes: [],
    tmux: [],
    sessions: [],
    config: DEFAULT_CONFIG,
    now: NOW,
  });
  const observation = { processes: [], tmux: [], complete: true } as unknown as Observation;
  const { heartbeats } = files;
  const found = findAll({
    observation,
    config: DEFAULT_CONFIG,
    past: NO_PAST,
    processes: [],
    heartbeats,
    files,
  });
  expect(found.filter(({ id }) => id === 'marker-age')).toHaveLength(readings.length / 5);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

describe('thousands of task directories', () => {
  it('are judged in time that grows with their number, not with its square', () => {
    const [few, many] = [project(1000), project(8000)];
    cpuFor(few);
    const small = Math.min(cpuFor(few), cpuFor(few), cpuFor(few));
    const large = Math.min(cpuFor(many), cpuFor(many));
    // 8 times as many: about 8 times as long; 64 times when everyone looks through all of them.
    expect(large / small).toBeLessThan(30);
  });
});
