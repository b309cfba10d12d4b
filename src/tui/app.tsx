import { Transform } from 'ink';
import { type ReactNode, useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Controller } from './controller.ts';

/**
 * The screen as one Ink node. Rows are composed and measured by pure functions (`screen-lines.ts`), because Ink's
 * cost follows the characters it has to measure and tokenise: 31 to 54 ms for a frame of 40×160 as boxes and
 * texts. Here Ink lays out one dot per row and the transform puts the finished row in its place.
 */
export const App = ({ controller }: { readonly controller: Controller }): ReactNode => {
  const frame = useSyncExternalStore(controller.subscribe, controller.getFrame);
  const transform = useCallback((_dot: string, row: number): string => frame[row] ?? '', [frame]);
  const dots = useMemo(() => Array.from({ length: frame.length }, () => '.').join('\n'), [frame.length]);
  return <Transform transform={transform}>{dots}</Transform>;
};
