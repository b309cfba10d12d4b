import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { JsonSnapshot } from '../../support/cli.ts';
import type { Stage } from './stage/stage.ts';
import { lasting } from './stage/table.ts';
import { identityOf } from './truth.ts';

/** A copy beside the bundle: somebody may build while scenes run. */
export const CLI = fileURLToPath(new URL('./dist/cli.js', import.meta.url));

export interface CleanResult extends JsonSnapshot {
  readonly plan: {
    readonly steps: readonly { pid: number; start: string; name: string }[];
    readonly refused: readonly { pid: number; start: string; why: string }[];
  };
  readonly outcomes?: readonly { pid: number; start: string; outcome: string; why: string | null }[];
}

/** Runs the product as the user of the scene would, in a shell of its own. */
export const reaptop = (
  stage: Stage,
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      env: stage.env,
      cwd: stage.path('work'),
      stdio: ['ignore', 'pipe', 'pipe'],
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
  });

/** A picture of a table that stood still meanwhile: what comes and goes in between cannot be compared. */
export const lookAtStillness = async (stage: Stage): Promise<JsonSnapshot> => {
  for (let tries = 0; ; tries++) {
    await stage.settled();
    const before = identities();
    const snapshot = await look(stage);
    if (identities() === before || tries === 10) return snapshot;
  }
};

const identities = (): string => lasting().map(identityOf).join();

export const look = async (stage: Stage): Promise<JsonSnapshot> => {
  const { code, stdout, stderr } = await reaptop(stage, '--once', '--json', '--all');
  if (code !== 0) throw new Error(`reaptop --once exited ${code}: ${stderr}`);
  return JSON.parse(stdout) as JsonSnapshot;
};

/** Without `force`: the plan, and nothing else. */
export const clean = async (stage: Stage, force: boolean): Promise<CleanResult> => {
  const args = ['clean', '--json', '--age-threshold', '0', force ? '--force' : '--dry-run'];
  const { stdout, stderr } = await reaptop(stage, ...args);
  try {
    return JSON.parse(stdout) as CleanResult;
  } catch (error) {
    throw new Error(`reaptop ${args.join(' ')}: ${stderr}`, { cause: error });
  }
};
