import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { MouseHandlers, OtherKeys } from '../keys/input.ts';
import { useMouse } from '../keys/use-mouse.ts';
import type { Screen } from '../screen.ts';
import type { Store } from '../store.ts';
import type { Runs } from './runs.ts';
import { scrollText, TitleRule } from './title-rule.tsx';
import { useScreen } from './use-screen.ts';

interface SheetProps {
  readonly title: string;
  /** At the right end of the title: `9 of 12 ▼`. */
  readonly more?: string;
  /** What the wheel moves: the content by rows, or a cursor by entries. */
  readonly wheel?: 'rows' | 'entries';
  readonly children?: ReactNode;
}

/** What stands in the body's place: a title, and rows below it. */
export const Sheet = ({ title, more = '', wheel = 'rows', children }: SheetProps): ReactNode => {
  const width = useScreen(({ layout }) => layout.columns);
  const ref = useMouse(wheel === 'rows' ? BY_ROWS : BY_ENTRIES);
  return (
    <Box ref={ref} flexDirection="column" flexGrow={1} flexShrink={0}>
      <TitleRule title={title} width={width} more={more} />
      {children}
    </Box>
  );
};

/** The wheel types the sheet's own keys: each knows how far it goes. */
const typing = (keys: number): MouseHandlers => ({
  wheel: (_, by, type) => {
    for (let i = 0; i < keys; i += 1) type(by < 0 ? 'up' : 'down');
  },
});
const BY_ROWS = typing(3);
const BY_ENTRIES = typing(1);

/** What of a sheet's content is in view, and the words that say so. */
export const scrolled = (
  content: readonly Runs[],
  room: number,
  { view, glyphs }: Pick<Screen, 'view' | 'glyphs'>,
): { readonly shown: readonly Runs[]; readonly more: string } => {
  const from = Math.min(view.overlayScroll, Math.max(0, content.length - room));
  return {
    shown: content.slice(from, from + room),
    more: scrollText({ from, room, length: content.length }, glyphs),
  };
};

/** Scrolls a sheet with so many rows of content in so much room. */
export const scrollSheet = (store: Store, length: number, room: number, by: number): void => {
  const limit = Math.max(0, length - room);
  store.dispatch({ type: 'overlay-scroll', to: Math.min(limit, store.view.overlayScroll + by) });
};

export const closeSheet = (store: Store): void => store.dispatch({ type: 'overlay', overlay: null });

/** Of most sheets: any key that means nothing else leaves. */
export const LEAVES: OtherKeys = { otherwise: closeSheet };
