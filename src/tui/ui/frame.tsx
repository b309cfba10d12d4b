import { Box, Text, useIsScreenReaderEnabled } from 'ink';
import { type ReactNode, useContext } from 'react';
import type { Screen } from '../screen.ts';
import { Line } from './line.tsx';
import { paint, type Runs, run, runsToWidth, runsWidth } from './runs.ts';
import type { ThemeTone } from './theme.ts';
import { ThemeContext, useScreen } from './use-screen.ts';

interface FrameProps {
  readonly width: number;
  /** Rows inside. */
  readonly rows: number;
  /** It has the keys. */
  readonly active: boolean;
  /** In its upper edge; the right one gives way. */
  readonly title: Runs;
  readonly right?: Runs;
  /** In its lower edge. */
  readonly below?: Runs;
  readonly belowRight?: Runs;
  readonly children?: ReactNode;
}

/** What is shown is not the machine as it is now, or nothing can be done to it: the frames say so. */
const frameTone = ({ state, view }: Screen, active: boolean): ThemeTone => {
  if (state.moment) return 'bad';
  if (view.frozen !== null || state.readOnly) return 'warn';
  return active ? 'frame' : 'rule';
};

/** `╭─ left ──── right ─╮` */
const edge = (corners: readonly [string, string], rule: string, tone: ThemeTone, width: number) => {
  return (left: Runs, right: Runs): Runs => {
    const start = run(`${corners[0]}${rule}`, tone);
    const end = run(`${rule}${corners[1]}`, tone);
    const room = width - 4;
    const fits = runsWidth(left) + runsWidth(right) + 1 <= room;
    const shown = runsWidth(left) > room ? runsToWidth(left, room) : left;
    const gap = room - runsWidth(shown) - (fits ? runsWidth(right) : 0);
    return [start, ...shown, run(rule.repeat(Math.max(0, gap)), tone), ...(fits ? right : []), end];
  };
};

/** A side of the frame. One text for all rows: a node for each would cost more than what is inside. */
const Side = ({ rows, tone }: { readonly rows: number; readonly tone: ThemeTone }): ReactNode => {
  const theme = useContext(ThemeContext);
  const bar = useScreen(({ glyphs }) => glyphs.bar);
  const side = paint([run(bar, tone)], theme);
  return <Text>{Array.from({ length: rows }, () => side).join('\n')}</Text>;
};

/** A region of the screen with a line around it; the one with the keys is coloured. */
export const Frame = (props: FrameProps): ReactNode => {
  const { width, rows, active, title, right = [], below = [], belowRight = [], children } = props;
  const { glyphs } = useScreen();
  const tone = useScreen(screen => frameTone(screen, active));
  if (useIsScreenReaderEnabled()) return children;
  return (
    <Box flexDirection="column" flexShrink={0} width={width}>
      <Line runs={edge(glyphs.upperCorners, glyphs.rule, tone, width)(title, right)} />
      <Box flexShrink={0} height={rows}>
        <Side rows={rows} tone={tone} />
        <Box flexDirection="column" flexShrink={0} width={width - 2}>
          {children}
        </Box>
        <Side rows={rows} tone={tone} />
      </Box>
      <Line runs={edge(glyphs.lowerCorners, glyphs.rule, tone, width)(below, belowRight)} />
    </Box>
  );
};
