import { createContext, useContext, useRef, useSyncExternalStore } from 'react';
import type { Screen, ScreenStore } from '../screen.ts';
import { THEMES, type Theme } from './theme.ts';

export const StoreContext = createContext<ScreenStore | null>(null);
export const ThemeContext = createContext<Theme>(THEMES.default);
/** What a text that is cut ends in. */
export const EllipsisContext = createContext('…');

const whole = (screen: Screen): Screen => screen;

/** The screen, or the part of it that `select` takes: the component renders again only when that is another value. */
export const useScreen: {
  (): Screen;
  <Part>(select: (screen: Screen) => Part): Part;
} = (select: (screen: Screen) => unknown = whole) => {
  const store = useContext(StoreContext);
  if (store === null) throw new Error('a component of the screen needs a store around it');
  const known = useRef<{ readonly screen: Screen; readonly part: unknown } | null>(null);
  return useSyncExternalStore(store.subscribe, () => {
    const screen = store.getScreen();
    if (known.current?.screen !== screen) known.current = { screen, part: select(screen) };
    return known.current.part;
  }) as never;
};
