import { describe, expect, test } from 'vitest';
import { helpContent } from '../../../src/tui/help/help.tsx';
import { keyName, keyNames } from '../../../src/tui/help/key-names.ts';
import { BINDINGS, CONTEXTS, type KeyContext } from '../../../src/tui/keys/bindings.ts';
import { INITIAL_VIEW } from '../../../src/tui/state.ts';
import { keyTable } from '../../support/key-table.ts';
import { standingDemo } from '../drive.ts';

const demo = await standingDemo();

const keyContext = (change: Partial<KeyContext['state']> = {}): KeyContext => {
  return {
    view: INITIAL_VIEW,
    state: { ...demo.live.getState(), ...change },
    row: null,
    targets: [],
    finding: null,
  };
};
const reason = (name: string, s: KeyContext): string | null =>
  BINDINGS.find(b => b.name === name)!.disabledReason!(s);

describe('the table of bindings', () => {
  test('within a context a key means one thing', () => {
    for (const context of CONTEXTS) {
      const keys = BINDINGS.filter(b => b.context === context).flatMap(b => b.keys);
      expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
    }
  });

  test('every binding has a description', () => {
    for (const b of BINDINGS) expect(b.description).not.toBe('');
  });

  test('help and the table of the manual tell every binding', () => {
    const help = helpContent(260, false)
      .map(line => line.map(r => r.text).join(''))
      .join('\n');
    const table = keyTable();
    for (const b of BINDINGS) {
      expect(help).toContain(b.description);
      expect(table).toContain(b.description);
    }
  });
});

test.each([
  ['ctrl-c', 'Ctrl-C', 'Ctrl-C'],
  ['shift-tab', 'Shift-Tab', 'Shift-Tab'],
  ['up', '↑', 'Up'],
  ['pageup', 'PgUp', 'PgUp'],
  ['x', 'x', 'x'],
])('%s is read as %s, and as %s without Unicode', (key, name, ascii) => {
  expect([keyName(key), keyName(key, false), keyName(key, true)]).toEqual([name, name, ascii]);
});

test('the table of the manual has one row for each binding, under its own context', () => {
  const rows = keyTable().split('\n').slice(2);
  expect(rows).toHaveLength(BINDINGS.length);
  expect(rows).toContain('| Main screen | `Ctrl-C` | quit with exit code 130, from anywhere |');
  expect(rows).toContain('| Help | `↑` `k` | scroll up |');
  const down = BINDINGS.find(({ name }) => name === 'page-down')!;
  expect([keyNames(down), keyNames(BINDINGS.find(({ name }) => name === 'up')!, true)]).toEqual([
    'PgDn Ctrl-F',
    'Up k',
  ]);
  expect(keyNames(BINDINGS.find(({ name }) => name === 'up')!)).toBe('↑ k');
});

describe('a key that cannot act says why', () => {
  test.each(['end-process', 'kill', 'clean', 'zombies', 'signal', 'pane'])('%s in a recorded table', name => {
    expect(reason(name, keyContext({ readOnly: 'A recorded table is read-only.' }))).toBe(
      'A recorded table is read-only.',
    );
  });

  test('x without a target, c without a leak, z without a zombie, u without a mark, o outside tmux', () => {
    const none = keyContext();
    const { snapshot } = none.state;
    const quiet = keyContext({
      snapshot: { ...snapshot, totals: { ...snapshot.totals, leaks: 0, zombies: 0 } },
    });
    expect(reason('end-process', none)).toMatch(/select a process/);
    expect(reason('clean', quiet)).toMatch(/Nothing to clean/);
    expect(reason('zombies', quiet)).toMatch(/no zombies/);
    expect(reason('unmark-all', none)).toMatch(/Nothing is marked/);
    expect(reason('pane', none)).toMatch(/not in a tmux pane/);
    expect(reason('clean', none)).toBeNull();
  });

  test('nothing new starts while a plan runs', () => {
    const running = {
      plan: { steps: [], refused: [], files: [], bytes: 0 },
      outcomes: [],
      done: false,
      summary: null,
    };
    expect(reason('clean', keyContext({ running }))).toMatch(/still running/);
  });
});
