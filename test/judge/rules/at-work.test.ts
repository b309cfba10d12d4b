import { describe, expect, it } from 'vitest';
import { NO_CONTENT, type Reading } from '../../../src/model/heartbeat.ts';
import { type Around, CLOCK, type Extra, type Row, session, world } from '../../support/world.ts';

const NOW = CLOCK * 1000;
const MINUTES = 60_000;
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'gone', CLAUDE_PID: '77' };
const WORKER: Row = [5000, 1, 'claude -p work', { env: DEAD }];

const reading = (extra: Partial<Reading>): Reading => ({
  ...NO_CONTENT,
  path: '/x.jsonl',
  root: '/',
  format: 'transcript',
  source: null,
  mtime: NOW,
  size: 1,
  unreadable: null,
  sessionId: 'mine',
  ...extra,
});

const worker = (around: Around = {}, below: readonly Row[] = [], extra: Extra = {}): string =>
  world([[5000, 1, 'claude -p work', { env: DEAD, ...extra }], ...below], around).verdict(5000);

describe('an agent whose starter has ended', () => {
  const since = (ms: number): Around => ({
    sessions: [session(5000, 'mine', { status: 'idle', statusUpdatedAt: NOW - ms })],
  });

  it('is leaked when everything about it stands still', () => {
    expect(worker()).toBe('leak');
    expect(worker({ sessions: [session(5000, 'mine', { status: 'idle' })] })).toBe('leak');
    expect(worker(since(10 * MINUTES))).toBe('leak');
  });

  it('is suspect while its session file says busy, however long it has been silent', () => {
    const busy = session(5000, 'mine', { status: 'busy', statusUpdatedAt: NOW - 600 * MINUTES });
    expect(worker({ sessions: [busy] })).toBe('suspect');
  });

  it('is suspect while its session file does not say whether it is busy', () => {
    const file = session(5000, 'mine');
    const strange = [{ pid: 5000, path: file.path }];
    expect(worker({ sessions: [{ ...file, status: null }] })).toBe('suspect');
    expect(worker({ sessions: [{ ...file, procStart: null }] }, [], { env: { CLAUDE_PID: '77' } })).toBe(
      'suspect',
    );
    expect(worker({ strange }, [], { env: {}, details: { lostTerminal: true } })).toBe('suspect');
  });

  it('is suspect while its session file says something new', () => {
    expect(worker(since(9 * MINUTES))).toBe('suspect');
    expect(worker(since(0))).toBe('suspect');
    expect(worker(since(-5000))).toBe('suspect');
  });

  it('says how long ago that was, by clocks that differ a little at most', () => {
    const says = (ms: number) => world([WORKER], since(ms)).why(5000);
    expect(says(90_000)).toContain('it wrote 90 s ago');
    expect(says(-59_000)).toContain('it wrote 0 s ago');
    expect(worker(since(-60_000))).toBe('leak');
  });

  it('is suspect for the doubt about its owner first, where there is one', () => {
    const older: Row = [1000, 80_001, 'claude'];
    const env = { CLAUDE_CODE_SESSION_ID: 'gone' };
    const found = world([older, [5000, 1, 'claude -p work', { env }]], since(0)).at(5000);
    expect(found.verdict).toBe('suspect');
    expect(found.why[0]).toContain('claude (1000) has no session file and could be it');
  });

  it('is not believed from the future, nor by the file of another process', () => {
    expect(worker(since(-60 * MINUTES))).toBe('leak');
    const other = session(5000, 'mine', { status: 'busy', statusUpdatedAt: NOW, procStart: '7' });
    expect(worker({ sessions: [other] })).toBe('leak');
  });

  it.each(['transcript', 'stream-log'] as const)('is suspect while its %s grows', format => {
    const told = (mtime: number): Around => ({
      sessions: [session(5000, 'mine', { status: 'idle' })],
      readings: [reading({ format, mtime })],
    });
    expect(worker(told(NOW - MINUTES))).toBe('suspect');
    expect(worker(told(NOW - 11 * MINUTES))).toBe('leak');
    expect(worker({ ...told(NOW), sessions: [session(5000, 'another', { status: 'idle' })] })).toBe('leak');
  });

  it('is suspect while something that it started computes, and no server does', () => {
    const busy = { cpu: 1 };
    expect(worker({}, [[5001, 5000, 'make -j8', busy]])).toBe('suspect');
    expect(
      worker({}, [
        [5001, 5000, '/bin/bash -c make'],
        [5002, 5001, 'cc1 x.c', busy],
      ]),
    ).toBe('suspect');
    expect(worker({}, [[5001, 5000, 'make -j8', { cpu: 0.9 }]])).toBe('leak');
    expect(worker({}, [[5001, 5000, 'make -j8', { activity: null }]])).toBe('suspect');
    expect(worker({}, [[5001, 5000, 'node /opt/mcp-server-github', busy]])).toBe('leak');
    expect(
      worker({}, [
        [5001, 5000, 'npx -y chroma-mcp', busy],
        [5002, 5001, 'chroma-mcp', busy],
        [5003, 5002, 'python helper.py', busy],
      ]),
    ).toBe('leak');
  });

  it('is leaked though it spins: an orphan without a terminal does so forever', () => {
    const quiet = { sessions: [session(5000, 'mine', { status: 'idle' })] };
    expect(worker(quiet, [], { cpu: 100 })).toBe('leak');
    // Of a family that leaves no records its own activity is all there is.
    const silent = world([[5000, 1, 'aider', { env: DEAD, cpu: 100 }]]);
    expect(silent.verdict(5000)).toBe('suspect');
    expect(world([[5000, 1, 'aider', { env: DEAD }]]).verdict(5000)).toBe('leak');
  });

  it('takes whatever carries it, and what is below it, along', () => {
    const around = { sessions: [session(5001, 'mine', { statusUpdatedAt: NOW })] };
    for (const carrier of ['/bin/bash -c claude', 'python orchestrator.py', 'node /opt/mcp-server-github']) {
      const { verdict } = world(
        [
          [5000, 1, carrier, { env: DEAD }],
          [5001, 5000, 'claude -p work', { env: DEAD }],
          [5002, 5001, 'sleep 1'],
        ],
        around,
      );
      expect([5000, 5001, 5002].map(verdict), carrier).toEqual(['suspect', 'suspect', 'suspect']);
    }
  });

  it('below a server that nobody owns keeps the server, too', () => {
    const rows: Row[] = [
      [5000, 1, 'node /opt/mcp-server-github'],
      [5001, 5000, 'claude -p work'],
    ];
    expect(world(rows).verdict(5000)).toBe('leak');
    const around = { sessions: [session(5001, 'mine', { statusUpdatedAt: NOW })] };
    expect(world(rows, around).verdict(5000)).toBe('suspect');
  });
});

