import type { Collector } from '../collect/collector.ts';
import { sampleWhole } from '../collect/sample-twice.ts';
import { atLeast, type Severity } from '../model/finding.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { showableJson } from '../model/text.ts';
import { EXIT_FAIL_ON } from './exit-codes.ts';
import { snapshotJson } from './json.ts';
import { onceText } from './once-text.ts';

export interface OnceOptions {
  readonly all: boolean;
  readonly json: boolean;
  readonly width: number;
  readonly color: boolean;
  readonly failOn: Severity | null;
}

export interface Output {
  write(text: string): void;
}

/** One snapshot to stdout. */
export const once = async (collector: Collector, options: OnceOptions, out: Output): Promise<number> =>
  showSnapshot(await sampleWhole(collector, options.all), options, out);

export const showSnapshot = (snapshot: Snapshot, options: OnceOptions, out: Output): number => {
  out.write(
    options.json
      ? `${showableJson(JSON.stringify(snapshotJson(snapshot), null, 2))}\n`
      : onceText(snapshot, options),
  );
  return failOnCode(snapshot, options.failOn);
};

/** `--fail-on`: 3 when a finding is at least that bad, else 0. */
export const failOnCode = (snapshot: Snapshot, failOn: Severity | null): number =>
  failOn !== null && snapshot.findings.some(finding => atLeast(finding.severity, failOn)) ? EXIT_FAIL_ON : 0;
