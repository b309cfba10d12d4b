import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Screen } from '../../src/tui/screen.ts';
import { INITIAL_VIEW } from '../../src/tui/state.ts';
import { glyphsFor } from '../../src/tui/ui/glyphs.ts';
import { layoutFor } from '../../src/tui/ui/layout.ts';
import { snapshotOf } from '../judge/plan/machine.ts';

/** All that a component may look at, of a machine on which nothing runs. */
export const screenOf = (part: Partial<Screen> = {}, columns = 100, rows = 30): Screen => {
  const snapshot = snapshotOf([]);
  return {
    state: { snapshot, config: DEFAULT_CONFIG, running: null } as unknown as Screen['state'],
    snapshot,
    view: INITIAL_VIEW,
    rows: [],
    layout: layoutFor({ columns, rows }, false),
    glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }),
    theme: {} as Screen['theme'],
    pss: null,
    history: () => [],
    treeHistory: () => [],
    ...part,
  };
};
