import { describe, expect, test } from 'vitest';
import { apartFromAcknowledged, saysNow } from '../../src/judge/acknowledge.ts';
import type { Finding } from '../../src/model/finding.ts';

const finding = (change: Partial<Finding> = {}): Finding => ({
  id: 'heartbeat-stale',
  severity: 'critical',
  title: 'task 688: no heartbeat for 22m',
  why: 'phase 2; holds 1.4 GiB, 34M, 12% for 1h05m, 3d04h, 30 s, 40 min',
  processes: [],
  files: ['/p/.agent-progress.json'],
  remedy: '',
  action: null,
  ...change,
});

const apart = (now: Finding) => apartFromAcknowledged([now], [{ finding: finding(), at: 0 }]);

describe('an acknowledged finding', () => {
  test('stays quiet while only times and sizes change', () => {
    const later = finding({
      title: 'task 688: no heartbeat for 3h12m',
      why: 'phase 2; holds 2 GiB, 9.9M, 80% for 2d03h, 4s, 7 s, 1 min',
    });
    expect(saysNow(later)).toBe(saysNow(finding()));
    expect(apart(later)).toMatchObject({ loud: [], quiet: [{ at: 0 }], changed: [] });
  });

  test.each([
    ['becomes worse or better', finding({ severity: 'warn' })],
    [
      'says something else',
      finding({ why: 'phase 3; holds 1.4 GiB, 34M, 12% for 1h05m, 3d04h, 30 s, 40 min' }),
    ],
    ['counts another number', finding({ title: 'task 689: no heartbeat for 22m' })],
  ])('is loud again when it %s', (_, now) => {
    expect(apart(now)).toMatchObject({ loud: [now], quiet: [], changed: [{ at: 0 }] });
  });

  test('hides no other finding, and is remembered while it is away', () => {
    const other = finding({ files: ['/q'] });
    expect(apart(other)).toEqual({ loud: [other], quiet: [], changed: [] });
  });
});
