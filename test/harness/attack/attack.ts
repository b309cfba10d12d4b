import { CLI, reaptop, snapshotOf } from '../../support/cli.ts';
import { isRunning } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { HOSTILE } from './hostile.ts';
import { type Staged, stageAll } from './scenes.ts';

export interface Result {
  readonly name: string;
  readonly held: boolean;
  readonly why: string;
}

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Guard as it ships: no config, no flags. */
const guardFor = async (sandbox: Sandbox, minutes: number): Promise<void> => {
  const guard = sandbox.start([process.execPath, CLI, 'guard'], { stdio: 'pipe' });
  for (const stream of [guard.child.stdout, guard.child.stderr]) stream?.resume();
  await wait(minutes * 60_000);
  guard.child.kill('SIGTERM');
  await until('guard to end', () => !isRunning(guard.pid, guard.start));
};

const cleanTwice = async (sandbox: Sandbox): Promise<void> => {
  for (let n = 0; n < 2; n += 1)
    await reaptop(sandbox, ['clean', '--force', '--age-threshold', '0', '--grace', '2']);
};

const judge = ({ name, pids, live }: Staged, reasons: ReadonlyMap<number, string>): Result => {
  const wrong = pids.filter(({ pid, start }) => isRunning(pid, start) !== live);
  const what = live ? 'was ended' : 'still runs';
  const why = wrong.map(({ pid }) => `${pid} ${what}${live ? '' : ` (${reasons.get(pid) ?? 'not seen'})`}`);
  return { name: `${live ? 'live' : 'leak'}: ${name}`, held: wrong.length === 0, why: why.join(', ') };
};

/** Every scene on one machine at once, then every hostile repository. */
export const attack = async (minutes: number, say: (line: string) => void): Promise<readonly Result[]> => {
  const sandbox = new Sandbox();
  const results: Result[] = [];
  try {
    const staged = await stageAll(sandbox);
    say(`${staged.length} scenes of ${staged.reduce((sum, { pids }) => sum + pids.length, 0)} processes`);
    if (minutes > 0) await guardFor(sandbox, minutes);
    else await cleanTwice(sandbox);
    const { processes } = await snapshotOf(sandbox);
    const reasons = new Map(processes.map(p => [p.pid, `${p.verdict}: ${p.why[0]}`]));
    results.push(...staged.map(scene => judge(scene, reasons)));
  } finally {
    await sandbox.close();
  }
  for (const { name, run } of HOSTILE) {
    const own = new Sandbox();
    try {
      const why = await run(own);
      results.push({ name: `hostile: ${name}`, held: why === null, why: why ?? '' });
    } catch (error) {
      results.push({ name: `hostile: ${name}`, held: false, why: (error as Error).message });
    } finally {
      await own.close();
    }
  }
  return results;
};
