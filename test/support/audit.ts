import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './sandbox.ts';

export interface AuditEntry {
  readonly pid: number;
  readonly start: string;
  readonly outcome?: string;
  readonly pss?: number | null;
}

export interface AuditLine {
  readonly event: 'intent' | 'outcome';
  readonly id: string;
  readonly by: string;
  readonly note?: string | null;
  readonly completedBy?: { readonly pid: number } | null;
  readonly plan?: { readonly steps: readonly AuditEntry[] };
  readonly outcomes?: readonly AuditEntry[];
  readonly sessions: readonly unknown[];
  readonly files?: readonly { readonly outcome: string }[];
}

export const stateFile = (sandbox: Sandbox, name: string): string =>
  join(sandbox.home, '.local/state/reaptop', name);

/** Every line of the sandbox's audit log; none when there is no log yet. */
export const auditLines = (sandbox: Sandbox): readonly AuditLine[] => {
  let text: string;
  try {
    text = readFileSync(stateFile(sandbox, 'audit.jsonl'), 'utf8');
  } catch {
    return []; // nothing was done yet
  }
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as AuditLine);
};
