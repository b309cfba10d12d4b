import { describe, expect, test } from 'vitest';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import {
  type AgentSession,
  type JudgedProcess,
  sessionBrief,
  sessionDoing,
  sessionLastActive,
  sessionName,
} from '../../../src/model/snapshot.ts';
import type { ColumnId } from '../../../src/model/ui-settings.ts';
import { COLUMNS, columnsFor, doing } from '../../../src/tui/tree/columns.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { invent, PIPED } from '../../judge/plan/machine.ts';

const session = (change: Partial<AgentSession> = {}): AgentSession => ({
  id: 's',
  project: 'proofs',
  name: null,
  doing: null,
  waitingFor: null,
  seconds: null,
  ...change,
});

describe('which session it is and what it does', () => {
  test.each<[Partial<AgentSession>, string, string]>([
    [{ doing: 'busy', seconds: 4 }, 'busy', 'busy'],
    [{ doing: 'idle', seconds: 2400 }, 'idle 40m', 'idle 40m'],
    [
      { doing: 'waiting', waitingFor: 'permission prompt', seconds: 720 },
      'waits for you: permission prompt 12m',
      'waits 12m',
    ],
    [{ doing: 'waiting' }, 'waits for you', 'waits'],
    [{}, '', ''],
  ])('%o', (change, whole, brief) => {
    expect(sessionDoing(session(change))).toBe(whole);
    expect(sessionBrief(session(change))).toBe(brief);
  });

  test('a name of its own stands beside the project', () => {
    expect(sessionName(session())).toBe('proofs');
    expect(sessionName(session({ name: 'fix the lemma' }))).toBe('proofs “fix the lemma”');
    expect(sessionName(session({ project: null, name: 'x' }))).toBe('“x”');
  });

  test('for whoever is about to end it: when it was last active', () => {
    expect(sessionLastActive(session({ doing: 'idle', seconds: 40 }))).toBe('last active 40s ago');
    expect(sessionLastActive(session({ doing: 'busy' }))).toBe('busy now');
  });
});

describe('what a row says of its process', () => {
  const row = (process: JudgedProcess | null, change: Partial<Row> = {}): Row =>
    ({ process, group: null, beat: null, inherits: false, ...change }) as Row;
  const live = (part: Parameters<typeof invent>[2] = {}): JudgedProcess =>
    invent(20, 1, { verdict: 'live', why: [], ...part });
  const beat = (change: Partial<Heartbeat>): Heartbeat =>
    ({
      format: 'agent-progress',
      state: 'fine',
      task: null,
      phase: null,
      operation: null,
      ...change,
    }) as Heartbeat;

  test.each([
    ['kworker/0', '[kworker/0]', ''],
    ['zsh', '/usr/bin/zsh -l', '-l'],
    ['zsh', '-zsh -i', '-i'],
    ['lean-lsp-mcp', 'node /opt/lean-lsp-mcp --stdio', '--stdio'],
    ['npm exec x', 'npm exec x@latest  --port 3', '--port 3'],
    ['npm exec x', 'npm exec x@latest', ''],
    ['npm exec x', 'node /usr/bin/npm exec x', 'exec x'],
    ['tool', 'a b c tool d', 'a b c tool d'],
    ['tool', 'sh run-tool', 'sh run-tool'],
  ])('the arguments of %s in "%s"', (name, command, text) => {
    expect(doing(row(live({ name, command })))).toEqual({ text, tone: 'faint' });
  });

  test('the directory stands in for arguments, but not beside the name of a shell', () => {
    const facts = { details: PIPED };
    const bare = { name: 'x', command: 'x', facts };
    expect(doing(row(live(bare))).text).toBe('/p');
    expect(doing(row(live({ ...bare, command: 'x -v' }))).text).toBe('-v');
    expect(doing(row(live({ ...bare, kind: 'shell' }))).text).toBe('');
  });

  test('shows the directory of an agent and of lake, never the wrapper words of the Bash tool', () => {
    const facts = { details: PIPED };
    for (const kind of ['agent', 'lake'] as const) {
      expect(doing(row(live({ kind, facts })))).toEqual({ text: '/p', tone: 'faint' });
      expect(doing(row(live({ kind, name: 'x', command: 'x -v' }))).text).toBe('-v');
    }
    const seen = { role: 'bash-tool' } as const;
    expect(doing(row(live({ seen, facts })))).toEqual({ text: '/p', tone: 'faint' });
    expect(doing(row(live({ seen }))).text).toBe('');
  });

  test.each([
    ['leak', 'reason'],
    ['suspect', 'suspect'],
    ['protected', 'faint'],
  ] as const)('why it is %s, once below a parent of the same verdict', (verdict, tone) => {
    const judged = live({ verdict, why: ['the reason', 'another'], name: 'x', command: 'x -v' });
    expect(doing(row(judged))).toEqual({ text: 'the reason', tone });
    expect(doing(row(judged, { inherits: true }))).toEqual({ text: '-v', tone: 'faint' });
    expect(doing(row({ ...judged, why: [] })).text).toBe('-v');
  });

  test('a verdict that asks for nothing gives no reason', () => {
    const judged = live({ why: ['its parent works'], name: 'x', command: 'x -v' });
    expect(doing(row(judged)).text).toBe('-v');
  });

  test('a heartbeat comes after the reason of a leak and before that of a protection', () => {
    const silent = beat({ state: 'critical', ageSeconds: 780, task: '688' });
    const told = { text: 'silent for 13m: task 688', tone: 'bad' };
    expect(doing(row(live(), { beat: silent }))).toEqual(told);
    expect(doing(row(live({ verdict: 'protected', why: ['w'] }), { beat: silent }))).toEqual(told);
    expect(doing(row(live({ verdict: 'leak', why: ['w'] }), { beat: silent })).text).toBe('w');
    // A transcript says no more than that it is written to.
    expect(doing(row(live({ verdict: 'protected', why: ['w'] }), { beat: beat({}) })).text).toBe('w');
  });

  test('the session of an agent first; the louder of the two gives the tone', () => {
    const told = { beat: beat({ state: 'critical', ageSeconds: 780 }) };
    const agent = (change: Partial<AgentSession>) => live({ kind: 'agent', session: session(change) });
    expect(doing(row(agent({ doing: 'busy' })))).toEqual({ text: 'proofs: busy', tone: 'good' });
    expect(doing(row(agent({})))).toEqual({ text: 'proofs', tone: 'faint' });
    expect(doing(row(agent({ doing: 'busy' }), told))).toEqual({
      text: 'proofs: busy; silent for 13m',
      tone: 'bad',
    });
    expect(doing(row(agent({ doing: 'waiting' }), told))).toEqual({
      text: 'proofs: waits for you; silent for 13m',
      tone: 'warn',
    });
    expect(doing(row(agent({ project: null }), told)).text).toBe('silent for 13m');
    expect(doing(row(agent({ doing: 'busy' })), { cells: 4, ellipsis: '~' }).text).toBe('busy');
  });

  test('shows that it has ended; on a heading its note', () => {
    expect(doing(row(live(), { gone: true }))).toEqual({ text: 'it has ended', tone: 'faint' });
    expect(doing(row(null, { gone: true })).text).toBe('all ended');
    expect(doing(row(null, { group: { note: 'detached' } as Row['group'] }))).toEqual({
      text: 'detached',
      tone: 'faint',
    });
    expect(doing(row(null)).text).toBe('');
  });
});

