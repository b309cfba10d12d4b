import type { Severity } from '../model/finding.ts';

export interface SweepOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly retentionDays: number;
  readonly stillSeconds: number;
  readonly graceSeconds: number;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}
