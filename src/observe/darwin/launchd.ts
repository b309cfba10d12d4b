import { runCommand } from '../run-command.ts';
import { toolEnvironment } from './ps.ts';

const TIMEOUT_MS = 2000;

/** `PID Status Label` a line, tabs between; a job that does not run has `-` for its pid. */
export const parseJobs = (text: string): ReadonlyMap<number, string> =>
  new Map(
    text.split('\n').flatMap(line => {
      const [pid, , label] = line.split('\t');
      return pid !== undefined && /^\d+$/.test(pid) && label !== undefined ? [[Number(pid), label]] : [];
    }),
  );

/** What launchd itself runs, by pid; null: it did not answer. */
export const launchdJobs = async (): Promise<ReadonlyMap<number, string> | null> => {
  const result = await runCommand('launchctl', ['list'], {
    timeoutMs: TIMEOUT_MS,
    env: toolEnvironment(),
    mostOutput: 4 * 1024 ** 2,
  });
  return result.status === 'done' && result.code === 0 ? parseJobs(result.stdout) : null;
};
