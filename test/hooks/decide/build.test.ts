import { describe, expect, it } from 'vitest';
import { type BuildFacts, decideBuild } from '../../../src/hooks/decide/build.ts';

const FREE: BuildFacts = {
  busy: null,
  denials: 0,
  isCheck: true,
  throttled: false,
  throttle: { checks: 0, skips: 0 },
};
const BUSY = { busy: { who: 'lake build (4711)', sinceSeconds: 40 } };

/** One call after the other, each with what the last one left. */
const series = (calls: readonly Partial<BuildFacts>[], start: Partial<BuildFacts> = {}): string[] => {
  let facts: BuildFacts = { ...FREE, ...start };
  return calls.map(call => {
    const decision = decideBuild({ ...facts, ...call });
    facts = { ...facts, denials: decision.denials, throttle: decision.throttle };
    return `${decision.what}${decision.say === null ? '' : ', says'}`;
  });
};

const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);

describe('one build at a time', () => {
  it('a free project is taken without a word', () => expect(series(times(5, {}))).toEqual(times(5, 'take')));

  it('says who is in the way, and since when', () => {
    expect(decideBuild({ ...FREE, ...BUSY })).toMatchObject({
      what: 'deny',
      say: expect.stringContaining('lake build (4711) has been at work on this project for 40 s'),
    });
  });

  it('lets the fourth call in a row through with a warning, and counts again', () => {
    expect(series(times(8, BUSY))).toEqual([
      ...times(3, 'deny, says'),
      'pass, says',
      ...times(3, 'deny, says'),
      'pass, says',
    ]);
  });

  it('a call in between that went through ends the row', () => {
    expect(series([BUSY, BUSY, {}, BUSY, BUSY, BUSY, BUSY])).toEqual([
      'deny, says',
      'deny, says',
      'take',
      ...times(3, 'deny, says'),
      'pass, says',
    ]);
  });
});

describe('the throttle', () => {
  const on = { throttled: true };

  it('skips three checks after three, asks for one build, and begins again', () => {
    expect(series(times(7, {}), on)).toEqual([...times(3, 'take'), ...times(3, 'deny, says'), 'take, says']);
    const skipped = decideBuild({ ...FREE, ...on, throttle: { checks: 3, skips: 0 } });
    expect(skipped.say).toContain('lean_goal');
    expect(decideBuild({ ...FREE, ...on, throttle: { checks: 3, skips: 2 } }).say).toContain('lean_build');
  });

  it('a build of everything begins a new round, and is never skipped', () => {
    const build = { isCheck: false };
    expect(series([...times(6, {}), build, {}, {}, {}, {}], on)).toEqual([
      ...times(3, 'take'),
      ...times(3, 'deny, says'),
      ...times(4, 'take'),
      'deny, says',
    ]);
  });

  it('never denies more than three in a row', () => {
    const said = series(times(60, {}), on).join(' ');
    expect(said).not.toContain(times(4, 'deny, says').join(' '));
  });

  it('off, it skips nothing', () => expect(series(times(20, {}))).toEqual(times(20, 'take')));
});
