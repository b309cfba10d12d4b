import { describe, expect, test } from 'vitest';
import { planText } from '../../src/commands/plan-text.ts';
import { planClean } from '../../src/judge/plan/clean.ts';
import { leakPolicy } from '../../src/judge/plan/compose.ts';
import { planZombies } from '../../src/judge/plan/zombies.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { type Row, world, ZOMBIE } from '../support/world.ts';

const look = (rows: readonly Row[]): Snapshot => world(rows, { all: true }).snapshot;
const text = (plan: Parameters<typeof planText>[0], snapshot: Snapshot, width = 200): string =>
  planText(plan, { width, color: false, heading: 'Would end', graceSeconds: 7, snapshot });

describe('the plan in text', () => {
  test('shows verdicts and signals of leaks, and nothing live', () => {
    const snapshot = look([
      [2000, 1, 'lean-lsp-mcp'],
      [2001, 2000, 'sleep 9'],
    ]);
    const plan = planClean({ snapshot, lineageMembers: () => [], policy: leakPolicy('clean', {}) });
    const told = text(plan, snapshot);
    expect(told).toMatch(/^Would end 2 processes, .*; TERM, KILL after 7 s, children first:\n/);
    expect(told).toMatch(/\n +2000 +\S+ +\S+ +leak +lean-lsp-mcp: /);
    expect(told).not.toContain('LIVE');
  });

  test.each([60, 200])(
    'of zombies says first that a live server may be ended, and its condition whole, at %d columns',
    width => {
      const snapshot = look([
        [1000, 80_001, 'claude', { cpu: 0 }],
        [1001, 1000, 'lean-lsp-mcp', { cpu: 0 }],
        [1100, 1001, '[lake.orig]', ZOMBIE],
      ]);
      const plan = planZombies({
        snapshot,
        lineageMembers: () => [],
        by: 'clean',
        minimumAgeSeconds: 60,
        quietSeconds: 10,
      });
      const told = text(plan, snapshot, width);
      expect(told.replaceAll(/\s+/g, ' ')).toMatch(
        /^LIVE: may end lean-lsp-mcp \(1001\), in use by claude \(1000\).* Zombies: nudge lean-lsp-mcp \(1001\); if that fails and it is idle, end it, .*; TERM, KILL after 7 s/,
      );
      expect(told.replaceAll(/\s+/g, ' ')).toContain(
        'only if the nudge fails and its tree then uses no CPU for 10 s',
      );
      expect(told).not.toContain('Left alone');
      for (const line of told.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
    },
  );
});
