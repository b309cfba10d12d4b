import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { onceText } from '../../src/commands/once.ts';
import { subtreeOf } from '../../src/model/forest.ts';
import { branchesOf } from '../../src/model/levels.ts';
import { safeArgv } from '../../src/model/redact.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { snapshotJson } from '../../src/model/snapshot-json.ts';
import { cells, visible } from '../../src/model/text.ts';
import { parsePanes } from '../../src/observe/tmux.ts';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { CLOCK, type Row, session, tmux, world, ZOMBIE } from '../support/world.ts';

const WIDTHS = [40, 80, 200] as const;

/** Text that tries: control and escape characters, forged rows, bidi, wide and joined characters, halves of pairs. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '\n   4711   13G  2d03h S leak      claude',
    '\x1b[2J\x1b[H',
    '\x1b]0;title\x07',
    '\u{202e}edualc',
    '日本語のパス',
    '👩‍👩‍👧‍👦👍🏽',
    'a\r\nb',
    '\u{2028}',
    '\u{d800}',
    'x'.repeat(500),
    '́'.repeat(50),
    '',
  ),
);

const PROGRAMS = ['claude', 'node', 'mcp-server-x', 'lake', 'npx', 'zsh'];
/** As the collection hands it on: every text made visible, every argv redacted. */
const row = fc
  .tuple(fc.constantFrom(1, 600, 700, 80_001), fc.constantFrom(...PROGRAMS), hostile, hostile, hostile)
  .map(([ppid, program, word, comm, cwd]) => ({ ppid, program, word, comm, cwd }));

const scene = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 8 }),
  session: hostile,
  warning: hostile,
});

const snapshotOf = ({ rows, session, warning }: typeof scene extends fc.Arbitrary<infer T> ? T : never) => {
  const [pane] = parsePanes(
    '/s',
    `$0:@0:0:%0:700:/dev/pts/0:0:1:1:600:${session.replaceAll('\n', '')}:t`,
  ).panes;
  const server = tmux(600, [700]);
  return world(
    [
      [600, 1, 'tmux', { comm: 'tmux: server' }],
      [700, 600, '-zsh', { tty: 'pts/0' }],
      ...rows.map(
        ({ ppid, program, word, comm, cwd }, n): Row => [
          1000 + n,
          ppid,
          program,
          { argv: safeArgv([program, word]), comm: visible(comm), details: { cwd: visible(cwd) } },
        ],
      ),
    ],
    {
      tmux: pane === undefined ? [server] : [{ ...server, panes: [pane] }],
      warnings: [`warning: ${visible(warning)}`],
      all: false,
    },
  ).snapshot;
};

const ROW = /^[ \d]{7} /;

test('no text of a process can colour, move, forge or widen a line', () => {
  fc.assert(
    fc.property(scene, random => {
      const snapshot = snapshotOf(random);
      for (const width of WIDTHS) {
        const text = onceText(snapshot, { width, color: false });
        // Everything that terminals or people could take for something else.
        expect(text).not.toMatch(/[\u{0}-\u{9}\u{b}-\u{1f}\u{7f}-\u{9f}\u{202a}-\u{202e}\u{2028}\u{2029}]/u);
        const lines = text.split('\n');
        for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(width);
        const pids = lines
          .filter(line => ROW.test(line) && /\d/.test(line.slice(0, 7)))
          .map(line => Number(line.slice(0, 7)));
        const shown = branchesOf(snapshot, false).flatMap(root => [...subtreeOf(root)]);
        expect(pids.sort()).toEqual(shown.map(({ process }) => process.facts.pid).sort());
      }
    }),
    { numRuns: 150 },
  );
});

