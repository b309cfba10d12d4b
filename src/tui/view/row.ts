import type { Heartbeat } from '../../model/heartbeat.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Group, Grouping } from './row-groups.ts';
import type { SortId } from './row-sort.ts';

/** How a row hangs in the tree, one letter per level: `I` a line passes, blank none, `T` a branch, `L` the last one. */
export type Trail = string;

export interface Row {
  /** Of the process's identity, or of the group: survives refreshes. */
  readonly key: string;
  readonly process: JudgedProcess | null;
  readonly group: Group | null;
  readonly trail: Trail;
  readonly foldable: boolean;
  readonly folded: boolean;
  /** Processes in this row's subtree, itself included. */
  readonly count: number;
  readonly treeBytes: number;
  readonly beat: Heartbeat | null;
  /** Its parent's row has the same verdict: the reason stands there, once. */
  readonly inherits: boolean;
  /** Shown only because something below it matches the filter. */
  readonly context: boolean;
  /** It is there no more, and stays only because it is selected. */
  readonly gone?: boolean;
}

export interface RowOptions {
  readonly folded: ReadonlySet<string>;
  readonly filter: string;
  readonly sort: SortId;
  readonly all: boolean;
  /** What the rows are gathered by; default: tmux. */
  readonly grouping?: Grouping;
  /** The sort turned round. */
  readonly reversed?: boolean;
}
