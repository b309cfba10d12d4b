import type { Collector } from '../engine/collector.ts';
import { atLeast, type Severity } from '../model/finding.ts';
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

export const EXIT_FAIL_ON = 3;

/** One snapshot to stdout. */
export const once = async (collector: Collector, options: OnceOptions, out: Output): Promise<number> => {
  const snapshot = await collector.collect({ all: options.all });
  out.write(
    options.json ? `${JSON.stringify(snapshotJson(snapshot), null, 2)}\n` : onceText(snapshot, options),
  );
  const { failOn } = options;
  return failOn !== null && snapshot.findings.some(finding => atLeast(finding.severity, failOn))
    ? EXIT_FAIL_ON
    : 0;
};
