import type { ReactNode } from 'react';
import { cells } from '../../model/text.ts';
import type { Glyphs } from './glyphs.ts';
import { Line } from './line.tsx';
import { type Runs, run, runsWidth, toWidth } from './runs.ts';
import { useScreen } from './use-screen.ts';

interface TitleRuleProps {
  readonly title: string;
  readonly width: number;
  /** At its right end, never cut: `9 of 12 ▼`. */
  readonly more: string;
}

/** A rule with a title, above the detail pane and the sheets. */
export const TitleRule = ({ title, width, more }: TitleRuleProps): ReactNode => {
  const rule = useScreen(({ glyphs }) => glyphs.rule);
  const end: Runs = more === '' ? [] : [run(` ${more} `, 'faint'), run(rule, 'rule')];
  const room = Math.max(1, width - runsWidth(end) - 3);
  const shown = cells(title) > room ? toWidth(title, room) : title;
  const left: Runs = [run(rule, 'rule'), run(` ${shown} `, 'strong')];
  const gap = Math.max(0, width - runsWidth(left) - runsWidth(end));
  return <Line runs={[...left, run(rule.repeat(gap), 'rule'), ...end]} width={width} />;
};

/** `9 of 12 ▼`: the last line in view, and where there is more; empty when all of it is. */
export const scrollText = (
  { from, room, length }: { readonly from: number; readonly room: number; readonly length: number },
  { up, down }: Glyphs,
): string => {
  if (length <= room) return '';
  const last = Math.min(length, from + room);
  return `${last} of ${length} ${from > 0 ? up : ''}${last < length ? down : ''}`;
};
