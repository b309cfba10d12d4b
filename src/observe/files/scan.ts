import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { visible } from '../../model/text.ts';
import { FileTree } from './file-tree.ts';
import { patienceFor } from './patience.ts';

export interface FileScan {
  readonly readings: readonly Reading[];
  readonly warnings: readonly string[];
}

/** A snapshot is to be there within two seconds whatever a repository contains; judging what was read takes as long again. */
const ONE_LOOK = { cpu: 1300, wall: 8000 };

/** One look at every known file below the roots, for `--once`: no watcher, only the directories that can hold one. */
export const scanFiles = (roots: readonly string[], sources: readonly HeartbeatSource[]): FileScan => {
  const tree = new FileTree(sources);
  tree.setRoots(roots);
  tree.refresh(patienceFor(ONE_LOOK));
  const cut = tree.unfinished
    ? [`${roots.map(visible).join(', ')}: too many files to read at once; some heartbeats are left out.`]
    : [];
  return { readings: tree.readings(), warnings: [...tree.warnings(), ...cut] };
};
