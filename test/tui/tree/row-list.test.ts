import { describe, expect, test } from 'vitest';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { JudgedProcess, Owner, Snapshot } from '../../../src/model/snapshot.ts';
import { selectedRow } from '../../../src/tui/screen.ts';
import { INITIAL_VIEW, type ViewState } from '../../../src/tui/state.ts';
import { matcher, type Row, type RowOptions, SORTS, type SortId } from '../../../src/tui/tree/row-order.ts';
import { foldsAbove, parentIndex, place, RowList, treeRows, windowTop } from '../../../src/tui/tree/rows.ts';
import { id, invent, PIPED, snapshotOf } from '../../judge/plan/machine.ts';

const OPTIONS: RowOptions = { folded: new Set(), filter: '', sort: 'start', all: false };
const key = (pid: number): string => keyOf(id(pid));
const rowsOf = (snapshot: Snapshot, change: Partial<RowOptions> = {}): readonly Row[] =>
  treeRows(snapshot, { ...OPTIONS, ...change });
const pidsOf = (rows: readonly Row[]): number[] => rows.flatMap(row => row.process?.facts.pid ?? []);
const rowAt = (rows: readonly Row[], pid: number): Row => rows.find(row => row.key === key(pid))!;
const cwd = (path: string) => ({ details: { ...PIPED, cwd: path } });
const agent = (pid: number, ppid: number, path: string): JudgedProcess =>
  invent(pid, ppid, {
    kind: 'agent',
    verdict: 'live',
    session: { id: null, project: null, name: null, doing: null, waitingFor: null, seconds: null },
    facts: cwd(path),
  });

const ENDED: Owner = { pid: null, start: null, sessionId: 'ended', how: 'environ', alive: false };

/** What a session left: 20 → 21 → 22 with a suspect at its end, and 23 beside 21. */
const CHAIN = snapshotOf([
  invent(20, 1, { owner: ENDED }),
  invent(21, 20),
  invent(22, 21, { verdict: 'suspect' }),
  invent(23, 20),
]);

describe('a row of the tree', () => {
  test('can be folded where something is below it, and is folded only then', () => {
    const rows = rowsOf(CHAIN, { folded: new Set([key(21), key(23)]) });
    expect(rows.map(({ foldable, folded }) => [foldable, folded])).toEqual([
      [true, false],
      [true, false],
      [true, true],
      [false, false],
    ]);
    expect(pidsOf(rows)).toEqual([20, 21, 23]);
  });

  test('leaves the reason to its parent where that has the same verdict', () => {
    expect(rowsOf(CHAIN).map(row => row.inherits)).toEqual([false, false, true, false, true]);
  });

  test('is context where only something below it matches; a heading is none and has its sums', () => {
    const [heading, ...found] = rowsOf(CHAIN, { filter: 'suspect' });
    expect(found.map(row => [row.process!.facts.pid, row.context])).toEqual([
      [20, true],
      [21, true],
      [22, false],
    ]);
    expect(rowsOf(CHAIN, { filter: 'suspect', folded: new Set([key(22)]) }).at(-1)!.foldable).toBe(false);
    expect(heading).toMatchObject({ foldable: true, inherits: false, context: false, count: 4 });
    expect(heading!.treeBytes).toBe(1020 + 1021 + 1022 + 1023);
  });

  test('stands alone in the flat list, with its own heartbeat', () => {
    const beat = { agent: id(22), state: 'warn', operation: null } as unknown as Heartbeat;
    const rows = rowsOf({ ...CHAIN, heartbeats: [beat] }, { grouping: 'flat', filter: 'p22' });
    expect(rows).toEqual([expect.objectContaining({ key: key(22), folded: false, context: false, beat })]);
    expect(rowsOf(CHAIN, { grouping: 'flat' })[0]!.beat).toBeNull();
  });
});

describe('a process without a parent on the screen', () => {
  test('PID 1 and a tmux server hold nothing: all below them are gathered by what they are', () => {
    const all = rowsOf(
      snapshotOf([
        invent(1, 0, { verdict: 'protected', related: false }),
        invent(2, 1, { verdict: 'protected', related: false, facts: { kernelThread: true } }),
        invent(10, 1, { kind: 'tmux', verdict: 'live' }),
        invent(20, 1, { owner: ENDED }),
        invent(30, 10, { verdict: 'live' }),
      ]),
      { all: true },
    );
    expect(all.map(row => row.group?.title ?? row.process!.facts.pid)).toEqual([
      'session ended',
      20,
      'outside tmux',
      10,
      30,
      'everything else',
      1,
      'kernel threads',
      2,
    ]);
    expect(all.every(row => row.trail.length <= 1)).toBe(true);
  });
});

