import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentFiles, followedFiles } from '../../src/engine/agent-files.ts';
import { Collector } from '../../src/engine/collector.ts';
import { LiveEngine } from '../../src/engine/live-engine.ts';
import type { Config } from '../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Heartbeat } from '../../src/model/heartbeat.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { startAgent } from '../support/agent.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

/** The seeds' 90 and 180 seconds, thirty times faster. */
const QUICK: Config = {
  ...DEFAULT_CONFIG,
  thresholds: {
    ...DEFAULT_CONFIG.thresholds,
    'heartbeat-stale': { warnSeconds: 3, criticalSeconds: 6, leftoverSeconds: 3600 },
  },
};

let sandbox: Sandbox;
let engine: LiveEngine;
let files: AgentFiles;
let beating: NodeJS.Timeout | undefined;

beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  clearInterval(beating);
  await engine.stop();
  await files.close();
  await sandbox.close();
});

it('turns a heartbeat to warn and critical when it stops, with the last operation, and back to fine', async () => {
  const agent = await startAgent(sandbox);
  const directory = sandbox.path('work/specs/688_zombies');
  mkdirSync(directory, { recursive: true });
  // Torn like the originals: a plain write, no rename.
  const beat = (operation: string): void =>
    writeFileSync(
      join(directory, '.agent-progress.json'),
      JSON.stringify({
        session_id: agent.session,
        task_number: 688,
        last_update: new Date().toISOString(),
        phase: 2,
        operation,
        diagnostic_calls: 4,
      }),
    );
  beat('initializing');

  const system = procfsSystem();
  const env = sandbox.env;
  files = await followedFiles(QUICK, { poll: false, onChange: () => engine.noteFiles() });
  const collector = new Collector({ system, config: QUICK, env, cwd: sandbox.path('work'), files });
  engine = await LiveEngine.start({
    collector,
    system,
    config: QUICK,
    env,
    intervalSeconds: 0.5,
    all: false,
  });
  const row = (): Heartbeat | undefined =>
    engine.getState().snapshot.heartbeats.find(h => h.path.startsWith(directory));

  beating = setInterval(() => beat('checking_diagnostics'), 500);
  await until('the new operation on the row', () => row()?.operation === 'checking_diagnostics');
  expect(row()).toMatchObject({ state: 'fine', task: '688', phase: '2', agent: { pid: agent.pid } });
  clearInterval(beating);

  await until('warn', () => row()?.state === 'warn');
  expect(row()?.operation).toBe('checking_diagnostics');
  await until('critical', () => row()?.state === 'critical');
  const finding = engine.getState().snapshot.findings.find(f => f.id === 'heartbeat-stale');
  expect(finding).toMatchObject({ severity: 'critical' });
  expect(finding?.why).toContain('checking_diagnostics');

  const written = Date.now();
  beat('developing_proof');
  await until('fine again', () => row()?.state === 'fine' && row()?.operation === 'developing_proof');
  expect(Date.now() - written).toBeLessThan(5000);
});