describe('the cells of a row', () => {
  const GiB = 1024 ** 3;
  const row = (change: Partial<Row> = {}, process: JudgedProcess | null = invent(20, 1)): Row =>
    ({
      process,
      group: null,
      alarm: null,
      inherits: false,
      trail: '',
      count: 1,
      whole: false,
      treeBytes: 0,
      cpu: null,
      ageSeconds: null,
      ports: [],
      ...change,
    }) as unknown as Row;
  const heading = (part: object = {}, change: Partial<Row> = {}): Row =>
    row({ group: { shown: 'heading', tone: 'group', ...part } as Row['group'], ...change }, null);
  const column = (id: ColumnId) => COLUMNS.find(one => one.id === id)!;
  const cell = (id: ColumnId, of: Row): [string, string] => [column(id).text(of), column(id).tone(of)];
  const facts = (part: object): JudgedProcess => invent(20, 1, { facts: part });

  test.each<[Partial<JudgedProcess>, Partial<Row>, string, string]>([
    [{ verdict: 'leak' }, {}, 'LEAK', 'leak'],
    [{ verdict: 'suspect' }, {}, 'susp', 'suspect'],
    [{ verdict: 'protected' }, {}, 'prot', 'protected'],
    [{ verdict: 'live' }, {}, '', 'plain'],
    [{ verdict: 'leak' }, { inherits: true }, '', 'plain'],
    [{ verdict: 'unknown', related: false }, {}, '', 'plain'],
    [{ verdict: 'unknown', related: true }, {}, '?', 'unknown'],
    [{ verdict: 'live' }, { alarm: 'waiting' }, 'WAIT', 'warn'],
    [{ verdict: 'leak' }, { alarm: 'hung' }, 'HUNG', 'bad'],
    [{ verdict: 'live' }, { alarm: 'critical' }, 'crit', 'bad'],
    [{ verdict: 'leak' }, { alarm: 'critical', gone: true }, 'gone', 'bad'],
  ])('%o with %o is marked %s', (process, change, text, tone) => {
    expect(cell('verdict', row(change, invent(20, 1, process)))).toEqual([text, tone]);
  });

  test('a group of leaks or suspects is marked as they are, another is not', () => {
    expect(cell('verdict', heading({ tone: 'leak' }))).toEqual(['LEAK', 'leak']);
    expect(cell('verdict', heading({ tone: 'suspect' }))).toEqual(['susp', 'suspect']);
    expect(cell('verdict', heading({ tone: 'server' }))).toEqual(['', 'plain']);
    expect(cell('verdict', row({}, null))).toEqual(['', 'plain']);
  });

  test('memory of the process, of the group on a heading, and loud from a GiB', () => {
    expect(cell('mem', row({}, facts({ rss: GiB - 1 })))[1]).toBe('plain');
    expect(cell('mem', row({}, facts({ rss: GiB })))).toEqual(['1.0G', 'warn']);
    expect(cell('mem', heading({}, { treeBytes: 2 * GiB }))).toEqual(['2.0G', 'strong']);
    expect(cell('mem', heading({}, { treeBytes: 2 * GiB, whole: true }))[0]).toBe('');
    expect(cell('tree', row({ treeBytes: 2 * GiB }))).toEqual(['', 'warn']);
    expect(cell('tree', row({ treeBytes: 2 * GiB, count: 2 }))[0]).toBe('2.0G');
    expect(cell('tree', row({ treeBytes: 5, whole: true }))).toEqual(['5B', 'plain']);
    expect(cell('tree', heading({}, { treeBytes: 2 * GiB, count: 2 }))).toEqual(['', 'strong']);
    expect(cell('tree', heading({}, { treeBytes: 2 * GiB, trail: 'L' }))[1]).toBe('warn');
  });

  test.each<[number | null, string, string]>([
    [null, '-', 'plain'],
    [0.4, '', 'plain'],
    [0.5, '1', 'plain'],
    [79.6, '80', 'plain'],
    [80, '80', 'warn'],
  ])('%s of a core', (cpu, text, tone) => expect(cell('cpu', row({ cpu }))).toEqual([text, tone]));

  test('a heading has neither CPU nor age; what a dead session left has', () => {
    const figures = { cpu: 12, ageSeconds: 60 };
    expect(cell('cpu', heading({}, figures))[0]).toBe('');
    expect(cell('age', heading({}, figures))[0]).toBe('');
    expect(cell('cpu', heading({ shown: 'row' }, figures))[0]).toBe('12');
    expect(cell('age', heading({ shown: 'row' }, figures))[0]).toBe('1m');
  });

  test('a state only where it does not sleep', () => {
    expect(cell('state', row({}, facts({ state: 'S' })))).toEqual(['', 'faint']);
    expect(cell('state', row({}, facts({ state: 'R' })))).toEqual(['R', 'faint']);
    for (const state of ['T', 'D', 'Z'])
      expect(cell('state', row({}, facts({ state })))).toEqual([state, 'warn']);
    expect(cell('state', heading())).toEqual(['', 'faint']);
  });

  test('the first port, and whether there are more; kind, terminal and pid of a process alone', () => {
    expect(['', ':80', ':80+']).toEqual([[], [80], [80, 81]].map(ports => cell('ports', row({ ports }))[0]));
    const agent = invent(20, 1, { kind: 'agent', facts: { tty: 'pts/3' } });
    expect((['pid', 'kind', 'tty'] as const).map(id => cell(id, row({}, agent))[0])).toEqual([
      '20',
      'agent',
      'pts/3',
    ]);
    expect((['pid', 'kind', 'tty'] as const).map(id => cell(id, heading())[0])).toEqual(['', '', '']);
  });

  const ids = (...given: Parameters<typeof columnsFor>): string =>
    columnsFor(...given)
      .map(c => c.id)
      .join(' ');
  test.each<[number, string, string]>([
    [40, 'verdict mem age', 'verdict tree'],
    [44, 'verdict mem cpu age', 'verdict tree cpu'],
    [62, 'verdict pid mem cpu age state', 'verdict tree cpu age'],
    [68, 'verdict pid mem cpu age state', 'verdict pid tree cpu age'],
    [116, 'verdict pid mem tree cpu age state ports', 'verdict pid tree cpu age state ports'],
    [
      188,
      'verdict pid mem tree cpu age state ports kind tty',
      'verdict pid mem tree cpu age state ports kind tty',
    ],
  ])('%i columns have room for %s; where rows stand for trees for %s', (width, each, whole) => {
    expect(ids(width, null)).toBe(each);
    expect(ids(width, null, true)).toBe(whole);
  });

  test('the columns that the user chose, in that order, as far as there is room beside a name', () => {
    expect(ids(80, ['age', 'pid', 'tty'])).toBe('age pid tty');
    // 2 + 6 + 1 + 7 + 1 and 18 for the name.
    expect([ids(35, ['age', 'pid', 'tty']), ids(34, ['age', 'pid', 'state'])]).toEqual([
      'age pid',
      'age state',
    ]);
    expect(ids(80, ['nonsense' as ColumnId, 'pid'])).toBe('pid');
  });
});
