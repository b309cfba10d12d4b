import type { Severity } from '../model/finding.ts';
import type { Kind } from '../model/kind.ts';

export interface CleanOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly ageThresholdMinutes: number;
  readonly graceSeconds: number;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly kinds: readonly Kind[];
  readonly suspects: boolean;
  readonly pids: readonly { readonly pid: number; readonly start?: string }[];
  readonly zombieParents: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}
