import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { snapshotJson } from '../../src/commands/json.ts';
import { onceText } from '../../src/commands/once-text.ts';
import { safeArgv } from '../../src/model/redact.ts';
import { cells, visible } from '../../src/model/text.ts';
import { parsePanes } from '../../src/observe/tmux/panes.ts';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { type Row, tmux, world, ZOMBIE } from '../support/world.ts';

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
        expect(pids.sort()).toEqual(
          snapshot.processes
            .filter(p => p.facts.pid !== 600)
            .map(p => p.facts.pid)
            .sort(),
        );
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

  it('says which processes it could not recognise instead of calling the machine clean', () => {
    const text = onceText(world([[1000, 1, 'nginx']], { all: false }).snapshot, { width: 80, color: false });
    expect(text).toContain('0 recognised of 5 processes');
    expect(text).not.toContain('nothing is proven leaked');
  });

  it('shows both of two processes that call each other parent', () => {
    const looped = world([
      [1000, 1001, 'lean-lsp-mcp', { born: 7 }],
      [1001, 1000, 'lean-lsp-mcp', { born: 7 }],
    ]).snapshot;
    expect(onceText(looped, { width: 80, color: false })).toMatch(/ 1001 .*\n +1000 /);
  });

  it('is as wide as it must be on a terminal too narrow to use', () => {
    const lines = onceText(busy, { width: 20, color: false }).split('\n');
    expect(Math.max(...lines.map(cells))).toBeLessThanOrEqual(40);
  });
});
