import type { Linking } from '../../model/forest.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';

/** A process and what hangs below it; the figures are of the whole subtree. */
export interface Branch extends Linking<Branch> {
  readonly key: string;
  readonly process: JudgedProcess;
  children: Branch[];
  bytes: number;
  cpu: number;
  count: number;
}
