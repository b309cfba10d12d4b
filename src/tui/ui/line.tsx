import { Box, Text, useIsScreenReaderEnabled } from 'ink';
import { memo, type ReactNode, useContext } from 'react';
import { clickLine, type SelectEntry, useMouse } from '../keys/use-mouse.ts';
import { paint, type Runs, runsToWidth, sameRuns, wordsOf } from './runs.ts';
import { EllipsisContext, ThemeContext } from './use-screen.ts';

/** Ink gives an empty text no height. */
const BLANK = ' ';

interface LineProps {
  readonly runs: Runs;
  /** Cut or filled to this many cells; default: as wide as it is. */
  readonly width?: number;
  /** The entry of a list that the keys are on: a screen reader says so. */
  readonly selected?: boolean;
  /** What a click on a run that belongs to an entry of a list does. */
  readonly onEntry?: SelectEntry;
}

/** Runs are coloured by `paint`, not by nested `<Text>`: that looks the same and takes half the time of a frame. */
const Painted = ({ runs, width }: LineProps): ReactNode => {
  const theme = useContext(ThemeContext);
  const mark = useContext(EllipsisContext);
  const fitted = width === undefined ? runs : runsToWidth(runs, width, mark);
  const painted = paint(fitted, theme) || BLANK;
  // Where the locale is not UTF-8, the quotes around a session's name are plain ones.
  return <Text wrap="truncate">{mark === '…' ? painted : painted.replaceAll(/[“”]/g, '"')}</Text>;
};

const Clickable = (props: LineProps): ReactNode => {
  const { runs, onEntry } = props;
  const ref = useMouse({
    press: (store, press, type) => clickLine(runs, store, press, type, onEntry),
  });
  return (
    <Box ref={ref}>
      <Painted {...props} />
    </Box>
  );
};

/** One row of the screen. It renders again only when it looks different. */
export const Line = memo(
  function Line(props: LineProps): ReactNode {
    const { runs, selected = false } = props;
    if (useIsScreenReaderEnabled()) {
      const words = wordsOf(runs);
      return words === '' ? null : (
        <Box aria-state={{ selected }}>
          <Text>{words}</Text>
        </Box>
      );
    }
    return runs.some(({ click }) => click !== undefined) ? <Clickable {...props} /> : <Painted {...props} />;
  },
  (a, b) =>
    a.width === b.width && a.selected === b.selected && a.onEntry === b.onEntry && sameRuns(a.runs, b.runs),
);

/** Rows below one another that have no identity but their place: wrapped text, plots. */
export const Lines = ({
  of,
  ...rest
}: { readonly of: readonly Runs[] } & Omit<LineProps, 'runs'>): ReactNode =>
  of.map((runs, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: these rows are known by their place
    <Line key={place} runs={runs} {...rest} />
  ));
