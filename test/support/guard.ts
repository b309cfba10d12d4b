import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stateFile } from './audit.ts';
import { CLI, snapshotOf } from './cli.ts';
import { isRunning, pidsWithEnv } from './proc.ts';
import { MARK, type Sandbox, type StartOptions } from './sandbox.ts';
import { until } from './until.ts';

/** Sightings a moment apart and leaks of any age: a test cannot wait a minute. Everything else as it ships. */
const QUICK = { sightingSeconds: 0.5, minimumAgeSeconds: 0 } as const;

export interface GuardProcess {
  readonly pid: number;
  readonly start: string;
  readonly child: ChildProcess;
  /** Everything it said so far. */
  readonly said: () => string;
}

export interface GuardSetting extends StartOptions {
  readonly policy?: Record<string, unknown>;
  readonly args?: readonly string[];
  /** It was looked already whether leaks of others are about. */
  readonly trusting?: boolean;
}

/** Leaks of others on this machine would be cleared too: then nothing is started. */
const refuseBesideOthers = async (sandbox: Sandbox): Promise<void> => {
  const ours = new Set(pidsWithEnv(`${MARK}=${sandbox.mark}`));
  const { processes } = await snapshotOf(sandbox);
  const foreign = processes.filter(p => p.verdict === 'leak' && !ours.has(p.pid));
  if (foreign.length > 0)
    throw new Error(`Leaks of others are on this machine (${foreign.map(p => p.pid)}): no guard.`);
};

/** A guard of this sandbox that has finished its first look. */
export const startGuard = async (
  sandbox: Sandbox,
  { policy = {}, args = [], trusting = false, ...options }: GuardSetting = {},
): Promise<GuardProcess> => {
  if (!trusting) await refuseBesideOthers(sandbox);
  const config = sandbox.write('guard-config.json', JSON.stringify({ policy: { ...QUICK, ...policy } }));
  const { pid, start, child } = sandbox.start(
    [process.execPath, CLI, 'guard', '--config', config, '--interval', '0.3', '--grace', '1', ...args],
    { stdio: 'pipe', ...options },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return { pid, start, child, said: () => said };
};

interface LatestFile {
  readonly takenAt: number;
  readonly guard: {
    readonly writer: { readonly pid: number };
    readonly acts: readonly { text: string }[];
    readonly held: { why: string } | null;
  };
  readonly totals: Record<string, number>;
}

export const latest = (sandbox: Sandbox): LatestFile | null => {
  try {
    return JSON.parse(readFileSync(stateFile(sandbox, 'latest.json'), 'utf8')) as LatestFile;
  } catch {
    return null; // not yet
  }
};

/** Waits for a look that began after this call, by this guard. */
export const lookOf = async (sandbox: Sandbox, guard: GuardProcess): Promise<LatestFile> => {
  const from = Date.now();
  return until(`a look of guard ${guard.pid}: ${guard.said()}`, () => {
    const now = latest(sandbox);
    return now !== null && now.guard.writer.pid === guard.pid && now.takenAt > from ? now : null;
  });
};

export const stopGuard = async (
  guard: GuardProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<number | null> => {
  const ended = new Promise<number | null>(resolve => guard.child.once('exit', code => resolve(code)));
  if (!isRunning(guard.pid, guard.start)) return guard.child.exitCode;
  guard.child.kill(signal);
  return ended;
};
