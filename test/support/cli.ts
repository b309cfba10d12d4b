import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { shellLine } from '../../src/model/shell.ts';
import type { Sandbox } from './sandbox.ts';

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The program as a shell is to read it, wherever the clone lies. */
export const REAPTOP = shellLine([process.execPath, CLI]);

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | Buffer;
}

/** Runs the built program as a user would, in the sandbox's own HOME. */
export const reaptop = (
  sandbox: Sandbox,
  args: readonly string[],
  { env, cwd, input }: CliOptions = {},
): Promise<CliResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...sandbox.env, ...env },
      cwd: cwd ?? sandbox.path('work'),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', code => resolve({ code, stdout, stderr }));
    // The program may exit before it has read everything: a closed pipe is its right.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });

/** One process of the JSON output. */
export interface JsonProcess {
  pid: number;
  start: string;
  ppid: number | null;
  kind: string;
  agent: string | null;
  name: string;
  command: string;
  verdict: string;
  why: string[];
  protection: string | null;
  zombies: number;
  state: string;
  owner: { pid: number | null; sessionId: string | null; how: string; alive: boolean } | null;
  tmux: { socket: string; session: string; pane: string } | null;
  session: {
    doing: string | null;
    calls: { tool: string; pid: number | null; subagent: boolean; hung: boolean }[];
  } | null;
}

export interface JsonSnapshot {
  schema: number;
  totals: Record<string, number>;
  warnings: string[];
  processes: JsonProcess[];
  findings: {
    id: string;
    severity: string;
    title: string;
    why: string;
    processes: { pid: number; start: string }[];
  }[];
}

export const snapshotOf = async (
  sandbox: Sandbox,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<JsonSnapshot> => {
  const { code, stdout, stderr } = await reaptop(sandbox, ['--once', '--json', ...args], options);
  if (code !== 0) throw new Error(`reaptop exited ${code}: ${stderr}`);
  return JSON.parse(stdout) as JsonSnapshot;
};
