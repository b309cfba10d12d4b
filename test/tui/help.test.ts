import { describe, expect, test } from 'vitest';
import { VERDICT_WORDS } from '../../src/model/snapshot.ts';
import { cells } from '../../src/model/text.ts';
import { helpContent } from '../../src/tui/help/help.tsx';

const linesAt = (width: number): readonly string[] =>
  helpContent(width, false).map(runs =>
    runs
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  );

describe('the help', () => {
  test.each([
    [80, 20],
    [60, 36],
    [120, 36],
    [200, 46],
  ])('at %i columns has the keys that act and the legend on its first page', (width, rows) => {
    const page = linesAt(width).slice(0, rows).join('\n');
    expect(page).toMatch(/^ Act, always after the plan/);
    expect(page).toContain('clean what is proven leaked');
    for (const word of [VERDICT_WORDS.leak, VERDICT_WORDS.suspect, 'gone']) expect(page).toContain(word);
  });

  test('stands in two columns where there is room, and never wider than the screen', () => {
    expect(linesAt(120).length).toBeLessThan(0.7 * linesAt(80).length);
    for (const width of [40, 60, 80, 96, 120, 200])
      for (const line of linesAt(width)) expect(cells(line)).toBeLessThanOrEqual(Math.max(width, 29));
  });
});
