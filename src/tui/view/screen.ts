import type { LiveState, MemoryPoint } from '../../live/live.ts';
import type { IdentityKey } from '../../model/identity.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Glyphs } from '../look/glyphs.ts';
import type { Theme } from '../look/theme.ts';
import type { Layout } from './layout.ts';
import type { Row } from './row.ts';
import type { ViewState } from './state.ts';

/** All that a component may look at: nothing on the screen has other state. */
export interface Screen {
  readonly state: LiveState;
  /** The frozen one while frozen, else the latest. */
  readonly snapshot: Snapshot;
  readonly view: ViewState;
  readonly rows: readonly Row[];
  readonly layout: Layout;
  readonly glyphs: Glyphs;
  readonly theme: Theme;
  /** PSS of the selected process, once it has been read. */
  readonly pss: number | null;
  history(key: IdentityKey): readonly MemoryPoint[];
  /** Of an agent and all below it, since it was first seen. */
  course(key: IdentityKey): readonly MemoryPoint[];
}

/** Where components read the screen from: replaced as a whole when something may look different. */
export interface ScreenStore {
  subscribe(listener: () => void): () => void;
  getScreen(): Screen;
}

export const selectedRow = ({ rows, view }: Pick<Screen, 'rows' | 'view'>): Row | null => {
  const there = rows[view.selectedIndex];
  if (there?.key === view.selected) return there;
  return rows.find(row => row.key === view.selected) ?? null;
};
