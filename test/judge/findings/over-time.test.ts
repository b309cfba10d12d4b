import { describe, expect, it } from 'vitest';
import { NO_PAST, type Past } from '../../../src/judge/history.ts';
import { judge } from '../../../src/judge/judge.ts';
import type { Config } from '../../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Finding, FindingId } from '../../../src/model/finding.ts';
import { CLOCK, type Row, world } from '../../support/world.ts';

const MIB = 1024 ** 2;

const found = (id: FindingId, row: Row, past: Partial<Past>, config: Config = DEFAULT_CONFIG): Finding[] => {
  const { observation, tree, lineage } = world([row]);
  const { findings } = judge({ observation, tree, lineage, config, past: { ...NO_PAST, ...past } });
  return findings.filter(finding => finding.id === id);
};

/** One point a minute, the last one now. */
const points = (values: readonly number[], cpu: number | null = 0) => ({
  memory: () => values.map((bytes, n) => ({ at: (CLOCK - 60 * (values.length - 1 - n)) * 1000, bytes, cpu })),
});

const rising = (from: number, to: number, count = 11): number[] =>
  Array.from({ length: count }, (_, n) => from + ((to - from) * n) / (count - 1));

describe('memory-growth', () => {
  const agent: Row = [1000, 80_001, 'claude'];

  it('warns after ten minutes of rising by 64 MiB and half as much again, with rate and forecast', () => {
    const [finding] = found('memory-growth', agent, points(rising(100 * MIB, 200 * MIB)));
    expect(finding).toMatchObject({ severity: 'warn', action: null });
    expect(finding?.title).toContain('10.0 MiB a minute');
    expect(finding?.why).toMatch(
      /from 100 MiB to 200 MiB in 10m; at this rate it reaches the limit of 1\.9 GiB in 2h\d\dm/,
    );
  });

  it.each([
    ['nine minutes', rising(100 * MIB, 200 * MIB, 10)],
    ['63 MiB', rising(20 * MIB, 83 * MIB)],
    ['less than half as much again', rising(1000 * MIB, 1400 * MIB)],
    ['a spike that fell again', [...rising(100 * MIB, 400 * MIB, 6), ...rising(390 * MIB, 200 * MIB, 5)]],
    ['too few points', [100 * MIB, 900 * MIB]],
  ])('is silent about %s', (_, values) => {
    expect(found('memory-growth', agent, points(values))).toEqual([]);
  });

  it('takes its numbers from the config', () => {
    const thresholds = {
      ...DEFAULT_CONFIG.thresholds,
      'memory-growth': { minutes: 5, growthBytes: MIB, factor: 1.01 },
    };
    const slow = points(rising(100 * MIB, 110 * MIB, 7));
    expect(found('memory-growth', agent, slow, { ...DEFAULT_CONFIG, thresholds })).toHaveLength(1);
  });
});

describe('stuck-io', () => {
  const waiting: Row = [1000, 80_001, 'claude', { state: 'D' }];
  it.each([
    [0, 59],
    [1, 60],
    [0, null],
  ])('%d findings after %s seconds in state D', (count, seconds) => {
    expect(found('stuck-io', waiting, { stateSeconds: () => seconds })).toHaveLength(count);
  });

  it('is about state D only', () => {
    expect(found('stuck-io', [1000, 80_001, 'claude'], { stateSeconds: () => 900 })).toEqual([]);
  });
});

describe('spinning', () => {
  const leaked: Row = [1000, 1, 'lean-lsp-mcp'];
  const busy = (cpu: number) => points([1, 1, 1], cpu);

  it('warns of a leaked process at 80 % of a core for a minute', () => {
    expect(found('spinning', leaked, busy(80))[0]).toMatchObject({ severity: 'warn', action: 'end' });
    expect(found('spinning', leaked, busy(79))).toEqual([]);
    expect(found('spinning', leaked, points([1], 99))).toEqual([]);
  });

  it('is silent about live work', () => {
    expect(found('spinning', [1000, 80_001, 'lake build'], busy(100))).toEqual([]);
  });
});
