import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeFiles } from '../../../src/judge/heartbeats/index.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config.ts';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import { FileFollower } from '../../../src/observe/files/watch.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const config = {
  ...DEFAULT_CONFIG,
  thresholds: {
    ...DEFAULT_CONFIG.thresholds,
    'heartbeat-stale': { warnSeconds: 1.5, criticalSeconds: 2.5, leftoverSeconds: 3600 },
  },
};

/** Beats as the Lean agents do: the first time by `echo >`, then by a temporary file and `mv`. */
const AGENT = `
f=$1/specs/688_x/.agent-progress.json
mkdir -p "$1/specs/688_x"
n=0
while :; do
  n=$((n+1))
  beat='{"session_id":"sess_1_a","task_number":688,"last_update":"'$(date -Iseconds)'","phase":2,"operation":"checking_diagnostics","diagnostic_calls":'$n'}'
  if [ $n = 1 ]; then echo "$beat" > "$f"; else echo "$beat" > "$f.tmp" && mv "$f.tmp" "$f"; fi
  sleep 0.2
done`;

describe('a beating agent', () => {
  let sandbox: Sandbox;
  let follower: FileFollower;
  beforeEach(() => {
    sandbox = new Sandbox();
    follower = new FileFollower({ sources: [], poll: false, onChange: () => {} });
    follower.setRoots([sandbox.path('work')]);
  });
  afterEach(async () => {
    await follower.close();
    await sandbox.close();
  });

  const beat = (): Heartbeat | undefined =>
    judgeFiles({
      readings: follower.readings(),
      processes: [],
      tmux: [],
      sessions: [],
      config,
      now: Date.now(),
    }).heartbeats[0];

  it('is fine, then warn, then critical when it stops, and fine when it beats again', async () => {
    const agent = sandbox.start(['sh', '-c', AGENT, 'agent', sandbox.path('work')], { detached: true });
    await until(
      'the third beat',
      () => (beat()?.counters.diagnostic_calls ?? 0) >= 3 && beat()?.state === 'fine',
    );
    process.kill(-agent.pid, 'SIGSTOP');
    // No file changes any more: only time passes.
    await until('warn', () => beat()?.state === 'warn');
    await until('critical', () => beat()?.state === 'critical');
    expect(beat()).toMatchObject({ operation: 'checking_diagnostics', task: '688', phase: '2' });
    process.kill(-agent.pid, 'SIGCONT');
    await until('fine again', () => beat()?.state === 'fine');
  });
});
