import { describe, expect, test } from 'vitest';
import type { AgentSession, JudgedProcess } from '../../../src/model/snapshot.ts';
import type { Screen } from '../../../src/tui/screen.ts';
import { INITIAL_VIEW } from '../../../src/tui/state.ts';
import { nameRuns } from '../../../src/tui/tree/row-name.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { glyphsFor } from '../../../src/tui/ui/glyphs.ts';

const glyphs = glyphsFor({ LANG: 'C.UTF-8', TERM: 'xterm-256color' });
const screen = { glyphs, view: INITIAL_VIEW } as Screen;

const WAITS: AgentSession = {
  id: null,
  project: 'proofs',
  name: null,
  doing: 'waiting',
  waitingFor: null,
  seconds: 720,
};

const row = (trail: string, session: AgentSession | null, extra: Partial<Row> = {}): Row => ({
  ...({ folded: false, foldable: true, count: 4, beat: null, group: null } as unknown as Row),
  trail,
  process: { name: session ? 'claude' : 'lean-lsp-mcp', kind: 'agent', zombies: 0, session } as JudgedProcess,
  ...extra,
});

/** What 60 columns leave for a name. */
const ROOM = 26;
const text = (shown: Row, room = ROOM, alone = true): string =>
  nameRuns(shown, room, alone, screen)
    .map(run => run.text)
    .join('');

describe('in a side pane, which session it is and what it does', () => {
  test.each(['', 'L', ' L', '  L', 'I  T', ' I I I I I L'])('is whole below the trail %j', trail => {
    expect(text(row(trail, WAITS))).toMatch(/^([└├]|[└├] )?▾ claude proofs {1,2}waits 12m$/);
    expect(text(row(trail, WAITS, { foldable: false }))).toMatch(/[└├]? ?claude proofs {1,2}waits 12m$/);
    expect(text(row(trail, WAITS)).length).toBeLessThanOrEqual(ROOM);
  });

  test('leaves as much of the trail as there is room for', () => {
    expect(text(row('  L', WAITS))).toBe('└▾ claude proofs waits 12m');
    expect(text(row('  L', WAITS, { foldable: false }))).toBe('└ claude proofs  waits 12m');
    expect(text(row('  L', WAITS, { foldable: false }), 40)).toBe('    └ claude proofs  waits 12m');
  });

  test('where even that is too narrow, the project is cut and what it does is not', () => {
    const long = { ...WAITS, project: 'sphere-packing' };
    expect(text(row('  L', long))).toMatch(/claude sphe\S*… waits 12m$/);
  });
});

test('other names keep a step of the trail, and twelve cells', () => {
  expect(text(row('       L', null))).toMatch(/└ ▾ lean-lsp-/);
  expect(text(row('       L', null), 12)).toMatch(/^└ /);
});

test('where what it does has a column of its own, the trail is not shortened for it', () => {
  expect(text(row('  L', WAITS), ROOM, false)).toBe('    └ ▾ claude');
});
