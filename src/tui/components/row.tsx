import { Box, Text } from 'ink';
import { memo, type ReactNode, useContext } from 'react';
import { type Line, paint } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { ThemeContext, useLines } from './use-screen.ts';

/** Ink gives an empty text no height. */
const BLANK = ' ';

/**
 * One row of the screen, memoised by its content. Its runs are coloured by `paint` and not by nested `<Text>`: that
 * is the same to look at and half the time of a frame.
 */
const Row = memo(function Row({ line }: { readonly line: Line }): ReactNode {
  const theme = useContext(ThemeContext);
  return <Text wrap="truncate">{paint(line, theme) || BLANK}</Text>;
});

/** A region of the screen: the lines that `of` reads from it, one below the other. */
export const Rows = ({ of }: { readonly of: (screen: Screen) => readonly Line[] }): ReactNode => (
  <Box flexDirection="column" flexShrink={0}>
    {useLines(of).map((line, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is known by its place
      <Row key={place} line={line} />
    ))}
  </Box>
);
