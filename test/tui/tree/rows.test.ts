import { describe, expect, test } from 'vitest';
import { memoryOf } from '../../../src/model/process.ts';
import type { RowOptions } from '../../../src/tui/tree/row-order.ts';
import { treeRows } from '../../../src/tui/tree/rows.ts';
import { standingDemo } from '../drive.ts';

const demo = await standingDemo({ all: true });
const demoSnapshot = () => demo.live.getState().snapshot;
const OPTIONS: RowOptions = { folded: new Set(), filter: '', sort: 'start', all: false };
const rows = (change: Partial<RowOptions> = {}) => treeRows(demoSnapshot(), { ...OPTIONS, ...change });
const names = (change: Partial<RowOptions> = {}) =>
  rows(change).map(r => r.group?.title ?? `${r.process!.name} ${r.process!.facts.pid}`);
const pids = (change: Partial<RowOptions> = {}) =>
  rows(change).flatMap(r => (r.process ? [r.process.facts.pid] : []));

describe('the tree', () => {
  test('what needs a decision comes first, then the tmux sessions, then the rest', () => {
    expect(rows().flatMap(r => (r.group ? r.group.title : r.trail === '' ? r.process!.name : []))).toEqual([
      'zsh',
      'bash run-agent.sh',
      'session 5b1e9c40',
      'session c0ffee12 (sphere-packing)',
      'session 5b1e9c40',
      'claude',
      'tmux agent_701',
      'tmux lean',
      'tmux main',
      'outside tmux',
    ]);
    expect(
      rows()
        .flatMap(r => r.alarm ?? [])
        .slice(0, 2),
    ).toEqual(['waiting', 'waiting']);
  });

  test('a process hangs below its parent', () => {
    const all = rows();
    const at = (pid: number) => all.find(r => r.process?.facts.pid === pid)!;
    expect(at(1550).trail.length).toBe(at(1541).trail.length + 1);
    expect(all.indexOf(at(1541))).toBeLessThan(all.indexOf(at(1550)));
  });

  test('the last child ends its line, and lines of ancestors with later siblings pass by', () => {
    const at = (pid: number) => rows().find(r => r.process?.facts.pid === pid)!;
    expect(at(3310).trail).toBe('T');
    expect(at(3331).trail).toBe('IL');
    expect(at(3533).trail).toBe('  L');
  });

  test('zombies are no rows of their own: their parent counts them', () => {
    expect(pids()).not.toContain(1601);
    expect(rows().find(r => r.process?.facts.pid === 1522)!.process!.zombies).toBe(3);
  });

  test('a zombie whose parent is not shown is a row', () => {
    const snapshot = demoSnapshot();
    const orphaned = snapshot.processes.map(p =>
      p.facts.pid === 3471 ? { ...p, facts: { ...p.facts, ppid: 1 } } : p,
    );
    const shown = treeRows({ ...snapshot, processes: orphaned }, OPTIONS);
    expect(shown.map(r => r.process?.facts.pid)).toContain(3471);
  });

  test('a subtree carries its count and bytes', () => {
    const tree = rows().find(r => r.process?.facts.pid === 3402)!;
    expect(tree.count).toBe(4);
    expect(tree.treeBytes).toBe((131 + 22 + 44 + 90 + 1490 + 610) * 1024 ** 2);
  });

  test('every key is there once', () => {
    const keys = rows({ all: true }).map(r => r.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('all processes adds the unrelated and the tmux servers', () => {
    expect(pids()).not.toContain(702);
    expect(pids()).not.toContain(1201);
    expect(pids({ all: true })).toEqual(expect.arrayContaining([702, 711, 1201, 1]));
  });

  test('an agent with two heartbeats shows the worst', () => {
    expect(rows().find(r => r.process?.facts.pid === 5230)!.beat?.state).toBe('critical');
  });
});

describe('levels', () => {
  const at = (level: 1 | 2 | 3, change: Partial<RowOptions> = {}) =>
    rows({ level, ...change }).map(r => r.group?.title ?? `${r.runs!.name} ${r.process!.facts.pid}`);

  test('1: one row per session, and one for what each dead session or program left', () => {
    expect(at(1)).toEqual([
      'claude 1501',
      'claude 5230',
      'session 5b1e9c40',
      'session c0ffee12 (sphere-packing)',
      'session 5b1e9c40',
      'claude 3755',
      'claude 5330',
      'claude 2101',
      'claude 1342',
      'codex 1712',
      'claude 4001',
    ]);
  });

  test('2: servers and builds below their session, chains named for what they run, shells above it left out', () => {
    const shown = at(2);
    expect(shown.slice(0, 2)).toEqual(['claude 1501', 'lean-lsp-mcp 1518']);
    expect(shown).toContain('playwright-mcp 1360');
    expect(shown.length).toBeLessThan(rows().length / 2 + 1);
    expect(shown.join()).not.toMatch(/zsh|run-agent/);
  });

  test('a folded row stands for its whole tree', () => {
    const server = rows({ level: 2 }).find(r => r.process?.facts.pid === 1518)!;
    expect([server.folded, server.hidden, server.zombies, server.alarm]).toEqual([true, 4, 3, 'critical']);
    expect(server.treeBytes).toBe(rows().find(r => r.process?.facts.pid === 1518)!.treeBytes);
    const chain = rows({ level: 2 }).find(r => r.process?.facts.pid === 1360)!;
    expect([chain.folded, chain.hidden]).toEqual([true, 0]);
  });

  test('what the user opened or closed stays so on every level', () => {
    const opened = new Set([rows().find(r => r.process?.facts.pid === 1518)!.key]);
    expect(at(2, { opened })).toContain('lean-lsp-mcp 1522');
    const folded = new Set([rows().find(r => r.process?.facts.pid === 1501)!.key]);
    for (const level of [2, 3] as const) expect(at(level, { folded }).join()).not.toContain('1518');
  });

  test('a session below another has a row of its own on level 1, and only one', () => {
    const snapshot = demoSnapshot();
    const nested = snapshot.processes.map(p =>
      p.facts.pid === 2101 ? { ...p, facts: { ...p.facts, ppid: 1342 } } : p,
    );
    for (const opened of [new Set<string>(), 'all' as const]) {
      const keys = treeRows({ ...snapshot, processes: nested }, { ...OPTIONS, level: 1, opened }).map(
        r => r.key,
      );
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter(key => key.startsWith('2101:'))).toHaveLength(1);
    }
  });

  test('quiet servers of one session share a row, which opens', () => {
    const snapshot = demoSnapshot();
    const small = (p: (typeof snapshot.processes)[number]) =>
      p.facts.pid === 1402 ? { ...p, facts: { ...p.facts, rss: 1024 ** 2, details: null } } : p;
    const shown = (change: Partial<RowOptions> = {}) =>
      treeRows(
        { ...snapshot, processes: snapshot.processes.map(small) },
        { ...OPTIONS, level: 2, ...change },
      );
    const shared = shown().find(r => r.group?.key.startsWith('servers:'))!;
    expect([shared.group!.title, shared.roots.map(p => p.facts.pid)]).toEqual([
      'playwright-mcp, chroma-mcp',
      [1360, 1402],
    ]);
    const opened = shown({ opened: new Set([shared.key]) }).map(r => r.process?.facts.pid);
    expect(opened).toEqual(expect.arrayContaining([1360, 1402]));
    expect(shown({ filter: 'chroma' }).some(r => r.group?.key.startsWith('servers:'))).toBe(false);
  });

  test.each([
    ['who waits', 'waits', '1501'],
    ['a session’s name', 'density bound', '1501'],
    ['a dead session’s id', 'c0ffee12', 'session c0ffee12'],
    ['a tmux place', 'tmux lean', '2101'],
    ['a port', ':5173', 'session 5b1e9c40'],
    ['a terminal', 'pts/5', '2101'],
    ['a reason', 'supervisor', '4150'],
  ])('the filter finds %s', (_, filter, expected) => {
    expect(at(2, { filter }).join()).toContain(expected);
  });

  test('what is looked for inside a closed row opens it; what its own row shows does not', () => {
    expect(at(2, { filter: 'Bounds.lean' }).join()).toContain('1551');
    expect(at(2, { filter: 'lean-lsp-mcp 1518' }).join()).not.toContain('1550');
  });
});

describe('folding', () => {
  test('a folded row hides what is below it and keeps its sums', () => {
    const key = rows().find(r => r.process?.facts.pid === 3402)!.key;
    const folded = rows({ folded: new Set([key]) });
    const row = folded.find(r => r.key === key)!;
    expect(row.folded).toBe(true);
    expect(row.count).toBe(4);
    expect(folded.some(r => r.process?.facts.pid === 3440)).toBe(false);
  });

  test('a folded heading hides its group', () => {
    expect(pids({ folded: new Set([rows().find(r => r.group?.tone === 'leak')!.key]) })).not.toContain(3310);
  });
});

describe('the filter', () => {
  test.each([
    ['by name', 'playwright', [1210, 1342, 1360, 1388, 4001, 4020]],
    ['by verdict', 'suspect', [3701, 3755, 3790]],
    ['by pid, from its first digit', '3505', [3505]],
    ['by path', 'mathlib-fork', [2095, 2101, 2140, 2151, 2152, 2190]],
    ['by kind', 'browser', [3505, 3520, 3533]],
    ['every word must match', 'lean 1260000000', []],
  ])('%s', (_, filter, expected) => {
    expect(pids({ filter })).toEqual(expected);
  });

  test('ancestors of a match stay, told from the matches', () => {
    const found = rows({ filter: 'Bounds.lean' });
    expect(found.filter(r => r.process && !r.context).map(r => r.process!.facts.pid)).toEqual([1551]);
    expect(found.filter(r => r.context).map(r => r.process!.facts.pid)).toContain(1501);
  });
});

describe('sorting', () => {
  test('by the memory of the subtree: the fattest subtree first among siblings', () => {
    const sorted = pids({ sort: 'tree' });
    expect(sorted.indexOf(3505)).toBeLessThan(sorted.indexOf(3310));
  });

  test('a tree is sorted by what the column shows: its own memory and CPU, not that of its children', () => {
    const own = (sort: 'memory' | 'cpu') => pids({ sort });
    // lake build holds 112M and its children 1.4G; the other one 96M.
    expect(own('memory').indexOf(1402)).toBeLessThan(own('memory').indexOf(1360));
    expect(own('cpu').indexOf(2151)).toBeLessThan(own('cpu').indexOf(2190));
    expect(pids({ sort: 'memory' }).filter(pid => [3310, 3505].includes(pid))).toEqual([3505, 3310]);
  });

  test('reversed', () => {
    const sorted = pids({ sort: 'tree', reversed: true });
    expect(sorted.indexOf(3310)).toBeLessThan(sorted.indexOf(3505));
  });

  test('by name within each group', () => {
    const sorted = names({ sort: 'name' });
    expect(sorted[sorted.indexOf('session 5b1e9c40') + 1]).toBe('chrome-devtools-mcp 3505');
  });

  test('newest first', () => {
    const sorted = names({ sort: 'newest' });
    expect(sorted[sorted.indexOf('session 5b1e9c40') + 1]).toBe('chrome-devtools-mcp 3505');
  });
});

describe('one flat list', () => {
  const flat = (change: Partial<RowOptions> = {}) => rows({ grouping: 'flat', ...change });
  const own = (pid: number) => rows().find(r => r.process?.facts.pid === pid)!.process!;

  test('holds every process of the tree once, and no heading', () => {
    expect(flat().every(r => r.process && r.trail === '' && !r.foldable)).toBe(true);
    expect(
      flat()
        .map(r => r.key)
        .sort(),
    ).toEqual(
      rows()
        .flatMap(r => (r.process ? [r.key] : []))
        .sort(),
    );
  });

  test('by memory the biggest is exactly the first, and reversed the last', () => {
    const sizes = flat({ sort: 'memory' }).map(r => memoryOf(r.process!.facts));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(flat({ sort: 'memory' })[0]!.process!.facts.pid).toBe(3460);
    expect(flat({ sort: 'memory', reversed: true }).at(-1)!.process!.facts.pid).toBe(3460);
  });

  test('by CPU and by age', () => {
    expect(own(flat({ sort: 'cpu' })[0]!.process!.facts.pid).facts.cpu).toBeGreaterThanOrEqual(99);
    const ages = flat({ sort: 'start' }).map(r => r.process!.ageSeconds!);
    expect(ages).toEqual([...ages].sort((a, b) => b - a));
  });

  test('a filter leaves the matches alone: there is nothing to hang them below', () => {
    expect(flat({ filter: 'Bounds.lean' }).map(r => r.process!.facts.pid)).toEqual([1551]);
  });

  test('each row says its own reason', () => {
    expect(flat().every(r => !r.inherits)).toBe(true);
  });
});

describe('by project', () => {
  const titles = () => rows({ grouping: 'project' }).flatMap(r => r.group?.title ?? []);

  test('what needs a decision first, then the projects by name', () => {
    expect(titles()).toEqual([
      'session 5b1e9c40',
      'session c0ffee12 (sphere-packing)',
      'session 5b1e9c40',
      'atlas-docs',
      'mathlib-fork',
      'prices-api',
      'task-701',
      'webshop',
      'no project',
    ]);
  });

  test('holds every process of the tree once', () => {
    expect(pids({ grouping: 'project' }).sort()).toEqual(pids().sort());
  });

  test('two agents of one shell go to their own projects, and the sums follow', () => {
    const snapshot = demoSnapshot();
    const moved = snapshot.processes.map(p =>
      p.facts.pid === 2101 ? { ...p, facts: { ...p.facts, ppid: 1210 } } : p,
    );
    const shown = treeRows({ ...snapshot, processes: moved }, { ...OPTIONS, grouping: 'project' });
    const group = (title: string) => shown.find(r => r.group?.title === title)!;
    expect(shown.indexOf(group('mathlib-fork')) + 1).toBe(
      shown.findIndex(r => r.process?.facts.pid === 2101),
    );
    const standing = shown.filter(r => r.trail === '').reduce((n, r) => n + r.count, 0);
    expect(standing).toBe(shown.filter(r => r.process).length);
    const of = (title: string, more: Partial<RowOptions> = {}) =>
      rows({ grouping: 'project', ...more }).find(r => r.group?.title === title)!;
    expect(group('webshop').treeBytes).toBe(of('webshop').treeBytes);
  });
});
