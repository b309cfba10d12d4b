import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { auditLines, stateFile } from '../support/audit.ts';
import { snapshotOf } from '../support/cli.ts';
import { lookOf, startGuard, stopGuard } from '../support/guard.ts';
import { childrenOf, isRunning, type RawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** What carries its session's marks: the stand-in's own sleep is proven only to a guard that saw it below its agent. */
const servers = (agent: RawProcess): RawProcess[] => childrenOf(agent.pid).filter(p => p.comm !== 'sleep');

const KILLS = 50;
/** A guard is killed while it starts, looks, writes or cleans: its first moments hold all of these. */
const LATEST_KILL_MS = 600;

const lines = (name: string): string[] => {
  try {
    return readFileSync(stateFile(sandbox, name), 'utf8').split('\n').slice(0, -1);
  } catch {
    return []; // never written
  }
};

const torn = (all: readonly string[]): number =>
  all.filter(line => {
    try {
      JSON.parse(line);
      return false;
    } catch {
      return true;
    }
  }).length;

test('killed -9 fifty times while agents come and go, it leaves everything readable and nothing half done', async () => {
  const children = Array<string>(3).fill(`${sandbox.sleeper('mcp-server-files')} 600`);
  const left: RawProcess[] = [];
  // A plan that a kill cut off counts again.
  const policy = { endsPerHour: 1000 };
  const survivor = await startAgent(sandbox, { children });
  const kept = childrenOf(survivor.pid);
  let agent = await startAgent(sandbox, { children });
  for (let kill = 0; kill < KILLS; kill += 1) {
    const guard = await startGuard(sandbox, { policy, trusting: kill > 0 });
    // Spread over the second by a fixed pattern that meets no rhythm of guard's own.
    await new Promise(resolve => setTimeout(resolve, (kill * 379) % LATEST_KILL_MS));
    if (kill % 5 === 4) {
      left.push(...servers(agent));
      agent.child.kill('SIGKILL');
      agent = await startAgent(sandbox, { children });
    }
    await stopGuard(guard, 'SIGKILL');
  }
  const last = await startGuard(sandbox, { policy });
  left.push(...servers(agent));
  await lookOf(sandbox, last);
  agent.child.kill('SIGKILL');
  const running = (): number => left.filter(p => isRunning(p.pid, p.start)).length;
  const isClear = async (): Promise<boolean> =>
    running() === 0 && (await snapshotOf(sandbox)).totals.leaks === 0;
  await until('what every dead agent left to be gone', isClear, { timeoutMs: 60_000 });
  await stopGuard(last);
  expect(kept.filter(p => isRunning(p.pid, p.start))).toHaveLength(kept.length);

  const audit = auditLines(sandbox);
  const intents = audit.filter(({ event }) => event === 'intent').map(({ id }) => id);
  const outcomes = new Set(audit.filter(({ event }) => event === 'outcome').map(({ id }) => id));
  expect(intents.filter(id => !outcomes.has(id))).toEqual([]);
  // A kill may cut the line being written: at most the last one of each guard.
  for (const name of ['lineage.jsonl', 'recorder/marks.jsonl', 'audit.jsonl'])
    expect(torn(lines(name))).toBeLessThanOrEqual(1);
  const { warnings, totals } = await snapshotOf(sandbox);
  expect([totals.leaks, warnings.filter(text => text.includes('lineage'))]).toEqual([0, []]);
  const past = await snapshotOf(sandbox, ['--at', '-1s']);
  expect(past.processes.map(({ pid }) => pid)).toContain(survivor.pid);
}, 180_000);
