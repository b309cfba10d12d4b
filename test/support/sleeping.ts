import { readFileSync } from 'node:fs';
import { reaptop } from './cli.ts';
import { AT_PROMPT, type IdleAgent } from './idle-agent.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

interface Line {
  state: string;
  agent: string;
  id: string;
  pid: number | null;
  bytes: number;
  resume: string | null;
  cwd: string;
}

/** What the tests of sleep and wake ask, each in the sandbox of its own test. */
export const sleepIn = (sandbox: () => Sandbox) => {
  const sessions = async (): Promise<Line[]> => {
    const { stdout, code, stderr } = await reaptop(sandbox(), ['sessions', '--json']);
    if (code !== 0) throw new Error(stderr);
    return (JSON.parse(stdout) as { sessions: Line[] }).sessions;
  };
  return {
    sessions,
    stateOf: async ({ session }: IdleAgent): Promise<string[]> =>
      (await sessions()).filter(({ id }) => id === session).map(({ state }) => state),
    /** Who got a SIGTERM: the stand-in writes it down. */
    terms: (): string => {
      try {
        return readFileSync(sandbox().path('home/terms'), 'utf8');
      } catch {
        return '';
      }
    },
    slept: async (one: IdleAgent): Promise<string> => {
      const { stdout, stderr } = await reaptop(sandbox(), ['sleep', one.session.slice(0, 8), '--force']);
      await until('the prompt of its shell', () => AT_PROMPT.test(one.screen().trimEnd()));
      return stdout + stderr;
    },
    back: (one: IdleAgent): Promise<unknown> =>
      until('the conversation', () => one.screen().includes('resumed: true')),
  };
};
