import type { JudgedProcess } from '../../model/snapshot.ts';

/** A process and what hangs below it; the figures are of the whole subtree. */
export interface Branch {
  readonly key: string;
  readonly process: JudgedProcess;
  readonly children: Branch[];
  bytes: number;
  cpu: number;
  count: number;
}
