import { describe, expect, test } from 'vitest';
import { onceText } from '../../src/commands/once.ts';
import { treeRows } from '../../src/tui/tree/rows.ts';
import { type Row, world } from '../support/world.ts';

/** A script that starts itself makes such a chain in seconds. */
const DEEP = 12_000;
const CLAUDE = 200;
const OPTIONS = { folded: new Set<string>(), filter: '', sort: 'start', all: false } as const;

/** Below an agent, each the parent of the next; the kernel hands out pids from below again once they ran out. */
const chain = (pidAt: (place: number) => number): readonly Row[] => [
  [CLAUDE, 1, 'claude', { tty: 'pts/0' }],
  ...Array.from(
    { length: DEEP },
    (_, at): Row => [
      pidAt(at),
      at === 0 ? CLAUDE : pidAt(at - 1),
      'bash ./again.sh',
      { start: `${90_000_000 + at}`, born: 90_000 },
    ],
  ),
];

describe.each([
  ['parents first', (at: number) => 1000 + at],
  ['children first', (at: number) => 1000 + DEEP - at],
])('a chain of %s that is deeper than the stack', (_, pidAt) => {
  const { snapshot } = world(chain(pidAt));
  const last = pidAt(DEEP - 1);

  test('is judged, and told by --once', () => {
    expect(snapshot.totals.related).toBe(DEEP + 1);
    expect(onceText(snapshot, { width: 80, color: false })).toContain(`${last}`);
  });

  test('is a tree on the screen, whole and filtered', () => {
    const rows = treeRows(snapshot, OPTIONS);
    expect(rows.find(row => row.process?.facts.pid === CLAUDE)!.count).toBe(DEEP + 1);
    expect(rows.at(-1)!.process!.facts.pid).toBe(last);
    expect(treeRows(snapshot, { ...OPTIONS, filter: `${last}` })).toHaveLength(rows.length);
  });
});