describe('the heartbeat of a row', () => {
  const beat = (state: Heartbeat['state'], operation: string | null, pid: number | null = 20): Heartbeat =>
    ({ state, operation, agent: pid === null ? null : id(pid) }) as unknown as Heartbeat;
  const shown = (...heartbeats: Heartbeat[]) => rowAt(rowsOf({ ...CHAIN, heartbeats }), 20).beat;

  test('is the worst, whichever comes first', () => {
    const [bad, warn, fine] = [beat('critical', null), beat('warn', 'a'), beat('fine', 'b')];
    expect(shown(fine!, bad!, warn!)).toBe(bad);
    expect(shown(bad!, warn!, fine!)).toBe(bad);
    expect(shown(fine!, warn!)).toBe(warn);
  });

  test('prefers the format with more detail, else the first', () => {
    const of = (format: Heartbeat['format']): Heartbeat => ({ ...beat('warn', null), format });
    const [stream, progress, other] = [of('stream-log'), of('agent-progress'), of('agent-progress')];
    expect(shown(stream, progress)).toBe(progress);
    expect(shown(progress, stream)).toBe(progress);
    expect(shown(progress, other)).toBe(progress);
    expect(shown(stream, { ...progress, state: 'fine' })).toBe(stream);
  });

  test('is none when its file is left over', () => {
    expect(shown(beat('leftover', 'a'))).toBeNull();
  });

  test('is none where no file speaks of it', () => {
    expect(shown(beat('critical', 'a', null), beat('critical', 'a', 21))).toBeNull();
  });
});

describe('the heading of a tmux session', () => {
  const SOCKET = '/tmp/tmux-1000/default';
  const pane = (session: string, attached: boolean) => ({ session, attached });
  const note = (panes: readonly object[], socket = SOCKET, serverSocket = socket) => {
    const process = invent(20, 1, {
      verdict: 'live',
      tmux: { socket, session: 'main', window: '0', pane: '%1' } as never,
    });
    const servers = [
      { socket: '/tmp/other', panes: [pane('main', true), pane('main', true), pane('main', true)] },
      { socket: serverSocket, panes },
    ];
    const group = rowsOf(snapshotOf([process], { tmux: servers as never }))[0]!.group!;
    expect(group).toMatchObject({ key: `tmux:${socket}:main`, title: 'tmux main', tone: 'group' });
    return group.note;
  };

  test('says how many panes it has, and that no terminal shows it', () => {
    expect(note([pane('main', true), pane('other', true)])).toBe('');
    expect(note([pane('main', false), pane('other', true)])).toBe('detached');
    expect(note([pane('main', false), pane('main', true)])).toBe('2 panes');
    expect(note([pane('main', false), pane('main', false)])).toBe('2 panes, detached');
  });

  test('names a socket that is not the default, and says nothing of panes it was not told', () => {
    expect(note([pane('main', false)], '/run/user/1000/work')).toBe('socket work, detached');
    expect(note([], SOCKET)).toBe('');
    expect(note([pane('main', false)], SOCKET, '/run/gone')).toBe('');
  });
});

describe('by project', () => {
  const grouped = (...processes: JudgedProcess[]) =>
    rowsOf(snapshotOf(processes), { grouping: 'project' }).map(row =>
      row.group
        ? `${row.group.title} ${row.count}`
        : `${row.process!.facts.pid} ${row.count} ${row.treeBytes}`,
    );
  const shell = invent(20, 1, { verdict: 'live', facts: { rss: 1 } });
  const small = (process: JudgedProcess): JudgedProcess => ({
    ...process,
    facts: { ...process.facts, rss: 10 },
  });

  test('agents of one shell go to their own projects, however deep, and the sums follow', () => {
    const [a, b, c] = [agent(30, 20, '/w/a'), agent(41, 40, '/w/b'), agent(42, 40, '/w/a')].map(small);
    const between = small(invent(40, 20, { verdict: 'live' }));
    expect(grouped(shell, a!, between, b!, c!)).toEqual([
      'a 4',
      '20 4 31',
      '30 1 10',
      '40 2 20',
      '42 1 10',
      'b 1',
      '41 1 10',
    ]);
  });

  test('a chain of thousands is deeper than the stack, and is gathered all the same', () => {
    const chain = Array.from({ length: 10_000 }, (_, n) =>
      invent(1000 + n, n === 0 ? 1 : 999 + n, { verdict: 'live' }),
    );
    const agents = [agent(20_000, 10_999, '/w/a'), agent(20_001, 10_999, '/w/b')];
    const shown = grouped(...chain, ...agents);
    expect([shown.length, shown[0], shown.at(-2)]).toEqual([10_004, 'a 10001', 'b 1']);
  });

  test('an agent below an agent stays with it; nobody who says where it works is no project', () => {
    const [a, b] = [agent(30, 20, '/w/a'), agent(31, 30, '/w/b')].map(small);
    expect(grouped(shell, a!, b!)).toEqual(['a 3', '20 3 21', '30 2 20', '31 1 10']);
    expect(grouped(shell)).toEqual(['no project 1', '20 1 1']);
    expect(grouped(small(agent(30, 1, '/')))).toEqual(['/ 1', '30 1 10']);
  });
});