describe('files of a Claude that we do not know', () => {
  const STRANGE = '/home/me/.claude/sessions/6000.json';
  const strange: Around = { strange: [{ path: STRANGE, pid: 6000 }] };
  const NEWER: Row = [6000, 80_001, 'claude'];

  it('make one warning, and nothing of a dead session more than suspect', () => {
    expect(world([WORKER, NEWER]).verdict(5000)).toBe('leak');
    const { verdict, why, snapshot } = world([WORKER, NEWER], {
      strange: [...(strange.strange ?? []), { path: '/b.json', pid: 6000 }],
    });
    expect(verdict(5000)).toBe('suspect');
    expect(why(5000)).toContain(STRANGE);
    const said = snapshot.warnings.filter(warning => warning.includes(STRANGE));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('and 1 more');
  });

  it('count for what was seen below an agent, too, and not for other families', () => {
    const rows: Row[] = [[5000, 1, 'java', { env: { OPENCODE_PID: '77' } }], [5001, 1, 'java'], NEWER];
    const lineage = world([]).lineage;
    lineage.adopt([['5001:500100', { owner: '78:7800', sessionId: null, parent: null }]]);
    expect([5000, 5001].map(world(rows, { lineage }).verdict)).toEqual(['leak', 'leak']);
    expect([5000, 5001].map(world(rows, { lineage, ...strange }).verdict)).toEqual(['leak', 'suspect']);
  });

  it('are left alone when nobody runs who could have written them', () => {
    const { verdict, snapshot } = world([WORKER], strange);
    expect(verdict(5000)).toBe('leak');
    expect(snapshot.warnings.join()).not.toContain(STRANGE);
  });

  it('a roster counts while a supervisor runs, a session without its start time where start times are known', () => {
    const roster: Around = { strange: [{ path: '/roster.json', pid: null }] };
    expect(world([WORKER], roster).verdict(5000)).toBe('leak');
    expect(world([WORKER, [6000, 1, 'claude daemon run']], roster).verdict(5000)).toBe('suspect');
    const older = { sessions: [session(6000, 'x', { procStart: null })] };
    expect(world([WORKER, NEWER], older).verdict(5000)).toBe('suspect');
    expect(world([WORKER, NEWER], { ...older, host: { backend: 'portable' } }).verdict(5000)).toBe('leak');
  });
});

