import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { FileTree } from './file-tree.ts';

export interface FileScan {
  readonly readings: readonly Reading[];
  readonly warnings: readonly string[];
}

/** One look at every known file below the roots, for `--once`: no watcher, only the directories that can hold one. */
export const scanFiles = (roots: readonly string[], sources: readonly HeartbeatSource[]): FileScan => {
  const tree = new FileTree(sources);
  tree.setRoots(roots);
  tree.refresh();
  return { readings: tree.readings(), warnings: tree.warnings() };
};
