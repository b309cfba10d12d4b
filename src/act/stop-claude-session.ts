import { runCommand } from '../observe/run-command.ts';

export type StopResult = { readonly status: 'stopped' } | { readonly status: 'failed'; readonly why: string };

/** `claude stop ID`: background sessions belong to Claude's daemon, which restarts what is killed. */
export const stopBackgroundSession = async (
  id: string,
  { timeoutMs = 15_000, env }: { readonly timeoutMs?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<StopResult> => {
  // An id comes from files that others may write: nothing in it may be taken for an option.
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id))
    return { status: 'failed', why: `${JSON.stringify(id)} is not the id of a background session` };
  const result = await runCommand('claude', ['stop', id], {
    timeoutMs,
    ...(env === undefined ? {} : { env }),
  });
  switch (result.status) {
    case 'done': {
      if (result.code === 0) return { status: 'stopped' };
      const said = (result.stderr.trim() || result.stdout.trim()).split('\n')[0]?.slice(0, 200) ?? '';
      return {
        status: 'failed',
        why: `claude stop ${id} exited with ${result.code}${said === '' ? '' : `: ${said}`}`,
      };
    }
    case 'missing':
      return { status: 'failed', why: `claude is not in PATH: run "claude stop ${id}" where it is` };
    case 'timeout':
      return { status: 'failed', why: `claude stop ${id} did not answer within ${timeoutMs / 1000} s` };
    case 'failed':
      return { status: 'failed', why: `claude stop ${id} could not be run: ${result.why}` };
  }
};