describe('a silent agent in its row', () => {
  const silent: Around = {
    sessions: [session(5000, 'mine', { status: 'idle', statusUpdatedAt: NOW - 40 * MINUTES })],
  };
  const doing = (...below: readonly Row[]): string | null | undefined =>
    world([[5000, 80_001, 'claude'], ...below], silent).snapshot.processes.find(p => p.facts.pid === 5000)
      ?.session?.doing;

  it.each<[string, Row, string]>([
    ['nothing below it works', [5001, 5000, 'lake build', { cpu: 0 }], 'idle'],
    ['its build uses the CPU', [5001, 5000, 'lake build', { cpu: 90 }], 'busy'],
    ['only a server moves', [5001, 5000, 'lean-lsp-mcp', { cpu: 90 }], 'idle'],
    [
      'a single look: it has used the CPU ever since it started',
      [5001, 5000, 'lake build', { cpu: null, born: CLOCK - 100, cpuSeconds: 60 }],
      'busy',
    ],
    [
      'a single look: it has rested',
      [5001, 5000, 'lake build', { cpu: null, born: CLOCK - 100, cpuSeconds: 10 }],
      'idle',
    ],
  ])('%s', (_, below, expected) => {
    expect(doing(below)).toBe(expected);
  });
});

describe('what lost its terminal', () => {
  const lost: Extra = { details: { lostTerminal: true } };
  const around: Around = { sessions: [session(5000, 'mine', { statusUpdatedAt: NOW })] };

  it('is suspect while it works: the window was closed over it', () => {
    expect(world([[5000, 1, 'claude -p work', lost]], around).verdict(5000)).toBe('suspect');
    expect(world([[5000, 1, 'claude -p work', lost]]).verdict(5000)).toBe('leak');
  });

  it.each([
    [1, 'suspect'],
    [0, 'leak'],
  ])('is, of a build below which %d %% of a core is used, %s', (cpu, expected) => {
    const { verdict } = world([
      [5000, 1, 'lake build', lost],
      [5001, 5000, 'lean Foo.lean', { cpu }],
    ]);
    expect(verdict(5000)).toBe(expected);
  });

  it('is suspect with the shell around a build that goes on, not with one around an agent that spins', () => {
    const shellAround = (command: string, below: Row, around: Around = {}): string =>
      world(
        [[5000, 1, `sh -c '${command}'`, lost], [5001, 5000, command, { cpu: 90 }], below],
        around,
      ).verdict(5000);
    expect(shellAround('lake build', [5002, 5001, 'lean Foo.lean', { cpu: 50 }])).toBe('suspect');
    const idle = { sessions: [session(5001, 'mine', { status: 'idle' })] };
    expect(shellAround('claude -p work', [5002, 5001, 'sleep 9', { cpu: 0 }], idle)).toBe('leak');
  });
});