test('colour adds nothing but colour', () => {
  fc.assert(
    fc.property(scene, random => {
      const snapshot = snapshotOf(random);
      const plain = onceText(snapshot, { width: 80, color: false });
      const painted = onceText(snapshot, { width: 80, color: true });
      expect(painted.replaceAll(/\x1b\[[\d;]*m/g, '')).toBe(plain);
    }),
    { numRuns: 50 },
  );
});

test('the JSON parses, keeps to its schema, and holds no raw control character', () => {
  fc.assert(
    fc.property(scene, random => {
      const text = JSON.stringify(snapshotJson(snapshotOf(random)), null, 2);
      expect(text).not.toMatch(/[\u{0}-\u{9}\u{b}-\u{1f}]/u);
      snapshotSchema.parse(JSON.parse(text));
    }),
    { numRuns: 100 },
  );
});

describe('the text of --once', () => {
  const busy = world([
    [1000, 80_001, 'claude'],
    [1001, 1000, 'lean-lsp-mcp', { rss: 400 * 1024 ** 2 }],
    ...[1, 2, 3, 4, 5].map((n): Row => [1100 + n, 1001, '[lake.orig]', ZOMBIE]),
    [2000, 1, 'npx -y chroma-mcp'],
    [2001, 2000, 'chroma-mcp', { rss: 2 * 1024 ** 3 }],
    [3000, 1, 'claude -p work'],
  ]).snapshot;

  it.each(WIDTHS)(
    'at %d columns: header, tree, leaked roots together, findings with why and remedy, total',
    width => {
      expect(onceText(busy, { width, color: false })).toMatchSnapshot();
    },
  );

  const textOf = (rows: readonly Row[], change: Partial<Snapshot> = {}, all = false): string =>
    onceText({ ...world(rows).snapshot, ...change }, { width: 120, color: false, all });
  const aged = (seconds: number) => ({ born: world([]).snapshot.clock - seconds });

  it('says of an agent the same as the screen: its project, its session, what that does', () => {
    const record = { status: 'waiting', waitingFor: 'permission prompt', name: 'fix the lemma' };
    const { snapshot } = world([[1000, 80_001, 'claude --model opus']], {
      sessions: [session(1000, 'abc', { ...record, statusUpdatedAt: CLOCK * 1000 - 720_000 })],
    });
    expect(onceText(snapshot, { width: 160, color: false })).toContain(
      'claude  project “fix the lemma”: waits for you: permission prompt 12m',
    );
  });

  it.each([
    [
      'a minute old',
      [60],
      /^Ready to clean: 1 process, .*\. reaptop clean shows the plan, reaptop clean --force runs it\.$/,
    ],
    [
      'younger',
      [59],
      /^Leaked, but younger than 1 min: 1 process, .*\. reaptop clean --age-threshold 0 takes it\.$/,
    ],
  ])('ends with the command that works when the leak is %s', (_, ages, closing) => {
    const rows = ages.map((age, n): Row => [2000 + n, 1, 'lean-lsp-mcp', aged(age)]);
    expect(textOf(rows).trimEnd().split('\n').at(-1)).toMatch(closing);
  });

  it('tells the old from the young, in the closing and in the remedies', () => {
    const text = textOf([
      [2000, 1, 'lean-lsp-mcp', aged(7200)],
      [2001, 1, 'npx -y chroma-mcp', aged(59)],
    ]);
    expect(text).toMatch(/\nReady to clean: 1 process, .*\nAlso leaked, but younger than 1 min: 1 process, /);
    expect(text).toMatch(/leak: lean-lsp-mcp \(2000\).*\n.*\n +→ end it: .* \(reaptop clean\)/);
    expect(text).toMatch(
      /leak: npx chroma-mcp \(2001\).*\n.*\n +→ end it: .* \(reaptop clean --age-threshold 0\)/,
    );
  });

  it('what clean leaves alone is no leak, and is not offered to it', () => {
    const text = textOf([
      [2000, 1, 'lean-lsp-mcp', aged(7200)],
      [2001, 2000, 'vim notes', { ...aged(7200), tty: 'pts/2' }],
    ]);
    expect(text).not.toMatch(/ leak |Ready to clean/);
    expect(text).toContain('0 leaked, 2 suspects, 0 zombies, 0 reclaimable');
    expect(text).toContain('the whole subtree stays, because vim (2001) is in it: it is an editor');
  });

  it('names no command for another machine or another time', () => {
    const { host } = world([]).snapshot;
    const rows: Row[] = [
      [2000, 1, 'lean-lsp-mcp', aged(7200)],
      [2001, 2000, '[lake.orig]', ZOMBIE],
    ];
    expect(textOf(rows)).toContain('reaptop clean');
    const there = textOf(rows, { host: { ...host, backend: 'recorded' } });
    expect(there).not.toMatch(/reaptop (clean|sweep)/);
    expect(there).toMatch(/\nLeaked in this recording: 1 process, .*\. Nothing can be ended from here\.\n$/);
  });

  it('shows three of 80 orphans of one program and counts the rest; --all lists them', () => {
    const rows = Array.from({ length: 80 }, (_, n): Row => [2000 + n, 1, 'lean-lsp-mcp', { rss: 1024 ** 2 }]);
    const text = textOf(rows);
    expect(text.match(/leak {6}lean-lsp-mcp/g)).toHaveLength(3);
    expect(text).toContain('and 77 more like these, 77M (see --all)');
    expect(text.split('\n').length).toBeLessThan(25);
    expect(textOf(rows, {}, true).match(/leak {6}lean-lsp-mcp/g)).toHaveLength(80);
  });

  it('counts zombies on the parent that owes the wait, as the screen does', () => {
    const dead = Array.from({ length: 6 }, (_, n): Row => [1100 + n, 1001, '[lake.orig]', ZOMBIE]);
    const text = textOf([[1000, 80_001, 'claude'], [1001, 1000, 'lean-lsp-mcp'], ...dead]);
    expect(text).toContain('lean-lsp-mcp Z×6');
    expect(text).not.toMatch(/^ +1100 /m);
  });

  it('says why a suspect is one, wherever it stands', () => {
    const text = textOf([
      [1000, 80_001, 'gemini'],
      [1001, 1000, 'lean-lsp-mcp'],
      [1002, 1000, 'lean-lsp-mcp'],
    ]);
    expect(text).toMatch(/ 1001 .* suspect .*\n +the same server runs again as 1002/);
  });

  it('says which processes it could not recognise instead of calling the machine clean', () => {
    const text = onceText(world([[1000, 1, 'nginx']], { all: false }).snapshot, { width: 80, color: false });
    expect(text).toContain('0 recognised of 5 processes');
    expect(text).not.toContain('proven leaked');
  });

  it('shows both of two processes that call each other parent', () => {
    const looped = world([
      [1000, 1001, 'lean-lsp-mcp', { born: 7 }],
      [1001, 1000, 'lean-lsp-mcp', { born: 7 }],
    ]).snapshot;
    expect(onceText(looped, { width: 80, color: false })).toMatch(/ 1000 .*\n +1001 /);
  });

  it('is as wide as it must be on a terminal too narrow to use', () => {
    const lines = onceText(busy, { width: 20, color: false }).split('\n');
    expect(Math.max(...lines.map(cells))).toBeLessThanOrEqual(40);
  });
});
