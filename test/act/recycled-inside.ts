import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { terminate } from '../../src/act/terminate/terminate.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { isRunning, rawProcess } from '../support/proc.ts';
import { planFor } from './stage.ts';

/** Runs as the first process of a pid namespace, where the next pid can be chosen. Prints what happened as JSON. */
const main = async (): Promise<void> => {
  const system = procfsSystem();
  const start = () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const victim = start();
  const raw = rawProcess(victim.pid!)!;
  const plan = await planFor(system, [raw]);
  victim.kill('SIGKILL');
  await once(victim, 'exit');
  writeFileSync('/proc/sys/kernel/ns_last_pid', String(victim.pid! - 1));
  const stranger = start();
  const result = await terminate({ system, plan, graceMs: 200 });
  const report = {
    planned: plan.steps.length,
    samePid: stranger.pid === victim.pid,
    outcomes: result.outcomes,
    strangerLives: isRunning(stranger.pid!),
  };
  stranger.kill('SIGKILL');
  process.stdout.write(JSON.stringify(report));
};

await main();
