import { describe, expect, test } from 'vitest';
import { helpContent } from '../../../src/tui/content/help.ts';
import { ACTIONS } from '../../../src/tui/keys/actions.ts';
import { CONTEXTS } from '../../../src/tui/keys/context.ts';
import { BINDINGS, type Situation } from '../../../src/tui/keys/keymap.ts';
import { keyTableMarkdown } from '../../../src/tui/keys/table.ts';
import { INITIAL_VIEW } from '../../../src/tui/view/state.ts';
import { standingDemo } from '../drive.ts';

const demo = await standingDemo();

const situation = (change: Partial<Situation['state']> = {}): Situation => {
  return {
    view: INITIAL_VIEW,
    state: { ...demo.live.getState(), ...change },
    row: null,
    targets: [],
    finding: null,
  };
};
const reason = (name: string, s: Situation): string | null =>
  BINDINGS.find(b => b.name === name)!.disabledReason!(s);

describe('the table of bindings', () => {
  test('within a context a key means one thing', () => {
    for (const context of CONTEXTS) {
      const keys = BINDINGS.filter(b => b.context === context).flatMap(b => b.keys);
      expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
    }
  });

  test('every binding has an action and a description', () => {
    for (const b of BINDINGS) {
      expect(ACTIONS[b.name]).toBeTypeOf('function');
      expect(b.description).not.toBe('');
    }
  });

  test('help and the README table tell every binding', () => {
    const help = helpContent(200, false)
      .map(line => line.map(r => r.text).join(''))
      .join('\n');
    const table = keyTableMarkdown();
    for (const b of BINDINGS) {
      expect(help).toContain(b.description);
      expect(table).toContain(b.description);
    }
  });
});

describe('a key that cannot act says why', () => {
  test.each(['end-process', 'kill', 'clean', 'zombies', 'signal', 'pane'])('%s in a recorded table', name => {
    expect(reason(name, situation({ readOnly: 'A recorded table is read-only.' }))).toBe(
      'A recorded table is read-only.',
    );
  });

  test('x without a target, c without a leak, z without a zombie, u without a mark, o outside tmux', () => {
    const none = situation();
    const { snapshot } = none.state;
    const quiet = situation({
      snapshot: { ...snapshot, totals: { ...snapshot.totals, leaks: 0, zombies: 0 } },
    });
    expect(reason('end-process', none)).toMatch(/select a process/);
    expect(reason('clean', quiet)).toMatch(/nothing to clean/);
    expect(reason('zombies', quiet)).toMatch(/No zombies/);
    expect(reason('unmark-all', none)).toMatch(/Nothing is marked/);
    expect(reason('pane', none)).toMatch(/named a pane for this row/);
    expect(reason('clean', none)).toBeNull();
  });

  test('nothing new starts while a plan runs', () => {
    const running = {
      plan: { steps: [], refused: [], files: [], bytes: 0 },
      outcomes: [],
      done: false,
      summary: null,
    };
    expect(reason('clean', situation({ running }))).toMatch(/still running/);
  });
});
