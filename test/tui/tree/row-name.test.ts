import { describe, expect, test } from 'vitest';
import type { AgentSession, JudgedProcess } from '../../../src/model/snapshot.ts';
import type { Screen } from '../../../src/tui/screen.ts';
import { INITIAL_VIEW } from '../../../src/tui/state.ts';
import { nameRuns } from '../../../src/tui/tree/row-name.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { glyphsFor } from '../../../src/tui/ui/glyphs.ts';
import { invent } from '../../judge/plan/machine.ts';

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

describe('a name carries', () => {
  const plain = (extra: Partial<Row> = {}): Row =>
    row('', null, { foldable: false, zombies: 0, hidden: 0, ...extra });
  const shown = (of: Row, room = 60, alone = true, view = INITIAL_VIEW): string[] =>
    nameRuns(of, room, alone, { glyphs, view })
      .filter(run => run.text !== '')
      .map(run => `${run.tone}: ${run.text}`);
  const named = (kind: JudgedProcess['kind']): JudgedProcess =>
    ({ name: 'x', kind, zombies: 0, session: null }) as unknown as JudgedProcess;

  test.each([
    ['agent', 'agent'],
    ['mcp', 'server'],
    ['lean-lsp', 'server'],
    ['lake', 'build'],
    ['lean', 'build'],
    ['wrapper', 'faint'],
    ['other', 'plain'],
  ] as const)('the colour of its kind: %s', (kind, tone) => {
    expect(shown(plain({ process: named(kind) }))).toEqual([`${tone}: x`]);
  });

  test('of a chain what that runs; faint where it ended or only leads to a match', () => {
    expect(shown(plain({ process: named('wrapper'), runs: named('mcp') }))).toEqual(['server: x']);
    expect(shown(plain({ process: named('mcp'), gone: true }))).toEqual(['faint: x']);
    expect(shown(plain({ process: named('mcp'), context: true }))).toEqual(['faint: x']);
  });

  test('its zombies and how many it stands for', () => {
    expect(shown(plain({ process: named('mcp'), zombies: 3, hidden: 4 }))).toEqual([
      'server: x',
      'warn:  Z×3',
      'faint:  ×5',
    ]);
  });

  test('that it matches what is searched for', () => {
    const view = { ...INITIAL_VIEW, search: 'p20' };
    const found = invent(20, 1, { kind: 'mcp' });
    expect(shown(plain({ process: found }), 60, true, view)).toEqual(['mark: p20']);
    expect(shown(plain({ process: invent(21, 1, { kind: 'mcp' }) }), 60, true, view)).toEqual([
      'server: p21',
    ]);
  });

  const beat = (state: string) =>
    ({ state, ageSeconds: 780, format: 'agent-progress' }) as unknown as Row['beat'];
  const busy = { ...WAITS, doing: 'busy' } as AgentSession;
  test('that it is silent, in place of what it does, unless it waits or a call of it hangs', () => {
    const silent = (session: AgentSession, state = 'critical'): string =>
      text(row('', session, { beat: beat(state), zombies: 0, hidden: 0 }), 60);
    expect(silent(busy)).toBe('▾ claude proofs silent 13m');
    expect(silent(busy, 'warn')).toBe('▾ claude proofs silent 13m');
    expect(silent(busy, 'fine')).toBe('▾ claude proofs  busy');
    expect(silent(WAITS)).toBe('▾ claude proofs  waits 12m silent 13m');
    const call = { tool: 'lean_goal', server: 'lean', hung: true, seconds: 780 };
    const hung = { ...busy, calls: [call] } as unknown as AgentSession;
    expect(silent(hung)).not.toContain('silent');
    expect(silent({ ...hung, calls: [{ ...call, hung: false }] } as unknown as AgentSession)).toContain(
      'silent',
    );
  });

  test('since when a call hangs, and as much of its name as there is room for', () => {
    const calls = [{ tool: 'lean_diagnostic_messages', server: 'lean', hung: true, seconds: 780 }];
    const hung = { ...busy, project: 'task-688', calls } as unknown as AgentSession;
    const at = (room: number): string =>
      text(row('', hung, { foldable: false, zombies: 0, hidden: 0 }), room);
    expect(at(60)).toMatch(/^claude task-688 {2}hung: lean_diagnostic_messages 13m$/);
    expect(at(34)).toMatch(/^claude\s+hung: lean_\S*… 13m$/);
    expect(at(34).length).toBeLessThanOrEqual(34);
    expect(at(16)).toBe('claude');
  });

  const group = (part: object, extra: Partial<Row> = {}): Row =>
    plain({
      process: null,
      count: 2,
      group: {
        title: 'session 5b1e9c40',
        note: 'ended',
        tone: 'leak',
        shown: 'row',
        ...part,
      } as Row['group'],
      ...extra,
    });
  test('of a group its title; of what a session left the note, where there is no column for it', () => {
    expect(shown(group({}, { zombies: 2 }))).toEqual([
      'leak: session 5b1e9c40',
      'warn:  Z×2',
      'faint:   ended',
    ]);
    expect(shown(group({}), 60, false)).toEqual(['leak: session 5b1e9c40']);
    expect(shown(group({ tone: 'server' }))).toEqual(['server: session 5b1e9c40']);
    expect(shown(group({}), 10, false)).toEqual(['leak: session 5…']);
    expect(shown(group({}, { foldable: true, folded: true }))[0]).toBe('faint: ▸ ');
  });

  test('of a heading how many are below it, spelled where there is room', () => {
    const heading = group({ shown: 'heading', tone: 'group', title: 'tmux main' }, { foldable: true });
    expect(shown(heading, 24)).toEqual(['group: ▾ ', 'group: tmux main', 'faint:   2 processes']);
    expect(shown(heading, 23)).toEqual(['group: ▾ ', 'group: tmux main', 'faint:   2']);
  });
});
