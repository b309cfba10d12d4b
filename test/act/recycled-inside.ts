import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type TerminateOptions, type TerminateResult, terminate } from '../../src/act/terminate/terminate.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { allPids, isRunning, type RawProcess, rawProcess, uptime } from '../support/proc.ts';
import { until } from '../support/until.ts';
import { planFor } from './stage.ts';

/** Runs below the first process of a pid namespace, where the next pid can be chosen. Prints what happened as JSON. */
const system = procfsSystem();
const nextPid = (pid: number): void => writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
const start = () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });

/** The pid of the plan's only target is given to a stranger before the first signal. */
const beforeTheSignal = async (): Promise<object> => {
  const victim = start();
  const raw = rawProcess(victim.pid!)!;
  const plan = await planFor(system, [raw]);
  victim.kill('SIGKILL');
  await once(victim, 'exit');
  // Start times count hundredths of a second: no pid of a whole machine comes round within one.
  await until('the next hundredth', () => Math.round(uptime() * 100) > Number(raw.start) + 1);
  nextPid(victim.pid!);
  const stranger = start();
  const result = await terminate({ system, plan, graceMs: 200 });
  const report = {
    planned: plan.steps.length,
    samePid: stranger.pid === victim.pid,
    outcomes: result.outcomes,
    strangerLives: isRunning(stranger.pid!),
  };
  stranger.kill('SIGKILL');
  return report;
};

/** A leak below PID 1, in a session of its own. */
const leak = async (): Promise<RawProcess> => {
  const told = spawnSync('sh', ['-c', 'setsid sleep 600 >/dev/null 2>&1 & echo $!'], { encoding: 'utf8' });
  const pid = Number(told.stdout);
  return until('the leak', () => {
    const raw = rawProcess(pid);
    return raw?.comm === 'sleep' && raw.sid === pid && raw.ppid === 1 ? raw : undefined;
  });
};

/** Without giving up the processor to anybody else of this program. */
const spinUntil = (condition: () => boolean): void => {
  for (const end = Date.now() + 10_000; !condition() && Date.now() < end; );
};

/** The leak ends, a daemon's launcher gets its pid, calls setsid, forks the daemon and exits. */
const daemonInItsPlace = (victim: RawProcess): RawProcess | undefined => {
  spinUntil(() => rawProcess(victim.pid) === null);
  nextPid(victim.pid);
  const launcher = spawnSync('setsid', ['sh', '-c', 'sleep 601 >/dev/null 2>&1 & echo $$'], {
    encoding: 'utf8',
  });
  if (Number(launcher.stdout) !== victim.pid) return undefined;
  // Nobody else is in the session that the launcher founded. It may not have come to its exec yet.
  return allPids()
    .map(rawProcess)
    .find(p => p !== null && p.sid === victim.pid && p.pid !== victim.pid) as RawProcess | undefined;
};

/**
 * A daemon is born into the numbers of the leak right after its end: it has its group, its session, and PID 1. Somebody
 * else of the namespace may get the pid first, a thread of ours for one: that is no reproduction, and is tried again.
 */
const throughGroups = async (wanted: number): Promise<object> => {
  const report = { aimed: 0, hurt: 0, ended: 0, told: 0 };
  for (let tries = 0; report.aimed < wanted && tries < 4 * wanted; tries += 1) {
    const victim = await leak();
    let daemon: RawProcess | undefined;
    const onProgress: TerminateOptions['onProgress'] = p => {
      if (p.type === 'signal' && p.step.pid === victim.pid) daemon ??= daemonInItsPlace(victim);
    };
    const result: TerminateResult = await terminate({
      system,
      plan: await planFor(system, [victim]),
      graceMs: 300,
      onProgress,
    });
    if (daemon === undefined) continue;
    report.aimed += 1;
    if (!isRunning(daemon.pid, daemon.start)) report.hurt += 1;
    else process.kill(daemon.pid, 'SIGKILL');
    if (result.outcomes.some(o => o.pid === victim.pid && o.outcome === 'ended')) report.ended += 1;
    if (result.warnings.length > 0) report.told += 1;
  }
  return report;
};

const SCENES = { 'before-the-signal': beforeTheSignal, 'through-groups': () => throughGroups(25) };

process.stdout.write(JSON.stringify(await SCENES[process.argv[2] as keyof typeof SCENES]()));