describe('the filter', () => {
  const process = invent(1234, 1, {
    name: 'Server',
    command: 'server --run',
    agent: 'claude' as never,
    verdict: 'live',
    tmux: { session: 'main', pane: '%7' } as never,
    facts: cwd('/Work/Proofs'),
  });
  const plain = invent(77, 1, { verdict: 'live' });
  const matches = (filter: string, of = process) => matcher(filter)!(of);

  test.each(['server', 'SERVER', 'claude', 'live', 'main', '%7', 'work/proofs', '--run', '12', ' live  12 '])(
    '"%s" is found',
    filter => expect(matches(filter)).toBe(true),
  );

  test.each(['234', '34', 'x12', '12x', 'live absent', 'protected', 'zombie', 'stryker'])(
    '"%s" is not',
    filter => expect(matches(filter)).toBe(false),
  );

  test('protected and zombie are words to look for', () => {
    expect(matches('protected', { ...plain, protection: 'soft' })).toBe(true);
    expect(matches('zombie', { ...plain, zombies: 1 })).toBe(true);
    expect(matches('claude', plain)).toBe(false);
  });

  test('blanks alone are no filter', () => {
    expect([matcher(''), matcher(' \t ')]).toEqual([null, null]);
  });
});

describe('the orders', () => {
  const MEBI = 1024 ** 2;
  const one = (pid: number, born: number, rss: number, cpu: number, name: string) =>
    invent(pid, 1, { name, owner: ENDED, facts: { born, rss: rss * MEBI, cpu } });
  const machine = snapshotOf([
    one(50, 3, 100, 11, 'c'),
    one(40, 1, 101, 9, 'b'),
    one(60, 1, 300, 90, 'a'),
    one(30, 2, 0, 0, 'd'),
    invent(31, 30, { facts: { rss: 310 * MEBI, born: 5 } }),
  ]);
  const tops = (sort: SortId, change: Partial<RowOptions> = {}) =>
    pidsOf(rowsOf(machine, { sort, ...change })).filter(pid => pid !== 31);

  test.each<[SortId, number[], number[]]>([
    ['start', [40, 60, 30, 50], [50, 30, 60, 40]],
    ['newest', [50, 30, 60, 40], [40, 60, 30, 50]],
    // 100M and 101M, 9 % and 11 %, 300M and 310M are alike: rows do not change places for so little.
    ['memory', [60, 40, 50, 30], [30, 40, 50, 60]],
    ['tree', [60, 30, 40, 50], [40, 50, 60, 30]],
    ['cpu', [60, 40, 50, 30], [30, 40, 50, 60]],
    ['name', [60, 40, 50, 30], [30, 50, 40, 60]],
    ['pid', [30, 40, 50, 60], [60, 50, 40, 30]],
  ])('by %s', (sort, order, reversed) => {
    expect(tops(sort)).toEqual(order);
    expect(tops(sort, { reversed: true })).toEqual(reversed);
  });

  test('all are there', () => expect(SORTS).toHaveLength(7));

  test.each<[SortId, number[]]>([
    ['memory', [60, 40, 50, 30]],
    ['tree', [30, 60, 40, 50]],
    ['cpu', [60, 50, 40, 30]],
    ['name', [60, 40, 50, 30]],
  ])('of a flat list by %s is exact', (sort, order) => {
    expect(tops(sort, { grouping: 'flat' })).toEqual(order);
  });
});

