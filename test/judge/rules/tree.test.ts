import { describe, expect, it } from 'vitest';
import { type Row, tmux, world, ZOMBIE } from '../../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';

describe('the tree', () => {
  it('believes no parent that is younger than its child: the pid was reused', () => {
    const rows: Row[] = [
      [5000, 80_001, 'claude'],
      [1000, 5000, 'make'],
    ];
    expect(world(rows).node(1000).parent).toBeNull();
    expect(world(rows, { host: { backend: 'portable' } }).node(1000).parent?.facts.pid).toBe(5000);
  });

  it('survives processes that call each other, or themselves, parent', () => {
    const { snapshot, verdict } = world([
      [1000, 1001, SERVER, { born: 7 }],
      [1001, 1000, SERVER, { born: 7 }],
      [1002, 1002, SERVER],
    ]);
    expect(snapshot.processes.filter(p => p.facts.pid >= 1000 && p.facts.pid < 1003)).toHaveLength(3);
    expect([1000, 1001, 1002].map(verdict)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('takes the script of a codex pair for a wrapper and the program for the agent', () => {
    const { at } = world([
      [1000, 80_001, 'node /opt/bin/codex -s read-only'],
      [1001, 1000, '/opt/codex-linux/codex -s read-only'],
    ]);
    expect([at(1000).kind, at(1001).kind]).toEqual(['wrapper', 'agent']);
  });

  it('does not take a child between fork and exec for a second agent', () => {
    const { at, verdict } = world([
      [1000, 80_001, 'claude'],
      [1001, 1000, 'claude', { born: 99_999.9 }],
      [1002, 1000, SERVER],
    ]);
    expect([at(1000).kind, at(1001).kind]).toEqual(['agent', 'other']);
    expect([1001, 1002].map(verdict)).toEqual(['live', 'live']);
  });

  it('takes a nameless child that speaks of mcp for a server only below an agent', () => {
    const { at } = world([
      [1000, 80_001, 'claude'],
      [1001, 1000, 'python my_mcp_thing.py'],
      [1002, 80_001, 'python my_mcp_thing.py'],
    ]);
    expect([at(1001).kind, at(1002).kind]).toEqual(['mcp', 'other']);
  });
});

describe('what is related', () => {
  const related = (rows: readonly Row[], around = {}): number[] =>
    world(rows, { ...around, all: false })
      .snapshot.processes.map(p => p.facts.pid)
      .sort((a, b) => a - b);

  it('an agent, all below it, and everything above it up to the tmux server', () => {
    const rows: Row[] = [
      [600, 1, 'tmux', { comm: 'tmux: server' }],
      [700, 600, '-zsh', { tty: 'pts/0' }],
      [710, 700, 'python3 orchestrate.py'],
      [720, 710, 'claude'],
      [730, 720, 'some-helper'],
      [701, 600, '-zsh', { tty: 'pts/1' }],
      [711, 701, 'htop'],
    ];
    expect(related(rows, { tmux: [tmux(600, [700, 701])] })).toEqual([600, 700, 710, 720, 730]);
  });

  it('outside tmux, the wrappers around a server but not the user’s shell', () => {
    expect(
      related([
        [1000, 80_001, 'npx -y chroma-mcp'],
        [1001, 1000, 'chroma-mcp'],
      ]),
    ).toEqual([1000, 1001]);
  });

  it('what carries an agent’s environment, and what is below it', () => {
    const env = { CLAUDECODE: '1' };
    expect(
      related([
        [1000, 1, 'yes', { env }],
        [1001, 1000, 'cat'],
        [1002, 1, 'yes'],
      ]),
    ).toEqual([1000, 1001]);
  });

  it('all below a process that was first met as somebody’s wrapper', () => {
    const env = { CLAUDECODE: '1' };
    const rows: Row[] = [
      [999, 1000, 'chroma-mcp'],
      [1000, 1, 'npx -y chroma-mcp', { env, born: 9 }],
      [1001, 1000, 'helper'],
    ];
    expect(related(rows)).toEqual([999, 1000, 1001]);
  });

  it('lists each process once, at its depth among the shown, however far apart they hang', () => {
    const { snapshot } = world(
      [
        [1000, 1, 'npx -y chroma-mcp'],
        [1001, 1000, 'chroma-mcp'],
        [1002, 80_001, '/opt/gateway'],
        [1003, 1002, 'lean-lsp-mcp'],
        [1004, 1003, 'lake serve'],
      ],
      { all: false },
    );
    expect(snapshot.processes.map(p => [p.facts.pid, p.depth])).toEqual([
      [1003, 0],
      [1004, 1],
      [1000, 0],
      [1001, 1],
    ]);
  });

  it('no zombie of PID 1: it only reaps late', () => {
    const rows: Row[] = [[1000, 1, '[lean-lsp-mcp]', ZOMBIE]];
    expect(related(rows)).toEqual([]);
    expect(world(rows, { all: false }).snapshot.totals).toMatchObject({ zombies: 0, related: 0 });
  });
});
