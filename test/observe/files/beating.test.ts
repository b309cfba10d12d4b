import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeFiles } from '../../../src/judge/heartbeats/judge-files.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import { FileFollower } from '../../../src/observe/files/watch-files.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

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

  /** As it will be judged in `seconds`, if nothing is written until then. */
  const beat = (seconds = 0): Heartbeat | undefined =>
    judgeFiles({
      readings: follower.readings(),
      processes: [],
      tmux: [],
      sessions: [],
      config: DEFAULT_CONFIG,
      now: Date.now() + seconds * 1000,
    }).heartbeats[0];

  it('is fine, then warn, then critical when it stops, and fine when it beats again', async () => {
    const agent = sandbox.start(['sh', '-c', AGENT, 'agent', sandbox.path('work')], { detached: true });
    const calls = (): number => beat()?.counters.diagnostic_calls ?? 0;
    await until('the third beat', () => calls() >= 3);
    expect(beat()?.state).toBe('fine');
    process.kill(-agent.pid, 'SIGSTOP');
    // No file changes any more: only time passes.
    expect([beat(60)?.state, beat(120)?.state, beat(200)?.state]).toEqual(['fine', 'warn', 'critical']);
    expect(beat(200)).toMatchObject({ operation: 'checking_diagnostics', task: '688', phase: '2' });
    const stopped = calls();
    process.kill(-agent.pid, 'SIGCONT');
    await until('another beat', () => calls() > stopped + 1);
    expect(beat()?.state).toBe('fine');
  });
});