describe('the list of rows', () => {
  const view = (change: Partial<ViewState> = {}): ViewState => ({ ...INITIAL_VIEW, level: 3, ...change });

  test('is the same until the machine or what is asked of it changes', () => {
    const list = new RowList();
    const first = list.of(CHAIN, view());
    expect(pidsOf(first)).toEqual([20, 21, 22, 23]);
    expect(list.of(CHAIN, view({ selected: key(22), top: 3 }))).toBe(first);
    expect(list.of({ ...CHAIN }, view())).not.toBe(first);
    expect(pidsOf(list.of(CHAIN, view({ filter: 'p23' })))).toEqual([20, 23]);
    expect(pidsOf(list.of(CHAIN, view({ sort: 'newest' })))).toEqual([20, 23, 21, 22]);
  });

  test('keeps the selected row that ended until another is selected', () => {
    const list = new RowList();
    const without = snapshotOf(CHAIN.processes.filter(({ facts }) => facts.pid !== 23));
    list.of(CHAIN, view({ selected: key(23) }));
    const kept = list.of(without, view({ selected: key(23) }));
    expect(rowAt(kept, 23).gone).toBe(true);
    expect(list.of(without, view({ selected: key(23) }))).toBe(kept);
    expect(pidsOf(list.of(without, view({ selected: key(20) })))).toEqual([20, 21, 22]);
  });

  test('does not slide from what leaked to the suspects of the same session', () => {
    const list = new RowList();
    const nohup = invent(40, 1, { owner: ENDED, verdict: 'suspect' });
    const selected = `left:${key(20)}`;
    const both = list.of(snapshotOf([invent(20, 1, { owner: ENDED }), nohup]), view({ selected, level: 2 }));
    expect(both.map(row => row.group?.tone)).toEqual(['leak', 'suspect']);
    const after = list.of(snapshotOf([nohup]), view({ selected, level: 2 }));
    expect(after.map(row => [row.key === selected, row.gone === true])).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('a suspect that is proven leaked keeps its row', () => {
    const keys = (['suspect', 'leak'] as const).map(
      verdict => rowsOf(snapshotOf([invent(20, 1, { owner: ENDED, verdict })]))[0]!.key,
    );
    expect(keys[0]).toBe(keys[1]);
  });

  test('keeps nothing that the user filtered or folded away', () => {
    const list = new RowList();
    list.of(CHAIN, view({ selected: key(23) }));
    expect(pidsOf(list.of({ ...CHAIN }, view({ selected: key(23), filter: 'suspect' })))).toEqual([
      20, 21, 22,
    ]);
  });
});

describe('where a row is', () => {
  const row = (name: string, trail = ''): Row => ({ key: name, trail }) as Row;
  const rows = [row('g'), row('a', 'T'), row('b', 'IT'), row('c', 'IL'), row('d', 'L'), row('h')];

  test('below which it hangs; a heading below none', () => {
    expect(rows.map((_, index) => parentIndex(rows, index))).toEqual([-1, 0, 1, 1, 0, -1]);
    expect(parentIndex([], 0)).toBe(-1);
  });

  test('what is unfolded to see it, nearest first', () => {
    expect(foldsAbove(CHAIN, key(22), { ...OPTIONS, folded: new Set([key(20), `left:${key(20)}`]) })).toEqual(
      [key(21), key(20), `left:${key(20)}`],
    );
    expect(foldsAbove(CHAIN, `left:${key(20)}` as never, OPTIONS)).toEqual([]);
    expect(foldsAbove(CHAIN, key(99) as never, OPTIONS)).toBeNull();
    expect(foldsAbove(CHAIN, key(23) as never, { ...OPTIONS, filter: 'p22' })).toBeNull();
  });

  test('its place on the screen, also when it moved to the top or there is no room at all', () => {
    const view = (selected: string, selectedIndex: number, top = 0) => ({ selected, selectedIndex, top });
    expect(place(view('g', 3), rows, 5)).toEqual({ selected: 'g', index: 0, top: 0 });
    expect(place(view('d', 4, 2), rows, 0)).toEqual({ selected: 'd', index: 4, top: 2 });
    expect(place(view('d', 4, 2), rows, 1).top).toBe(4);
  });

  test('a list keeps its cursor in the middle, and shows no empty rows at its ends', () => {
    expect([0, 2, 3, 5, 8, 9].map(cursor => windowTop(cursor, 10, 4))).toEqual([0, 0, 1, 3, 6, 6]);
    expect(windowTop(1, 2, 4)).toBe(0);
  });

  test('the selected row is found by its key, wherever it is by now', () => {
    const selected = (key: string | null, selectedIndex: number) =>
      selectedRow({ rows, view: { ...INITIAL_VIEW, selected: key, selectedIndex } })?.key ?? null;
    expect([
      selected('b', 2),
      selected('b', 4),
      selected('b', 99),
      selected('x', 2),
      selected(null, 0),
    ]).toEqual(['b', 'b', 'b', null, null]);
  });
});
